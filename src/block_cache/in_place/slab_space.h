// Where blocks lie on the medium: hands out contiguous extents, first fit by address. All metadata
// is in DRAM; freeing an extent writes nothing to the medium.
//
// The medium is divided into grains, and the grains into slabs of 1024. One bit per grain says
// whether it is taken. A binary tree over the slabs holds three lengths for every node: its free
// run at the start, its free run at the end, and its longest free run. So a free run of any length
// is found in O(log slabs), and a run may span slabs. Cost: 1 bit a grain and 24 bytes a slab (2.4
// bytes per 4 KiB block at a grain of 256 bytes).
//
// An area where writes fail is set aside: its grains are not handed out, also when they become
// free. It begins as one block. Each write that fails right behind it adds what failed, and 16
// times as much as the one before: first fit would else try each extent of a bad gigabyte, which
// five failures of 16 KiB cover so. When its first write fails again, all that lies behind the last
// failure is in use again.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "block_cache/io/set_aside.h"
#include "block_cache/io/space.h"

namespace nvcache {

// Thread-safe.
class SlabSpace final : public Space, public PlacesToTry {
 public:
  // The largest space: free runs are at most 2^32 grains long.
  static constexpr uint64_t max_bytes(uint32_t grain_bytes) {
    return (uint64_t{1} << 32) * grain_bytes;
  }

  // Space for up to max_size_bytes, at most max_bytes(grain_bytes), of which size_bytes are usable
  // at first.
  SlabSpace(uint64_t size_bytes, uint64_t max_size_bytes, uint32_t grain_bytes);

  // Takes a free extent of `size_bytes`. Returns its offset in grains, or nothing if no free run is
  // long enough.
  std::optional<uint64_t> allocate(uint32_t size_bytes);

  // Whether allocate() would find room at this moment. Lock-free.
  bool has_room(uint32_t size_bytes) const override {
    return longest_free_grains_.load(std::memory_order_relaxed) >= to_grains(size_bytes);
  }

  bool can_hold(uint32_t size_bytes) const override { return is_within_limit(0, size_bytes); }
  // Whether that extent lies within the limit. Lock-free.
  bool is_within_limit(uint64_t offset_grains, uint32_t size_bytes) const {
    return offset_grains + to_grains(size_bytes) <= limit();
  }

  // Frees an extent that allocate() returned. Bytes beyond the limit stay unusable.
  void release(uint64_t offset_grains, uint32_t size_bytes) override;

  // Sets aside an extent that allocate() returned and that could not be written, in bytes; the
  // caller releases it afterwards. At most seven eighths of the space.
  void set_aside(Extent failed, uint64_t now_ns);
  // Whether a write there is likely to fail: it was handed out before the area around it was set
  // aside. Lock-free where nothing is set aside.
  bool is_set_aside(Extent extent) const;
  std::optional<SetAsidePlace> take_to_try(uint64_t now_ns) override;
  std::optional<SetAsidePlace> take_to_probe(Which) override { return std::nullopt; }
  bool puts_are_probes() const override { return true; }
  void tried(const SetAsidePlace& place, bool well, uint64_t now_ns) override;
  void try_all() override;
  uint64_t next_try_ns() const override { return aside_.next_try_ns(); }
  uint64_t set_aside_bytes() const override;

  // Makes [0, size_bytes) usable. Extents beyond that stay taken until they are released.
  void set_limit(uint64_t size_bytes);

  // One past the last taken byte, rounded up to a slab.
  uint64_t taken_end_bytes() const;

  uint64_t used_bytes() const override;
  uint64_t limit_bytes() const override;
  uint64_t metadata_bytes() const override;

 private:
  static constexpr uint32_t kSlabGrains = 1024;
  static constexpr uint32_t kSlabWords = kSlabGrains / 64;

  struct Node {  // lengths of free runs, in grains
    uint32_t prefix = 0;
    uint32_t suffix = 0;
    uint32_t longest = 0;
  };

  uint64_t limit() const { return limit_grains_.load(std::memory_order_relaxed); }
  void mark(uint64_t first, uint64_t count, bool taken) NVCACHE_REQUIRES(mutex_);
  void refresh_slabs(uint64_t first_slab, uint64_t last_slab) NVCACHE_REQUIRES(mutex_);
  Node measure_slab(uint64_t slab) const NVCACHE_REQUIRES(mutex_);
  static Node join(const Node& left, const Node& right, uint32_t half_grains);
  uint64_t find_run(uint32_t grains) const NVCACHE_REQUIRES(mutex_);
  uint64_t find_in_slab(uint64_t slab, uint32_t grains) const NVCACHE_REQUIRES(mutex_);
  uint64_t free_word(uint64_t word) const NVCACHE_REQUIRES(mutex_);
  uint64_t aside_word(uint64_t word) const NVCACHE_REQUIRES(mutex_);
  SetAsidePlace* grow_area(uint64_t first, uint64_t grains, uint64_t most_grains)
      NVCACHE_REQUIRES(mutex_);
  uint64_t aside_grains() const NVCACHE_REQUIRES(mutex_);
  void refresh_area(const SetAsidePlace& area) NVCACHE_REQUIRES(mutex_);

  const uint64_t slabs_;   // that exist
  const uint64_t leaves_;  // slabs_ rounded up to a power of two
  std::atomic<uint32_t> longest_free_grains_{0};
  std::atomic<uint64_t> limit_grains_{0};  // changed under mutex_
  mutable Mutex mutex_;
  uint64_t used_grains_ NVCACHE_GUARDED_BY(mutex_) = 0;
  std::vector<uint64_t> taken_ NVCACHE_GUARDED_BY(mutex_);  // one bit per grain
  std::vector<Node> tree_ NVCACHE_GUARDED_BY(mutex_);       // node i has children 2i and 2i+1
  SetAside aside_;                                          // areas; changes under mutex_
};

}  // namespace nvcache
