// The command's exit codes (docs/results/benchmarks.md lists them too).
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/print.h"
#include "nvcache/status.h"

namespace nvcache {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;         // the run failed: message on stderr
inline constexpr int kExitUsage = 2;          // the command line is wrong
inline constexpr int kExitInterrupted = 130;  // Ctrl-C: nothing was written

inline int exit_code_of(const Status& status) {
  if (status.ok()) return kExitOk;
  if (is_cancelled(status)) return kExitInterrupted;
  if (is_invalid_argument(status)) return kExitUsage;
  return kExitFailed;
}

// The exit code of a program that printed its results: kExitFailed if they could not be written.
inline int exit_code_after_printing(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  print_to(stderr, "cannot write to standard output: {}\n", std::strerror(errno));
  return code == kExitOk ? kExitFailed : code;
}

}  // namespace nvcache
