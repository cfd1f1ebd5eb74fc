// The prefixes that most keys of a thread have, by a sample of the keys. A prefix is what comes
// before the delimiter of -D. This is Space-Saving (Metwally et al., ICDT '05): of kMost prefixes
// each has a count; a new prefix takes the place of the one with the least, and goes on from its
// count. So each prefix with more than a 64th of the samples is there, and its count is too high by
// at most what `error` says. All counts are halved after kAge samples, so that they tell of the
// last million requests or so, and not of last month's.
//
// Thread-safe: a mutex, which only a reader disputes. 8 KiB of memory, none of it allocated
// later. An addition compares 64 hashes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace nvcache::server {

// A client's use of a key.
enum class KeyUse : uint8_t { kHit, kMiss, kSet, kDelete };

struct PrefixCounts {
  uint64_t samples = 0;
  uint64_t error = 0;  // most of `samples` that may be another prefix's
  // Its sampled uses since it was last added.
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t sets = 0;
  uint64_t deletes = 0;
};

// Those of several threads together.
struct PrefixTotals {
  uint64_t samples = 0;         // all of them
  uint64_t without_prefix = 0;  // keys without a delimiter, or that begin with it
  std::map<std::string, PrefixCounts> prefixes;
};

class PrefixSketch {
 public:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = 64;  // longer prefixes are cut
  static constexpr uint64_t kAge = 1 << 14;

  // The prefix may be empty: the key has none.
  void add(std::string_view prefix, KeyUse use);
  void add_to(PrefixTotals& totals) const;

 private:
  struct Entry {
    PrefixCounts counts;
    size_t bytes = 0;
    std::array<char, kMostBytes> text{};

    std::string_view prefix() const { return {text.data(), bytes}; }
  };

  Entry& find_or_replace(std::string_view prefix) NVCACHE_REQUIRES(mutex_);
  void age() NVCACHE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  size_t size_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t samples_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t without_prefix_ NVCACHE_GUARDED_BY(mutex_) = 0;
  std::array<uint64_t, kMost> hashes_ NVCACHE_GUARDED_BY(mutex_){};
  std::array<Entry, kMost> entries_ NVCACHE_GUARDED_BY(mutex_){};
};

}  // namespace nvcache::server
