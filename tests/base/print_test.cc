#include "base/print.h"

#include <gtest/gtest.h>

#include <string>

namespace nvcache {
namespace {

TEST(Print, WritesTheText) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  print_to(file, "{} of {}\n", 7, std::string(2000, 'x'));
  std::rewind(file);
  std::string read(3000, 0);
  read.resize(std::fread(read.data(), 1, read.size(), file));
  EXPECT_EQ(read, "7 of " + std::string(2000, 'x') + "\n");
  std::fclose(file);
}

TEST(Print, LosesWhatCannotBeWritten) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full";
  std::setvbuf(full, nullptr, _IONBF, 0);
  print_to(full, "{}\n", "no room");  // fmt::print would throw
  EXPECT_NE(std::ferror(full), 0);
  std::fclose(full);
}

}  // namespace
}  // namespace nvcache
