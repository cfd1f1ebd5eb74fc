// A key-value engine as a benchmark sees it: databases side by side in a directory, which share
// the engine's block cache, with or without a second tier below it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "nlohmann/json.hpp"
#include "nvcache/block_cache.h"
#include "nvcache/stats.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Totals since the opening, of all databases.
struct EngineMetrics {
  uint64_t background_read_bytes = 0;     // read by compaction; 0 if the engine does not count it
  uint64_t background_written_bytes = 0;  // to data files, by flushes, compaction, checkpoints
  uint64_t stall_us = 0;                  // operations held back by the engine
  uint64_t data_hits = 0;     // lookups of data blocks in the engine's block cache; 0 where it
  uint64_t data_misses = 0;   // does not count them
  std::optional<Stats> tier;  // of the second tier; empty without one
  nlohmann::json tiers;       // of a tiered cache: TieredStats as JSON; else null
};

// Reads of data files since the last call, compaction's included.
struct StorageReads {
  uint64_t reads = 0;
  uint64_t bytes = 0;
  Histogram latency_ns;
};

// Open databases. put() to scan() are thread-safe; `database` is below EngineOptions::databases.
class KvEngine {
 public:
  virtual ~KvEngine() = default;

  [[nodiscard]] virtual Status put(uint32_t database, std::string_view key,
                                   std::string_view value) = 0;
  // NOT_FOUND if there is no such key.
  [[nodiscard]] virtual Status read(uint32_t database, std::string_view key,
                                    std::string* value) = 0;

  // Called for each row, in key order; an error ends the scan and is its result.
  using RowVisitor = std::function<Status(std::string_view key, std::string_view value)>;
  [[nodiscard]] virtual Status scan(uint32_t database, std::string_view first_key, uint32_t rows,
                                    const RowVisitor& visit) = 0;

  // Blocks that the calling thread's reads and scans took from disk since it
  // first called this (which starts the counting).
  virtual uint64_t thread_block_reads() = 0;

  virtual EngineMetrics metrics() const = 0;
  // Empty unless EngineOptions::storage was given.
  virtual StorageReads take_storage_reads() { return {}; }
  // Stops background work and closes; nothing else may be called afterwards.
  [[nodiscard]] virtual Status close() = 0;
};

struct EngineOptions {
  std::string directory;
  uint32_t databases = 1;  // WiredTiger has one
  uint64_t dram_cache_bytes = 0;
  std::string tier_spec;             // nvcache://...; empty: no second tier
  std::shared_ptr<BlockCache> tier;  // one that is open already, instead of tier_spec
  // In place of the three above, a block cache of the engine's own: wtcache:... of WiredTiger;
  // lru:... or tiered://... of RocksDB. Empty: none.
  std::string own_cache;
  std::string settings = {};  // more of wiredtiger_open()'s configuration; RocksDB has none
  // RocksDB's SST files: "disk", or "emulated:PROFILE[,load=N]". Empty: reads are not counted.
  std::string storage = {};
  bool index_in_cache = false;  // RocksDB's index and filter blocks, with high priority
};

// Gives the i-th pair of a database in key order. Thread-safe.
using SortedPair =
    std::function<void(uint32_t database, uint64_t i, std::string* key, std::string* value)>;

// Makes, copies and opens databases of one engine.
class EngineKind {
 public:
  virtual ~EngineKind() = default;

  // {"name", "version", options that matter}.
  virtual nlohmann::json describe() const = 0;

  // Makes databases of `count` pairs each, at rest: nothing left to flush or compact. `pair` is
  // called from `threads` threads. CANCELLED when interrupted.
  [[nodiscard]] virtual Status load(const std::string& directory, uint32_t databases,
                                    uint64_t count, const SortedPair& pair, uint32_t threads,
                                    std::function<void(uint64_t loaded)> progress) = 0;

  // A copy that shares what it can. `to` must not exist.
  [[nodiscard]] virtual Status clone(const std::string& from, const std::string& to) = 0;

  [[nodiscard]] virtual StatusOr<std::unique_ptr<KvEngine>> open(const EngineOptions& options) = 0;

  // False: a clone takes as much disk again. A second tier that is kept from one run to the
  // next then serves the same database only, and not the next clone.
  virtual bool clones_share_blocks() const { return true; }

  // Opens a second tier as the engine needs it. Null for an empty specification.
  [[nodiscard]] virtual StatusOr<std::shared_ptr<BlockCache>> open_tier(
      const std::string& spec) const;

  // INVALID_ARGUMENT says what is wrong with an own_cache or a storage.
  [[nodiscard]] virtual Status check_own_cache(std::string_view spec) const = 0;
  [[nodiscard]] virtual Status check_storage(const std::string& storage) const;
};

// Engines by name: "rocksdb", "wiredtiger", and "rocksdb-small", which is RocksDB as *Hybrid Cache*
// has it (section 4.1.1: blocks of 16 KiB), with files as small as a scaled database needs.
// INVALID_ARGUMENT names what is allowed, UNIMPLEMENTED says how to get one that was left out of
// the build.
[[nodiscard]] StatusOr<std::unique_ptr<EngineKind>> make_engine_kind(std::string_view name);

}  // namespace nvcache
