// A block cache for an engine that reads and writes blocks of files: keeps what is
// cached right when files are overwritten in any geometry, truncated, removed or
// renamed. The engine's adapter does the file I/O; this class says what is cached.
//
// Reading a block:            Writing a range:
//   ticket = file.begin_read    file.begin_write   removes every cached block it overlaps
//   hit: the bytes are there    (the adapter writes the file)
//   miss: read the file, then   file.end_write     again, and offers the new block
//   file.offer(ticket, block)
//
// Between begin_write and end_write, and after, no reader can cache what it read
// before: each write moves on the counts of the stretches it touches, and an offer
// whose stretches have moved since its ticket is refused. A block on its way into
// the cache is in the file's extent map first, so a write in between finds it.
//
// Concurrent reads and writes of overlapping ranges are as defined as the file's own
// are: a reader may get either. Once a write has returned, no read that begins
// afterwards gets older bytes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/background_thread.h"
#include "base/mutex.h"
#include "base/striped_counters.h"
#include "file_cache/extent_map.h"
#include "nvcache/block_cache.h"
#include "nvcache/bytes.h"

namespace nvcache {

enum class FileCount : size_t {
  kReads,        // reads of cacheable files
  kServedReads,  // of them: from the cache
  kServedBytes,
  kDiskReads,  // of them: from the file
  kDiskReadBytes,
  kForeignReads,  // of kDiskReads: not whole blocks; served, never cached
  kWrites,        // writes to cacheable files
  kWrittenBytes,
  kOffers,  // blocks offered to the cache
  kAdmittedBytes,
  kStaleOffers,  // refused because the range was written since
  kInvalidated,  // cached blocks removed by writes, truncation, removal, renaming
  kFieldCount,
};

struct FileStats {
  std::array<uint64_t, static_cast<size_t>(FileCount::kFieldCount)> counts{};
  uint64_t files = 0;           // open now
  uint64_t dataset_bytes = 0;   // their size
  uint64_t extents = 0;         // entries of their extent maps
  uint64_t metadata_bytes = 0;  // DRAM for those

  uint64_t operator[](FileCount count) const { return counts[static_cast<size_t>(count)]; }
  std::string to_json() const;        // one object
  std::string to_prometheus() const;  // with HELP and TYPE lines
};

// The fate of a block that is written.
enum class OnWrite : uint8_t {
  kOffer,   // offered with origin "write"; admission decides
  kUpdate,  // offered only if the range was cached (Open CAS's write-around)
  kSkip,    // never offered
};

class FileBlockCache;

// Says when a read began; hand it to offer().
struct ReadTicket {
  MissToken token;
  uint32_t stretches = 0;
  bool cacheable = false;
};

// One open file. Thread-safe.
class CachedFile {
 public:
  CachedFile(FileBlockCache& owner, uint64_t id, uint64_t size_bytes);

  // Copies the block into `into` if it is cached with exactly this range; checked by
  // the cache's checksum first (see `verify` in docs/guide/configuration.md). On a miss,
  // fills `ticket`.
  [[nodiscard]] bool read(uint64_t offset, MutableBytes into, ReadTicket* ticket);
  // Offers a whole block that was read from the file after the miss.
  void offer(uint64_t offset, ByteView block, const ReadTicket& ticket);
  // The file was read instead, in `took_ns`; `whole_block` false: it was no block's exact range.
  void count_disk_read(uint64_t size_bytes, bool whole_block, uint64_t took_ns);

  // Around each write to the file, also one that fails (`block` empty: not offered).
  // Says whether the range was cached.
  bool begin_write(const FileRange& range);
  void end_write(const FileRange& range, ByteView block, bool was_cached);
  // Around each truncation.
  void begin_truncate(uint64_t size_bytes);
  void end_truncate(uint64_t size_bytes);
  // The file is at least this large now.
  void grow_to(uint64_t size_bytes);

  uint64_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class FileBlockCache;
  static constexpr uint64_t kStretchBytes = uint64_t{256} << 10;
  static constexpr uint64_t kStretches = 64;
  // Extents at once under the lock: about half a millisecond.
  static constexpr size_t kErasedAtOnce = 1024;

  static bool cacheable(const FileRange& range) {
    return range.size <= kMaxBlockBytes && ExtentMap::takes(range);
  }
  // All of a file from an offset on.
  static FileRange beyond(uint64_t offset) {
    constexpr uint64_t kFarEnd = uint64_t{1} << 62;
    return {offset, kFarEnd - std::min(offset, kFarEnd)};
  }

