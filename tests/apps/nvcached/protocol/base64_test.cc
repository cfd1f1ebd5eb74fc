#include "apps/nvcached/protocol/base64.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace nvcache::server {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string bytes = "what was there";
  return decode_base64(text, &bytes) ? std::optional(bytes) : std::nullopt;
}

// RFC 4648, section 10.
TEST(Base64, DecodesWhatTheStandardShows) {
  EXPECT_EQ(decoded(""), "");
  EXPECT_EQ(decoded("Zg=="), "f");
  EXPECT_EQ(decoded("Zm8="), "fo");
  EXPECT_EQ(decoded("Zm9v"), "foo");
  EXPECT_EQ(decoded("Zm9vYg=="), "foob");
  EXPECT_EQ(decoded("Zm9vYmE="), "fooba");
  EXPECT_EQ(decoded("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decoded("AP+/"), std::string("\0\xff\xbf", 3));
}

TEST(Base64, RefusesAllElse) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zg===", "====", "Z===", "=Zg=", "Zg==Zg==", "Zm 9", " Zm9v   ",
        "Zm9v\n\n\n\n", "Zm9-", "Zm9_", "\nZm9vZm9", "Zm9v\r\n==", "Z=9v"}) {
    EXPECT_EQ(decoded(text), std::nullopt) << text;
  }
  EXPECT_EQ(decoded(std::string_view("Zm\0v", 4)), std::nullopt);
}

}  // namespace
}  // namespace nvcache::server
