// The renderers behind render.h, a file each. Pure.
#pragma once

#include <string>

#include "apps/manual/page.h"

namespace nvcache::manual {

// For man(1): roff with the macros of man(7), without extensions of groff.
std::string man_page(const Page& page);

// Completions. Each defines a function named after the program, so that it can be evaluated in a
// running shell or lie where the shell looks for it.
std::string bash_completion(const Page& page);
std::string zsh_completion(const Page& page);
std::string fish_completion(const Page& page);

}  // namespace nvcache::manual
