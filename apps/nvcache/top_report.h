// The figures of `nvcache top` as lines for a terminal, and as JSON. Text that came from outside
// (paths, names of media) has no control characters here: a file cannot steer the terminal.
// Stateless.
#pragma once

#include <string>
#include <vector>

#include "apps/nvcache/top_figures.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

// A paragraph about one source, without ends of lines.
std::vector<std::string> top_lines(const TopFigures& figures);

// One about a source of which nothing could be read.
std::vector<std::string> unread_lines(const std::string& error);

nlohmann::json top_json(const TopFigures& figures);

// The first `columns` characters of UTF-8 text, with '?' for what is no printable character.
std::string fitted(std::string_view line, size_t columns);

}  // namespace nvcache
