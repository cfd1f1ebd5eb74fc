// Traces of lines.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "apps/trace/decoder.h"

namespace nvcache {

inline constexpr uint64_t kMostBlocksAnAccess = 1 << 16;

// Appends the accesses of a line without its end; number 1 is the first. False: it is no access.
using ParseLine =
    std::function<bool(std::string_view line, uint64_t number, std::vector<Access>* accesses)>;

// Skips empty lines, and counts those that are no access. With more of these than of others, and
// more than kMostOddLines, or with a bad first line of a format that has a heading (`has_heading`),
// it is no trace of this format. A byte order mark is no part of the first line. A last line
// without an end counts if it is an access.
inline constexpr uint64_t kMostOddLines = 100;
std::unique_ptr<Decoder> make_line_decoder(ParseLine parse, bool has_heading = false);

std::unique_ptr<Decoder> make_arc_decoder();
std::unique_ptr<Decoder> make_text_decoder();

// Takes the number at the front of `text`, and one `end` behind it. False if there is none, or if
// something else follows.
bool take_number(std::string_view* text, char end, uint64_t* number);

// The number that a text is, or a number made of its bytes.
uint64_t key_of_text(std::string_view text);

}  // namespace nvcache
