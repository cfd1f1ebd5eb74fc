// Writes JSON as text, one value after the other. Where there is no memory it throws std::bad_alloc
// and nothing else happens; nlohmann's objects need memory to be destroyed, and end the process
// without it. Caller-locked. A caller that leaves a name or an end out gets text that is no JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace nvcache {

class JsonText {
 public:
  // Each value on a line of its own, `indent` spaces further in than what it lies in; -1: all on
  // one line.
  explicit JsonText(int indent) : indent_(indent) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  // Writes the name of the value that follows, in an object.
  void name(std::string_view name);
  void value(bool value) { add(value ? "true" : "false"); }
  void value(uint32_t value) { add(std::to_string(value)); }
  void value(uint64_t value) { add(std::to_string(value)); }
  void value(double value);  // null if it is not finite
  // Bytes that are not UTF-8 (from the path of a medium) are replaced.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }

  template <typename T>
  void member(std::string_view of, const T& is) {
    name(of);
    value(is);
  }

  std::string take() { return std::move(text_); }

 private:
  void begin(char bracket);
  void end(char bracket);
  void add(std::string_view text);
  void next_line();

  const int indent_;
  int depth_ = 0;
  bool first_ = true;   // of what it lies in
  bool named_ = false;  // the value's place is behind a name
  std::string text_;
};

}  // namespace nvcache
