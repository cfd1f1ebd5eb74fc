// How the shards of the first tier share its capacity, so that an object may be larger than an even
// part of it: a filter of 1.5 MB in a cache of 32 MiB with 64 shards.
//
// An object is large if an even part would hold fewer than eight of it. The bytes of all large
// objects come off the capacity first. Each shard has an even part of the rest, and besides what
// its own large objects take. So the shards' parts add up to the capacity, whatever is where. The
// limits of the pools are shared in the same way.
//
// A large object takes its room before it enters: all even parts shrink, and shard after shard
// evicts what is beyond its own. When it leaves, all even parts grow. Lookups, releases and small
// objects write nothing here. Where large objects leave so little that any block is large, each
// insertion asks all shards, so that no part is too small to hold what is in use.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"

namespace nvcache {

class RemovedEntries;

// The shards, all of them together.
class AllShards {
 public:
  virtual ~AllShards() = default;
  // Evicts from shard after shard until each has no more than its part. False if one of them
  // cannot. With no shard's lock held.
  virtual bool evict_beyond_parts(RemovedEntries* removed) = 0;
};

// Thread-safe; takes no lock. Relaxed: a shard reads its part under its own lock, and the one that
// took room has asked each shard under that lock, too.
class SharedRoom {
 public:
  enum Pool : uint8_t { kHigh, kLow, kBottom };
  static constexpr size_t kPools = 3;
  struct Options {
    size_t capacity_bytes = 0;
    bool strict = false;
    double high_share = 0.5;
    double low_share = 0;
    int shard_bits = 0;
  };

  SharedRoom(const Options& options, AllShards* shards)
      : shards_(shards),
        shard_bits_(options.shard_bits),
        shares_{options.high_share, options.low_share, 0},
        strict_(options.strict) {
    set_capacity(options.capacity_bytes);
  }

  size_t capacity_bytes() const { return capacity_bytes_.load(std::memory_order_relaxed); }
  void set_capacity(size_t bytes) {
    capacity_bytes_.store(bytes, std::memory_order_relaxed);
    for (size_t pool = 0; pool < kPools; ++pool) {
      const auto limit = static_cast<int64_t>(shares_[pool] * static_cast<double>(bytes));
      pool_bytes_[pool].store(limit, std::memory_order_relaxed);
    }
  }
  bool strict() const { return strict_.load(std::memory_order_relaxed); }
  void set_strict(bool strict) { strict_.store(strict, std::memory_order_relaxed); }

  // May be negative: then even those with nothing but large objects have too much.
  int64_t even_part_bytes() const {
    return even_part(static_cast<int64_t>(capacity_bytes()), large_bytes_);
  }
  bool has_pool(size_t pool) const { return pool_bytes(pool) > 0; }
  int64_t pool_part_bytes(size_t pool) const {
    return even_part(pool_bytes(pool), large_in_pool_[pool]);
  }

  // One shard has all the room there is, and nothing makes room for an object beyond the capacity.
  bool is_large(size_t bytes) const {
    constexpr int64_t kObjectsInPart = 8;
    return shard_bits_ > 0 && bytes <= capacity_bytes() &&
           static_cast<int64_t>(bytes) > even_part_bytes() / kObjectsInPart;
  }
  void give_back(size_t bytes) {
    const size_t before = large_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    NVCACHE_ASSERT(before >= bytes);
  }
  void enter_pool(size_t pool, size_t large_bytes) {
    large_in_pool_[pool].fetch_add(large_bytes, std::memory_order_relaxed);
  }
  void leave_pool(size_t pool, size_t large_bytes) {
    const size_t before = large_in_pool_[pool].fetch_sub(large_bytes, std::memory_order_relaxed);
    NVCACHE_ASSERT(before >= large_bytes);
  }

  // The room of one large object, until it has entered a shard.
  class Taken {
   public:
    // Takes none if the object is not large.
    Taken(SharedRoom& room, size_t bytes, RemovedEntries* removed)
        : room_(room), bytes_(room.is_large(bytes) ? bytes : 0) {
      if (bytes_ == 0) return;
      room_.large_bytes_.fetch_add(bytes_, std::memory_order_relaxed);
      all_fit_ = room_.shards_->evict_beyond_parts(removed);
    }
    ~Taken() {
      if (bytes_ > 0) room_.give_back(bytes_);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

    bool is_large() const { return bytes_ > 0; }
    bool all_fit() const { return all_fit_; }
    // The caller gives the room back.
    size_t keep() {
      const size_t bytes = bytes_;
      bytes_ = 0;
      return bytes;
    }

   private:
    SharedRoom& room_;
    size_t bytes_;
    bool all_fit_ = true;
  };

 private:
  int64_t pool_bytes(size_t pool) const {
    return pool_bytes_[pool].load(std::memory_order_relaxed);
  }
  // Rounded down, also below 0.
  int64_t even_part(int64_t whole_bytes, const std::atomic<size_t>& large_bytes) const {
    return (whole_bytes - static_cast<int64_t>(large_bytes.load(std::memory_order_relaxed))) >>
           shard_bits_;
  }

  AllShards* const shards_;
  const int shard_bits_;
  const std::array<double, kPools> shares_;
  std::atomic<size_t> capacity_bytes_{0};
  std::array<std::atomic<int64_t>, kPools> pool_bytes_{};  // of all shards together
  std::atomic<bool> strict_;
  std::atomic<size_t> large_bytes_{0};
  std::array<std::atomic<size_t>, kPools> large_in_pool_{};
};

}  // namespace nvcache
