// Measurements of a block cache with space=regions on a disk. Each part makes new files in one
// folder, and compares with plain reads and writes of the same disk, turn by turn: a disk's own
// speed says little. Caller-locked. Errors say which file failed and how.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/prng.h"
#include "device/figures.h"
#include "nvcache/block_cache.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache::bench {

struct Disk {
  std::string folder;
  uint64_t size_bytes = uint64_t{1} << 30;  // of a cache
  uint64_t restart_blocks = 0;              // of kSmallBytes
  uint32_t rounds = 5;
  std::string settings;  // further ones of each cache: "&region=4MiB"

  std::string file(const char* name) const { return folder + "/" + name; }
};

inline constexpr uint32_t kBlockBytes = 4096;
inline constexpr uint32_t kSmallBytes = 512;

// Puts of new blocks beside plain writes of 1 MiB, and beside fio's where it is installed; how
// large the cache's writes are.
Status measure_writes(const Disk& disk, Figures* figures);
// Hits of 4 KiB beside plain reads.
Status measure_hits(const Disk& disk, Figures* figures);
// Zipf-distributed lookups, each miss offered, until the cache was filled several times: how much
// of the medium holds blocks, and what is written, with regions and in place.
Status measure_steady_state(const Disk& disk, Figures* figures);
// A cache that is closed, and one that is killed: how soon it serves, and what is back.
Status measure_restart(const Disk& disk, Figures* figures);

// A cache of the file `name` in the disk's folder. `more` as Disk::settings.
StatusOr<std::unique_ptr<BlockCache>> open_cache(const Disk& disk, const char* name,
                                                 uint64_t size_bytes, const std::string& more);

// Puts blocks 0 to `blocks` of `block_bytes` each; waits for the cache where it is behind: its
// queue is full, or no region is free. How often it had to wait; RESOURCE_EXHAUSTED if one stays
// refused.
StatusOr<uint64_t> put_all(BlockCache& cache, uint64_t blocks, uint32_t block_bytes);

inline BlockKey key_of(uint64_t number) { return {mix64(number), number}; }

}  // namespace nvcache::bench
