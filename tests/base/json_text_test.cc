// JSON as nlohmann's library writes it, by values one after the other.
#include "base/json_text.h"

#include <limits>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

std::string sample(int indent) {
  JsonText json(indent);
  json.begin_object();
  json.member("a", uint64_t{18446744073709551615u});
  json.member("b", uint32_t{7});
  json.member("true", true);
  json.member("text", "\"\\\n\x01 \xc3\xa9 \xff");
  json.name("numbers");
  json.begin_array();
  for (const double each : {0.0, 1.0, 0.1, 1e-7, 1e300, -2.5}) json.value(each);
  json.value(std::numeric_limits<double>::infinity());
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.end_array();
  json.member("last", "");
  json.end_object();
  return json.take();
}

std::string as_library(int indent) {
  nlohmann::ordered_json json;
  json["a"] = uint64_t{18446744073709551615u};
  json["b"] = 7;
  json["true"] = true;
  json["text"] = "\"\\\n\x01 \xc3\xa9 \xff";
  json["numbers"] = {0.0,
                     1.0,
                     0.1,
                     1e-7,
                     1e300,
                     -2.5,
                     std::numeric_limits<double>::infinity(),
                     nlohmann::ordered_json::object(),
                     nlohmann::ordered_json::array()};
  json["last"] = "";
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

TEST(JsonText, IsWhatTheLibraryWrites) {
  EXPECT_EQ(sample(-1), as_library(-1));
  EXPECT_EQ(sample(2), as_library(2));
}

}  // namespace
}  // namespace nvcache
