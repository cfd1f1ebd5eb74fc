#include "apps/manual/text.h"

#include <algorithm>

#include "base/text.h"

namespace nvcache::manual {
namespace {

constexpr std::string_view kExitCodes = "Exit codes:";

bool is_plain_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return ('a' <= c && c <= 'z') || c == '\''; });
}

std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? ' ' : c;
  return line;
}

bool is_indented(std::string_view line) { return line.starts_with(' '); }

// Verbatim lines lose what all of them are indented by.
void strip_indentation(Block& block) {
  size_t common = std::string::npos;
  for (std::string_view rest = block.text; !rest.empty();) {
    const auto [line, behind] = split_once(rest, '\n');
    if (!line.empty()) common = std::min(common, line.find_first_not_of(' '));
    rest = behind;
  }
  std::string text;
  for (std::string_view rest = block.text; !rest.empty();) {
    const auto [line, behind] = split_once(rest, '\n');
    text += std::string(line.substr(std::min(common, line.size()))) + "\n";
    rest = behind;
  }
  block.text = std::string(strip(text));
}

}  // namespace

std::string sentence(std::string_view help) {
  std::string text = in_one_line(strip(help));
  if (text.empty()) return text;
  if (is_plain_word(text.substr(0, text.find_first_of(" ,;:")))) {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  if (std::string_view(".!?:").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

std::string brief(std::string_view help) {
  std::string text = in_one_line(strip(help));
  for (const std::string_view end : {"; ", ". ", ": ", " ("}) {
    text.resize(std::min(text.size(), text.find(end)));
  }
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<Block> blocks_of(std::string_view text) {
  std::vector<Block> blocks;
  bool after_empty = true;
  while (!text.empty()) {
    const auto [line, rest] = split_once(text, '\n');
    text = rest;
    if (strip(line).empty()) {
      after_empty = true;
      continue;
    }
    const bool verbatim = is_indented(line);
    const bool goes_on = !blocks.empty() && blocks.back().is_verbatim == verbatim &&
                         (verbatim || !after_empty) && !line.starts_with(kExitCodes);
    if (!goes_on) {
      blocks.push_back({verbatim, std::string(line)});
    } else if (verbatim) {
      blocks.back().text += (after_empty ? "\n\n" : "\n") + std::string(line);
    } else {
      blocks.back().text += " " + std::string(line);
    }
    after_empty = false;
  }
  for (Block& block : blocks) {
    if (block.is_verbatim) strip_indentation(block);
  }
  return blocks;
}

std::string fixed_part(const std::string& value) {
  const size_t colon = value.find(':');
  const bool stands_for_others = colon != std::string::npos && colon + 1 < value.size() &&
                                 'A' <= value[colon + 1] && value[colon + 1] <= 'Z';
  return stands_for_others ? value.substr(0, colon + 1) : value;
}

Completes completes(const std::string& argument) {
  if (argument == "FILE" || argument == "PATH" || argument == "DEVICE") return Completes::kFiles;
  if (argument == "FOLDER") return Completes::kFolders;
  if (argument == "USER") return Completes::kUsers;
  return Completes::kNothing;
}

Completes completes_behind(const std::string& value) {
  return completes(value.substr(fixed_part(value).size()));
}

}  // namespace nvcache::manual
