// What the command's exit codes mean (docs/results/benchmarks.md lists them too).
#pragma once

#include "absl/status/status.h"

namespace nvcache {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;         // the run failed: message on stderr
inline constexpr int kExitUsage = 2;          // the command line is wrong
inline constexpr int kExitInterrupted = 130;  // Ctrl-C: nothing was written

inline int exit_code_of(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  if (absl::IsInvalidArgument(status)) return kExitUsage;
  return kExitFailed;
}

}  // namespace nvcache
