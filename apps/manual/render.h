// From the model of a manual page to text: the page itself, or completions for a shell.
//
// Pure. The same page gives the same bytes everywhere: no time and no path gets into them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/manual/page.h"
#include "nvcache/status_or.h"

namespace nvcache::manual {

// The option that makes a program print one of its forms, without dashes, and its help.
inline constexpr char kGenerate[] = "generate";
inline constexpr char kGenerateHelp[] =
    "print the manual page (man), or completions for a shell (bash,\nzsh, fish), and exit";

// man, bash, zsh, fish.
std::span<const std::string_view> forms();

// INVALID_ARGUMENT, naming --generate, if there is no such form.
[[nodiscard]] StatusOr<std::string> render(const Page& page, std::string_view form);

}  // namespace nvcache::manual
