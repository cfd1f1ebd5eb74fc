// The files that an engine deleted lately. None of their blocks is looked up again: those that are
// cached leave in one pass over the metadata, and those that another cache still evicts, or that
// come back after a restart, are not let in.
//
// A table of 1024 places by the file's hash, 16 KiB: a newer file takes the place of an older one,
// whose blocks may then come in again, and leave by eviction. Offers, restores and, once a file was
// deleted, misses ask it, a load each; hits do not. A file is forgotten after ten minutes, or as
// soon as a lookup asks for a block of it: it lives on elsewhere under the same keys (a checkpoint,
// a file that was ingested twice).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace nvcache {

// Thread-safe. The clock must outlive it.
class GoneFiles {
 public:
  static constexpr size_t kPlaces = 1024;
  static constexpr uint64_t kRememberedNs = 600'000'000'000;

  explicit GoneFiles(const Clock& clock) : clock_(clock) {}

  void add(uint64_t file) {
    Place& place = places_[place_of(file)];
    place.since_ns.store(clock_.now_ns(), std::memory_order_relaxed);
    place.file.store(file, std::memory_order_relaxed);
    has_any_.store(true, std::memory_order_relaxed);
  }
  // An engine asked for a block of the file.
  void note_lookup(uint64_t file) {
    if (!has_any_.load(std::memory_order_relaxed)) [[likely]]
      return;
    Place& place = places_[place_of(file)];
    if (place.file.load(std::memory_order_relaxed) != file) [[likely]]
      return;
    place.file.compare_exchange_strong(file, kNone, std::memory_order_relaxed);
  }
  // Relaxed is enough: a block that comes in beside add() is as one that came before it.
  bool has(uint64_t file) const {
    const Place& place = places_[place_of(file)];
    if (place.file.load(std::memory_order_relaxed) != file || file == kNone) [[likely]]
      return false;
    return clock_.now_ns() - place.since_ns.load(std::memory_order_relaxed) < kRememberedNs;
  }

  static constexpr uint64_t kNone = 0;  // no file that can be in the table

 private:
  struct Place {
    std::atomic<uint64_t> file{kNone};
    std::atomic<uint64_t> since_ns{0};
  };

  static size_t place_of(uint64_t file) {
    return static_cast<size_t>((file * 0x9e3779b97f4a7c15ULL) >> 54);
  }
  static_assert(kPlaces == size_t{1} << (64 - 54));

  const Clock& clock_;
  std::atomic<bool> has_any_{false};  // or had
  std::array<Place, kPlaces> places_{};
};

}  // namespace nvcache
