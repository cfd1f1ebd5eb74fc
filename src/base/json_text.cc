#include "base/json_text.h"

#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

// A value of its own, whose destructor needs no memory.
std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void JsonText::next_line() {
  if (indent_ < 0) return;
  text_ += '\n';
  text_.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth_), ' ');
}

void JsonText::add(std::string_view text) {
  if (!std::exchange(named_, false) && depth_ > 0) {
    if (!first_) text_ += ',';
    next_line();
  }
  first_ = false;
  text_ += text;
}

void JsonText::begin(char bracket) {
  add({&bracket, 1});
  ++depth_;
  first_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!first_) next_line();
  first_ = false;
  text_ += bracket;
}

void JsonText::name(std::string_view name) {
  value(name);
  text_ += indent_ < 0 ? ":" : ": ";
  named_ = true;
}

void JsonText::value(double value) { add(text_of(value)); }

void JsonText::value(std::string_view text) { add(text_of(std::string(text))); }

}  // namespace nvcache
