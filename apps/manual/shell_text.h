// Functions that the renderers of the shells share. Pure.
#pragma once

#include <string>
#include <vector>

#include "apps/manual/page.h"

namespace nvcache::manual {

// In single quotes, as all three shells read them.
std::string quoted(const std::string& text);

// A script's template, with the program's name for each PROG.
std::string with_program(std::string_view script, const std::string& program);

// The names that a user may type for an option: "-p", "--port". Empty for an argument.
std::vector<std::string> names_of(const Option& option);

// The options that are worth completing.
std::vector<Option> completed(const std::vector<Option>& options);

// The fixed parts of an option's values ("dram", "file:"), or its items ("idle_timeout=").
std::vector<std::string> words_of(const Option& option);

}  // namespace nvcache::manual
