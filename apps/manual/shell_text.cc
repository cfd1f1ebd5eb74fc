#include "apps/manual/shell_text.h"

#include <algorithm>
#include <iterator>

#include "apps/manual/text.h"

namespace nvcache::manual {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string with_program(std::string_view script, const std::string& program) {
  constexpr std::string_view kProgram = "PROG";
  std::string out(script);
  for (size_t at = 0; (at = out.find(kProgram, at)) != std::string::npos; at += program.size()) {
    out.replace(at, kProgram.size(), program);
  }
  return out;
}

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  if (option.letter != 0) names.push_back({'-', option.letter});
  if (!option.word.empty()) names.push_back("--" + option.word);
  return names;
}

std::vector<Option> completed(const std::vector<Option>& options) {
  std::vector<Option> some;
  std::copy_if(options.begin(), options.end(), std::back_inserter(some),
               [](const Option& option) { return !option.is_hidden; });
  return some;
}

std::vector<std::string> words_of(const Option& option) {
  std::vector<std::string> words;
  for (const std::string& value : option.values) words.push_back(fixed_part(value));
  for (const Item& item : option.items) {
    if (!item.help.empty()) words.push_back(item.word + (item.argument.empty() ? "" : "="));
  }
  return words;
}

}  // namespace nvcache::manual
