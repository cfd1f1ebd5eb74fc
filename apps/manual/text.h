// Help texts as the renderers need them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/manual/page.h"

namespace nvcache::manual {

// Lines joined; a capital at the start unless the first word is no plain word, and a full stop at
// the end.
std::string sentence(std::string_view help);

// The part of a help text that fits beside a completion: up to the first detail, no full stop.
std::string brief(std::string_view help);

// A part of a text: a paragraph, or lines that stay as they are.
struct Block {
  bool is_verbatim = false;
  std::string text;  // of a paragraph: one line; verbatim: lines, less what all are indented by
};

// Indented lines are verbatim, with the empty lines between them. All others are paragraphs, which
// end at an empty line, or before "Exit codes:".
std::vector<Block> blocks_of(std::string_view text);

// The part of a value before what stands for others: "file:" of "file:FILE", all of "dram".
std::string fixed_part(const std::string& value);

// The kind of completion for the value of an option, or for the rest of one with a fixed part.
enum class Completes { kNothing, kFiles, kFolders, kUsers };
Completes completes(const std::string& argument);
Completes completes_behind(const std::string& value);

}  // namespace nvcache::manual
