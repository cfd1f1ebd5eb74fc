#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/print.h"
#include "device/measure.h"
#include "fmt/format.h"

namespace nvcache::bench {
namespace {

constexpr uint64_t kIndexBytes = 32;  // a block's record (docs/design/regions.md)
constexpr auto kBetweenLookups = std::chrono::microseconds(50);

std::string settings(bool format) {
  return fmt::format("&space=regions&restart=warm&keys=immutable&admission=always{}",
                     format ? "&format=yes" : "");
}

uint64_t bytes_for(uint64_t blocks) { return blocks * (kSmallBytes + 2 * kIndexBytes) * 9 / 8; }

// Fills a cache, and closes it or dies.
absl::Status fill(const Disk& disk, bool close) {
  auto cache = open_cache(disk, "cache", bytes_for(disk.restart_blocks), settings(true));
  if (!cache.ok()) return cache.status();
  const auto waits = put_all(**cache, disk.restart_blocks, kSmallBytes);
  if (!waits.ok()) return waits.status();
  (*cache)->drain();
  if (!close) ::kill(::getpid(), SIGKILL);
  return absl::OkStatus();
}

// In a process of its own: one that is killed takes its memory and its page cache's dirt along.
absl::Status fill_in_child(const Disk& disk, bool close) {
  const pid_t child = ::fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "fork");
  if (child == 0) {
    const absl::Status filled = fill(disk, close);
    if (!filled.ok()) print_to(stderr, "{}\n", std::string(filled.message()));
    ::_exit(filled.ok() ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool ended = close ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                           : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return ended ? absl::OkStatus() : absl::InternalError("the process that fills the cache failed");
}

double ms_since(uint64_t start_ns) {
  return static_cast<double>(system_clock().now_ns() - start_ns) / 1e6;
}

absl::Status measure(const Disk& disk, bool close, Figures* figures) {
  if (absl::Status filled = fill_in_child(disk, close); !filled.ok()) return filled;
  const uint64_t start_ns = system_clock().now_ns();
  auto cache = open_cache(disk, "cache", bytes_for(disk.restart_blocks), settings(false));
  if (!cache.ok()) return cache.status();
  (void)(*cache)->lookup(key_of(0));
  const double first_lookup_ms = ms_since(start_ns);
  // Of the newest sealed region: what a kill leaves in an open one is gone.
  uint64_t number = disk.restart_blocks - 1;
  while (!(*cache)->lookup(key_of(number)).hit() && (*cache)->stats().recovering != 0) {
    number = number == 0 ? disk.restart_blocks - 1 : number - 1;
    std::this_thread::sleep_for(kBetweenLookups);  // one processor less is another measurement
  }
  const double first_hit_ms = ms_since(start_ns);
  while ((*cache)->stats().recovering != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double all_ms = ms_since(start_ns);
  const auto blocks = static_cast<double>((*cache)->stats().blocks);
  const auto add = [&](const char* what, const char* unit, double value) {
    figures->add(
        fmt::format("{} blocks, {}: {}", disk.restart_blocks, close ? "closed" : "killed", what),
        unit, value);
  };
  add("first lookup after", "ms", first_lookup_ms);
  add("first hit after", "ms", first_hit_ms);
  add("all back after", "ms", all_ms);
  add("index read", "MB/s", blocks * kIndexBytes / all_ms / 1e3);
  add("came back", "%", 100.0 * blocks / static_cast<double>(disk.restart_blocks));
  return absl::OkStatus();
}

}  // namespace

absl::Status measure_restart(const Disk& disk, Figures* figures) {
  if (absl::Status measured = measure(disk, true, figures); !measured.ok()) return measured;
  return measure(disk, false, figures);
}

}  // namespace nvcache::bench
