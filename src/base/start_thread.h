// Starts a std::thread, whose constructor throws where no thread can be had: a limit on tasks is
// no reason to end without a word.
#pragma once

#include <exception>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "nvcache/status.h"

namespace nvcache {

// RESOURCE_EXHAUSTED: `*thread` is as it was.
template <typename Work>
[[nodiscard]] Status start_thread(std::thread* thread, Work&& work) try {
  *thread = std::thread(std::forward<Work>(work));
  return ok_status();
} catch (const std::exception& error) {
  return resource_exhausted_error(
      fmt::format("cannot start a thread: {} (look at the limit on tasks: ulimit -u, systemd's "
                  "TasksMax, a container's pids limit)",
                  error.what()));
}

}  // namespace nvcache
