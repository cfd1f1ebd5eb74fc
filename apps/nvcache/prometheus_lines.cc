#include "apps/nvcache/prometheus_lines.h"

#include <cstdlib>

#include "base/text.h"

namespace nvcache {
namespace {

bool may_be_in_name(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' ||
         c == ':';
}

// Takes the name at the front of the text.
std::string_view take_name(std::string_view* text) {
  size_t bytes = 0;
  while (bytes < text->size() && may_be_in_name((*text)[bytes])) ++bytes;
  const std::string_view name = text->substr(0, bytes);
  text->remove_prefix(bytes);
  return name;
}

bool take(char expected, std::string_view* text) {
  if (!text->starts_with(expected)) return false;
  text->remove_prefix(1);
  return true;
}

// Takes the text between the quotes at the front.
bool take_quoted(std::string_view* text, std::string* value) {
  if (!take('"', text)) return false;
  while (!text->empty()) {
    char c = text->front();
    text->remove_prefix(1);
    if (c == '"') return true;
    if (c == '\\') {
      if (text->empty()) return false;
      c = text->front() == 'n' ? '\n' : text->front();
      text->remove_prefix(1);
    }
    value->push_back(c);
  }
  return false;
}

bool take_labels(std::string_view* text, PrometheusSample* sample) {
  while (!take('}', text)) {
    const std::string name(take_name(text));
    std::string value;
    if (name.empty() || !take('=', text) || !take_quoted(text, &value)) return false;
    sample->labels[name] = std::move(value);
    if (!take(',', text) && !text->starts_with('}')) return false;
  }
  return true;
}

bool parse_line(std::string_view line, PrometheusSample* sample) {
  sample->name = take_name(&line);
  if (sample->name.empty()) return false;
  if (take('{', &line) && !take_labels(&line, sample)) return false;
  const std::string number(split_once(strip(line), ' ').first);
  char* end = nullptr;
  sample->value = std::strtod(number.c_str(), &end);
  return !number.empty() && *end == '\0';
}

}  // namespace

void for_each_sample(std::string_view text, FunctionRef<void(const PrometheusSample*)> visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = strip(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    PrometheusSample sample;
    visit(parse_line(line, &sample) ? &sample : nullptr);
  }
}

}  // namespace nvcache
