// Appends blocks to open regions. A region that is open lies in a buffer in DRAM, from which its
// blocks are served; when it is full, it is written in pieces of 1 MiB, its index last.
//
//   append() -> the caller copies the block and fills in its record -> finish()
//
// Each thread has one write in flight: a piece of the oldest region that is being written, or the
// first write of the next region, which puts zeros over the footer that was there. The index and
// the new footer follow when all pieces are written, by the thread that wrote the last of them.
//
// Writers meet in one word, the open region's cursor, which they move on by compare-and-swap; a
// lock is taken once a region. DRAM: Options::buffers regions, for good.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/background_thread.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/reserved_array.h"
#include "block_cache/region/format.h"
#include "block_cache/region/geometry.h"
#include "block_cache/region/region_table.h"
#include "medium/medium.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"
#include "nvcache/verdict.h"

namespace nvcache {

// Thread-safe. No lock is held while bytes are copied, the medium is written or an event is told.
class RegionWriter {
 public:
  static constexpr uint64_t kPieceBytes = 1 << 20;
  static constexpr uint64_t kMostRegionBytes = 64 << 20;  // what a cursor can count

  struct Options {
    Geometry geometry;
    uint64_t nonce = 0;
    uint32_t buffers = 4;
    uint32_t threads = 2;        // that write: as many writes are in flight
    uint32_t spare_regions = 2;  // fewer free ones than this: wants_room()
    Clock* clock = &system_clock();
  };

  struct Events {
    std::function<void()> wants_room;  // regions must be emptied; costs little, on a put's thread
    std::function<void(uint64_t bytes, const Status&)> wrote;
    // A region could not be written: the cache removes its blocks before this returns.
    std::function<void(uint32_t region, std::span<const BlockRecord>)> lost;
  };

  // Where a block goes. Its region is not written before finish().
  struct Spot {
    uint64_t place = 0;
    uint32_t buffer = 0;
    std::byte* bytes = nullptr;
    BlockRecord* record = nullptr;  // zeros, but for offset_grains
  };

  // Throws std::bad_alloc. REQUIRES: the arguments outlive it.
  RegionWriter(const Options& options, Medium& medium, RegionTable& table, Events events);
  ~RegionWriter();  // writes what is queued; what lies in the open regions is gone

  [[nodiscard]] bool start();  // false: the system has no more threads

  // Whether a block of that size fits into a region.
  bool can_hold(uint32_t size_bytes) const { return fits(0, geometry_.grains_of(size_bytes)); }

  // kAdmitted; kNoSpace if no region is free, or the block fits into none; kWriteQueueFull if the
  // medium is behind. One region is kept for blocks that are written again: without it none could
  // stay when room is scarce.
  enum class For : uint8_t { kNewBlock, kKeptBlock };
  Reason append(uint32_t size_bytes, Spot* spot, For use = For::kNewBlock);
  // Waits until a buffer is free.
  void wait_for_buffer();
  // The block and its record are in place. size_bytes 0 in the record: there is no block.
  void finish(const Spot& spot);

  // Copies the bytes if the region is buffered; else false.
  bool copy(uint64_t offset_bytes, MutableBytes into);

  // Writes the open regions, however little is in them, and waits until all that is closed by then
  // is written, or lost. kEmptyToo: a region in which no block is yet is closed as well, so that
  // later blocks go to regions that are free by then.
  enum class Close : uint8_t { kWithBlocks, kEmptyToo };
  void drain(Close which = Close::kWithBlocks);
  uint64_t pending_bytes() const;
  uint64_t buffer_bytes() const { return buffers_.size() * geometry_.region_bytes; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // A cursor: closed 1 | blocks that are finished 20 | blocks 20 | grains 23. The one thread that
  // makes the cursor closed with all blocks finished queues the region.
  static constexpr uint64_t kClosed = uint64_t{1} << 63;
  static constexpr uint64_t kOneFinished = uint64_t{1} << 43;
  static constexpr uint64_t kOneBlock = uint64_t{1} << 23;
  static constexpr uint64_t kCount = (uint64_t{1} << 20) - 1;
  static uint32_t finished_of(uint64_t cursor) {
    return static_cast<uint32_t>(cursor / kOneFinished & kCount);
  }
  static uint32_t blocks_of(uint64_t cursor) {
    return static_cast<uint32_t>(cursor / kOneBlock & kCount);
  }
  static uint32_t grains_of(uint64_t cursor) { return static_cast<uint32_t>(cursor % kOneBlock); }
  static bool complete(uint64_t cursor) {
    return (cursor & kClosed) != 0 && finished_of(cursor) == blocks_of(cursor);
  }

  struct Buffer {
    uint32_t number = 0;
    std::byte* bytes = nullptr;
    uint32_t region = 0;
    std::atomic<uint64_t> cursor{kClosed};
    std::atomic<uint32_t> readers{0};
    // While it is written. Members that mutex_ does not guard belong to the thread with the first
    // write or with the last.
    RegionFooter footer;
    uint64_t tail_at = 0;     // what comes last, up to the end
    uint64_t pieces_end = 0;  // what comes before; guarded by mutex_, as all below
    uint64_t next_at = 0;     // of the next piece
    uint32_t in_flight = 0;   // writes
    Status status;            // the first failure
    Extent failed;            // what it was to write
    bool in_use = false;
    uint64_t releases = 0;  // how often it was written, or lost
  };
  // The next work of a thread.
  struct Work {
    enum class What : uint8_t { kNothing, kBegin, kPiece } what = What::kNothing;
    Buffer* buffer = nullptr;
    uint64_t at = 0;
    uint64_t bytes = 0;
  };

  bool fits(uint64_t cursor, uint32_t grains) const;
  bool append_to(uint32_t number, For use, uint32_t grains, Spot* spot);
  Reason open_next(uint32_t seen, For use);
  bool close(Buffer& buffer, uint64_t* cursor);
  void queue(Buffer& buffer);
  void wake_threads();
  bool write_next();
  Work next_work();
  void begin(Buffer& buffer);
  Extent extent_of(const Work& work) const;
  void wrote(Buffer& buffer, Extent extent, const Status& status);
  void end(Buffer& buffer);
  Status write_zeros(Buffer& buffer);
  // *failed: what could not be written.
  Status write_tail(Buffer& buffer, Extent* failed);
  Status write_one(const Buffer& buffer, uint64_t at, uint64_t bytes);
  std::span<const BlockRecord> records_of(const Buffer& buffer) const;
  BlockRecord* record_at(const Buffer& buffer, uint32_t index) const;
  void unmap(Buffer& buffer);
  void release(Buffer& buffer);

  const Geometry geometry_;
  const uint64_t nonce_;
  const uint32_t spare_regions_;
  Clock& clock_;
  Medium& medium_;
  RegionTable& table_;
  const Events events_;
  // Zeros at first: what lies between blocks is written, too. Taken as it is used: 64 MiB at once
  // would delay the first lookup.
  ReservedArray<std::byte> memory_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::array<std::atomic<uint32_t>, 2> open_{kNone, kNone};  // the buffers appended to, by For
  std::atomic<uint32_t> free_count_{0};
  mutable Mutex mutex_;
  CondVar written_;
  std::vector<uint32_t> free_ NVCACHE_GUARDED_BY(mutex_);   // buffers
  std::vector<uint32_t> queue_ NVCACHE_GUARDED_BY(mutex_);  // buffers to write, oldest first
  std::vector<uint32_t> begun_ NVCACHE_GUARDED_BY(mutex_);  // those that have pieces left
  std::vector<std::unique_ptr<BackgroundThread>> threads_;
};

}  // namespace nvcache
