// One snapshot of what a cache has done, with JSON and Prometheus text.
//
// Each counter is documented here once, with its unit; the names are the same
// in C++, in JSON and, behind "nvcache_", in Prometheus. Totals count from the
// moment the cache was opened and never go down; gauges say what holds now.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nvcache/verdict.h"

namespace nvcache {

struct Stats {
  // Totals: blocks.
  uint64_t hits = 0;               // lookups that served a block
  uint64_t misses = 0;             // lookups that served none; hits + misses = all lookups
  uint64_t background_hits = 0;    // of `hits`: for background work such as compaction
  uint64_t background_misses = 0;  // of `misses`: likewise
  uint64_t inserts = 0;            // blocks inserted
  uint64_t compressed_blocks = 0;  // of `inserts`: the engine hands them over compressed
  uint64_t removals = 0;   // blocks removed: evictions + erases + damaged + failed reads and writes
  uint64_t evictions = 0;  // of `removals`: chosen by the eviction policy, or by resize
  uint64_t erases = 0;     // of `removals`: by erase()
  uint64_t recovered_blocks = 0;  // that came back after a restart; not among `inserts`
  uint64_t damaged_regions = 0;   // whose index could not be read after a restart
  uint64_t rewritten_blocks = 0;  // moved to another region when theirs was emptied
  uint64_t damaged_blocks = 0;    // blocks whose checksum failed when read; each was a miss
  uint64_t failed_blocks = 0;     // of `removals`: lost, as the medium failed to read or write them
  uint64_t medium_errors = 0;     // reads and writes that the medium failed
  std::array<uint64_t, kReasonCount> refused{};  // blocks refused, by Reason ([kAdmitted] is 0)

  // Totals: bytes.
  uint64_t medium_read_bytes = 0;     // read from the medium (in place or copied)
  uint64_t medium_written_bytes = 0;  // written to the medium, padding included
  uint64_t medium_writes = 0;         // writes, each of one or many blocks
  uint64_t rewritten_bytes = 0;       // of rewritten_blocks; among medium_written_bytes
  uint64_t compressed_bytes = 0;      // of compressed_blocks, as they were handed over
  uint64_t discarded_bytes = 0;       // of emptied regions, given back to the medium
  uint64_t discard_errors = 0;        // discards that failed; the first one turns discard off

  // Gauges.
  double overhead_ratio = 0;        // OBP now: (inserts + removals) / foreground lookups
  uint64_t blocks = 0;              // blocks in the cache
  uint64_t data_bytes = 0;          // bytes of data in those blocks
  uint64_t used_bytes = 0;          // bytes of the medium they take, padding included
  uint64_t size_bytes = 0;          // bytes of the medium
  uint64_t metadata_bytes = 0;      // DRAM for index, space and policies
  uint64_t dataset_size_bytes = 0;  // the engine's dataset, as last told; 0: not known
  uint64_t pending_bytes = 0;       // waiting in the write queue or in open regions, in DRAM
  uint64_t buffer_bytes = 0;        // DRAM for open regions
  uint64_t regions = 0;             // of the medium; 0 where blocks are overwritten in place
  uint64_t free_regions = 0;        // of those
  uint64_t recovering = 0;          // 1: blocks from before the restart are still coming back
  uint64_t set_aside_bytes = 0;     // not used, since a write there failed
  // 1: reads or writes fail too often, and are off until a probe succeeds. Without reads there are
  // no hits and no inserts, without writes no inserts.
  uint64_t failed = 0;

  std::string medium;     // what the cache lies on: "file", "emulated:optane"
  std::string admission;  // the admission policy in full
  std::string eviction;   // the eviction policy in full

  // hits / (hits + misses), background work left out; 0 without lookups.
  double hit_ratio() const;

  // One JSON object; the refusals are an object by reason name.
  std::string to_json() const;

  // Prometheus text exposition format, with HELP and TYPE lines.
  std::string to_prometheus() const;
};

}  // namespace nvcache
