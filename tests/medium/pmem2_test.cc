// libpmem2 is loaded when it is needed; where it is not there, the message says what to install.
#include "medium/pmem2.h"

#include <string>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(Pmem2, WithoutItTheMessageNamesThePackage) {
  const Status status = Pmem2::load("libnvcache_has_no_such.so.1").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  const std::string message(status.message());
  EXPECT_NE(message.find("libnvcache_has_no_such.so.1"), std::string::npos) << message;
  EXPECT_NE(message.find("Install the package libpmem2,"), std::string::npos) << message;
}

TEST(Pmem2, AnotherLibraryIsRefused) {
  const Status status = Pmem2::load("libc.so.6").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "libc.so.6 is not libpmem2 of version 1: functions are missing");
}

TEST(Pmem2, IsLoadedOnce) {
  const StatusOr<const Pmem2*> pmem2 = Pmem2::get();
  ASSERT_TRUE(pmem2.ok()) << pmem2.status();
  EXPECT_EQ(*Pmem2::get(), *pmem2);
  pmem2_config* config = nullptr;
  ASSERT_EQ((*pmem2)->config_new(&config), 0);
  EXPECT_EQ((*pmem2)->config_set_required_store_granularity(config, Pmem2::kCacheLine), 0);
  EXPECT_EQ((*pmem2)->config_delete(&config), 0);
}

}  // namespace
}  // namespace nvcache
