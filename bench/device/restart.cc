#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/errno_status.h"
#include "base/print.h"
#include "block_cache/region/inspect.h"
#include "device/measure.h"
#include "fmt/format.h"
#include "medium/medium.h"

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
Status fill(const Disk& disk, bool close) {
  auto cache = open_cache(disk, "cache", bytes_for(disk.restart_blocks), settings(true));
  if (!cache.ok()) return cache.status();
  const auto waits = put_all(**cache, disk.restart_blocks, kSmallBytes);
  if (!waits.ok()) return waits.status();
  (*cache)->drain();
  if (!close) ::kill(::getpid(), SIGKILL);
  return ok_status();
}

// In a process of its own: one that is killed takes its memory and its page cache's dirt along.
Status fill_in_child(const Disk& disk, bool close) {
  const pid_t child = ::fork();
  if (child < 0) return errno_status(errno, "fork");
  if (child == 0) {
    const Status filled = fill(disk, close);
    if (!filled.ok()) print_to(stderr, "{}\n", std::string(filled.message()));
    ::_exit(filled.ok() ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool ended = close ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                           : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return ended ? ok_status() : internal_error("the process that fills the cache failed");
}

double ms_since(uint64_t start_ns) {
  return static_cast<double>(system_clock().now_ns() - start_ns) / 1e6;
}

struct OpenFile {
  int fd;
  ~OpenFile() { ::close(fd); }
};

// Where the index of each region lies, in the order of the medium.
StatusOr<std::vector<Extent>> find_indexes(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, "opening " + path);
  const OpenFile closed_at_the_end{fd};
  const auto read = [&](uint64_t offset, MutableBytes into) -> Status {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (got == static_cast<ssize_t>(into.size())) return ok_status();
    return unavailable_error("cannot read " + path);
  };
  const off_t file_bytes = ::lseek(fd, 0, SEEK_END);
  const auto inspected = inspect_regions(read, static_cast<uint64_t>(file_bytes));
  if (!inspected.ok()) return inspected.status();
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const Geometry& geometry = inspected->superblock.geometry;
  std::vector<Extent> indexes;
  for (const InspectedRegion& region : inspected->regions) {
    const uint64_t count = region.live.blocks + region.outdated.blocks;
    const uint64_t bytes = geometry.round_up(RegionFooter::tail_bytes(count));
    indexes.push_back({geometry.end_of(region.region) - bytes, bytes});
  }
  return indexes;
}

// Seconds of reading the indexes and nothing else, by as many threads as a restart reads with.
StatusOr<double> read_alone(const std::string& path, const std::vector<Extent>& indexes) {
  constexpr size_t kReaders = 2;
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, "opening " + path);
  const OpenFile closed_at_the_end{fd};
  uint64_t most_bytes = kBlockBytes;  // indexes are whole units of I/O
  for (const Extent& index : indexes) most_bytes = std::max(most_bytes, index.size_bytes);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto read_some = [&] {
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(kBlockBytes, most_bytes), &std::free);
    for (size_t i = next++; i < indexes.size() && !failed; i = next++) {
      const Extent& index = indexes[i];
      const ssize_t got =
          ::pread(fd, memory.get(), index.size_bytes, static_cast<off_t>(index.offset));
      if (got != static_cast<ssize_t>(index.size_bytes)) failed = true;
    }
  };
  const uint64_t start_ns = system_clock().now_ns();
  {
    std::array<std::jthread, kReaders> readers;
    for (std::jthread& reader : readers) reader = std::jthread(read_some);
  }
  if (failed) return unavailable_error("cannot read " + path);
  return ms_since(start_ns) / 1e3;
}

Status measure(const Disk& disk, bool close, Figures* figures) {
  if (Status filled = fill_in_child(disk, close); !filled.ok()) return filled;
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
  const double rate_mb_s = blocks * kIndexBytes / all_ms / 1e3;
  add("index read", "MB/s", rate_mb_s);
  add("came back", "%", 100.0 * blocks / static_cast<double>(disk.restart_blocks));
  cache->reset();
  const auto indexes = find_indexes(disk.file("cache"));
  if (!indexes.ok()) return indexes.status();
  const auto alone = read_alone(disk.file("cache"), *indexes);
  if (!alone.ok()) return alone.status();
  double index_bytes = 0;
  for (const Extent& index : *indexes) index_bytes += static_cast<double>(index.size_bytes);
  add("the same reads alone", "MB/s", index_bytes / *alone / 1e6);
  add("restart beside these reads", "x", rate_mb_s / (index_bytes / *alone / 1e6));
  return ok_status();
}

}  // namespace

Status measure_restart(const Disk& disk, Figures* figures) {
  if (Status measured = measure(disk, true, figures); !measured.ok()) return measured;
  return measure(disk, false, figures);
}

}  // namespace nvcache::bench
