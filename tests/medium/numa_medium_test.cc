// numa:NODE on node lists of machines that this one is not.
#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/numa.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

class NumaMediumTest : public testing::Test {
 protected:
  // A machine whose nodes with memory are `nodes`, as the kernel writes them.
  void set_nodes(const std::string& nodes) {
    std::ofstream(directory_.file("has_memory")) << nodes << "\n";
  }
  void set_memory(int node, uint64_t size_kib) {
    const std::string folder = directory_.file("node" + std::to_string(node));
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/meminfo") << "Node " << node << " MemTotal: " << size_kib << " kB\n"
                                       << "Node " << node << " MemFree: 4 kB\n";
  }
  StatusOr<std::unique_ptr<Medium>> open(std::string_view node, uint64_t size_bytes = 65536,
                                         uint64_t max_size_bytes = 0) {
    return NumaMedium::open(node, {.size_bytes = size_bytes, .max_size_bytes = max_size_bytes},
                            directory_.path());
  }

  TempDir directory_;
};

TEST_F(NumaMediumTest, ANodeThatIsNotThereIsNamedWithThoseThatAre) {
  set_nodes("0-1,4,6-7");
  for (const std::string node : {"2", "3", "5", "8", "1023", "1024", "4000000000"}) {
    const Status status = open(node).status();
    EXPECT_TRUE(is_invalid_argument(status)) << node << ": " << status;
    EXPECT_THAT(std::string(status.message()),
                testing::AllOf(HasSubstr("medium 'numa:" + node + "'"),
                               HasSubstr("no node " + node), HasSubstr("memory: 0-1,4,6-7")));
  }
  for (const std::string node : {"0", "1", "4", "6", "7"}) {
    EXPECT_FALSE(is_invalid_argument(open(node).status())) << node;
  }
}

TEST_F(NumaMediumTest, ANodeThatIsNoNumberIsRefused) {
  set_nodes("0");
  for (const std::string node : {"", "x", "-1", "+0", " 0", "0 ", "0,1", "0x0", "99999999999"}) {
    const Status status = open(node).status();
    EXPECT_TRUE(is_invalid_argument(status)) << node << ": " << status;
    EXPECT_THAT(
        std::string(status.message()),
        testing::AllOf(HasSubstr("'" + node + "' is not a number"), HasSubstr("memory: 0")));
  }
}

TEST_F(NumaMediumTest, AKernelWithoutNodesIsSaidToBeOne) {
  const Status status = open("0").status();
  EXPECT_TRUE(is_unimplemented(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("NUMA"));
}

TEST_F(NumaMediumTest, MoreThanTheNodeHasIsResourceExhausted) {
  set_nodes("0");
  set_memory(0, 128);
  const Status status = open("0", 129 << 10).status();
  EXPECT_TRUE(is_resource_exhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("131072"));

  auto medium = open("0", 128 << 10, 1 << 20);
  if (!medium.ok()) GTEST_SKIP() << medium.status().message();
  EXPECT_TRUE(is_resource_exhausted((*medium)->resize(129 << 10)));
  EXPECT_EQ((*medium)->size_bytes(), uint64_t{128} << 10);
  EXPECT_EQ((*medium)->resize(64 << 10), ok_status());
}

TEST_F(NumaMediumTest, ItsMemoryIsBoundToTheNode) {
  set_nodes("0");
  const auto medium = open("0", 1 << 20, 4 << 20);
  if (!medium.ok()) GTEST_SKIP() << medium.status().message();
  ASSERT_EQ((*medium)->resize(4 << 20), ok_status());
  // ADDRESS POLICY ..., a line per mapping.
  std::ifstream maps("/proc/self/numa_maps");
  if (!maps) GTEST_SKIP() << "the kernel does not show policies";
  const auto address = reinterpret_cast<uintptr_t>((*medium)->direct().data());
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(fmt::format("{:x} ", address))) found = line;
  }
  EXPECT_THAT(found, HasSubstr(" bind:0")) << "at " << fmt::format("{:x}", address);
}

TEST_F(NumaMediumTest, RefusalsNameTheNode) {
  set_nodes("0");
  auto medium = open("00");
  if (!medium.ok()) GTEST_SKIP() << medium.status().message();
  EXPECT_EQ((*medium)->traits().name, "numa:0");
  std::byte byte{};
  for (const Status& status :
       {(*medium)->read(65536, {&byte, 1}), (*medium)->write(65536, {&byte, 1}),
        (*medium)->resize(0), open("0", 0).status()}) {
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("numa:0: "));
  }
}

}  // namespace
}  // namespace nvcache
