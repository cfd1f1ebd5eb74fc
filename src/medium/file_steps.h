// Steps that media on files have in common. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "medium/medium.h"

namespace nvcache {

// The kernel may give up what a killed process held shortly after the process has gone (a tenth of
// a second has been seen): how often to try, and how long to wait in between.
inline constexpr int kLockAttempts = 200;
inline constexpr std::chrono::milliseconds kLockPause{5};

// Keeps other openers away, in this process and others, until the file is closed. `user` is whose
// file it is: "cache" or "store". FAILED_PRECONDITION, with the processes that have it open, if it
// is locked; if no process is seen to have it open, after all attempts.
[[nodiscard]] absl::Status lock_file(int fd, std::string_view path, std::string_view user);

// The same; calls `pause` between attempts.
[[nodiscard]] absl::Status lock_file(int fd, std::string_view path, std::string_view user,
                                     const std::function<void()>& pause);

// Starts to write an extent back; it is durable after sync_file().
[[nodiscard]] absl::Status start_write_back(int fd, std::string_view path, Extent extent);
// Makes all bytes of the file durable.
[[nodiscard]] absl::Status sync_file(int fd, std::string_view path);

}  // namespace nvcache
