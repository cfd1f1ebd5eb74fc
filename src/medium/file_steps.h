// Steps that media on files have in common. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "medium/medium.h"
#include "nvcache/status.h"

namespace nvcache {

// The kernel may give up what a killed process held shortly after the process has gone (a tenth of
// a second has been seen): how often to try, and how long to wait in between. While a process that
// ends is seen to have it, longer: its memory goes first, and that takes a second for each 10 GB.
inline constexpr int kLockAttempts = 200;
inline constexpr int kLockAttemptsWhileOneEnds = 6000;
inline constexpr int kLockAttemptsPerLook = 20;  // at all processes
inline constexpr std::chrono::milliseconds kLockPause{5};

// Keeps other openers away, in this process and others, until the file is closed. `user` is whose
// file it is: "cache" or "store". FAILED_PRECONDITION, with the processes that have it open, if it
// is locked; if none is seen to have it open, or those that have it end, after all attempts.
[[nodiscard]] Status lock_file(int fd, std::string_view path, std::string_view user);

// The same; calls `pause` between attempts.
[[nodiscard]] Status lock_file(int fd, std::string_view path, std::string_view user,
                               const std::function<void()>& pause);

// Gives the lock up, also where a child still has the descriptor. Not to be called by a child.
void unlock_file(int fd);

// Starts to write an extent back; it is durable after sync_file().
[[nodiscard]] Status start_write_back(int fd, std::string_view path, Extent extent);
// Makes all bytes of the file durable.
[[nodiscard]] Status sync_file(int fd, std::string_view path);

}  // namespace nvcache
