// Messages for people, on standard output or standard error. A message that cannot be written (a
// full disk, a log pipe without a reader) is lost: it neither throws nor ends the program.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "fmt/format.h"

namespace nvcache {

// Thread-safe. Costs a write to the stream, and an allocation if the text is long. A program that
// writes its results must look at std::ferror(stdout) at the end (apps/command/exit_code.h).
template <typename... Args>
void print_to(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    (void)!std::fwrite(text.data(), 1, text.size(), to);
  } catch (const std::exception&) {  // no memory for the text
  }
}

}  // namespace nvcache