  uint32_t stretch_sum(const FileRange& range) const;
  void move_stretches(const FileRange& range) NVCACHE_REQUIRES(mutex_);
  // Removes what `range` overlaps and outdates the tickets of readers; whether
  // anything was cached.
  bool invalidate(const FileRange& range);
  bool erase_overlapped(const FileRange& range) NVCACHE_REQUIRES(mutex_);
  // The first of them only. `rest` is what is left of the range, empty if that is nothing.
  bool erase_some(FileRange* rest) NVCACHE_REQUIRES(mutex_);
  void put(const FileRange& extent, ByteView block, Origin origin, MissToken token,
           uint32_t stretches);
  void sweep() NVCACHE_REQUIRES(mutex_);
  void sweep_one() NVCACHE_REQUIRES(mutex_);
  uint64_t sweep_all();  // how many extents are left
  void change_dataset(int64_t bytes);
  uint64_t metadata_bytes(uint64_t* extents) const;

  FileBlockCache& owner_;
  const uint64_t id_;
  std::atomic<uint64_t> size_bytes_;
  std::atomic<bool> forgotten_{false};  // removed or renamed while open: no more caching
  std::array<std::atomic<uint32_t>, kStretches> stretches_{};
  mutable Mutex mutex_;
  ExtentMap extents_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<FileRange> on_their_way_ NVCACHE_GUARDED_BY(mutex_);
  uint64_t sweep_position_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t inserts_ NVCACHE_GUARDED_BY(mutex_) = 0;
};

// Tells whether a file is still the one that was closed.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

// Thread-safe. Files that are closed keep their cached blocks for when they are
// opened again, as long as no other program changed them.
//
// A thread erases the blocks of a large file that is gone, because that takes about half a second
// per million; nothing serves them until then. The same thread looks at all extents of all files
// once as many have entered, and drops those whose blocks the cache has evicted, and closed files
// of which nothing is left: so all maps together stay within about twice the cache's blocks.
class FileBlockCache {
 public:
  // Without a cache it only counts.
  explicit FileBlockCache(std::shared_ptr<BlockCache> cache, OnWrite on_write = OnWrite::kOffer);
  ~FileBlockCache();
  FileBlockCache(const FileBlockCache&) = delete;
  FileBlockCache& operator=(const FileBlockCache&) = delete;

  // `path` names the file from now on. Each open() needs a close(); one path that is
  // open twice is one CachedFile.
  std::shared_ptr<CachedFile> open(const std::string& path, const FileIdentity& identity);
  void close(const std::string& path, const CachedFile& file, const FileIdentity& identity);
  // The file is gone, renamed or replaced: its blocks go. It may be open still.
  void forget(const std::string& path);
  // Waits until the blocks of all forgotten files are erased.
  void drain();

  BlockCache* cache() const { return cache_.get(); }
  FileStats stats() const;

  // Reads of cacheable files that the calling thread took from disk, ever.
  static uint64_t thread_disk_reads();

 private:
  friend class CachedFile;
  struct Known {
    std::shared_ptr<CachedFile> file;
    uint32_t opens = 0;
    FileIdentity identity;  // when last closed
  };

  void change_dataset(int64_t bytes);
  void drop(std::shared_ptr<CachedFile> file);
  bool tidy_up();        // a round of the thread; whether it has more to do
  bool erase_dropped();  // some of their blocks; whether there are more
  void note_inserts(uint64_t inserts);
  void sweep_files();

  const std::shared_ptr<BlockCache> cache_;
  const OnWrite on_write_;
  StripedCounters<FileCount> counts_;
  std::atomic<uint64_t> dataset_bytes_{0};
  mutable Mutex mutex_;
  uint64_t next_id_ NVCACHE_GUARDED_BY(mutex_) = 1;
  std::unordered_map<std::string, Known> files_ NVCACHE_GUARDED_BY(mutex_);
  // Large files that are gone, until their blocks are.
  std::deque<std::shared_ptr<CachedFile>> dropped_ NVCACHE_GUARDED_BY(mutex_);
  CondVar none_dropped_;
  std::atomic<uint64_t> inserts_{0};  // since the last sweep
  std::atomic<uint64_t> sweep_after_;
  BackgroundThread thread_;
};

}  // namespace nvcache
