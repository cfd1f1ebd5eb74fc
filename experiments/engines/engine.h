// A key-value engine as the benchmark sees it: opened on a directory, with or
// without a second-tier cache below its own DRAM cache.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/block_cache.h"
#include "nvcache/stats.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Work that the engine does in threads of its own.
struct EngineMetrics {
  uint64_t background_read_bytes = 0;     // read by compaction; 0 if the engine does not count it
  uint64_t background_written_bytes = 0;  // to data files, by flushes, compaction, checkpoints
  uint64_t stall_us = 0;                  // operations held back by the engine
  std::optional<Stats> tier;              // of the second tier; empty without one
};

// An open database. read() to scan() are thread-safe.
class KvEngine {
 public:
  virtual ~KvEngine() = default;

  [[nodiscard]] virtual Status insert(std::string_view key, std::string_view value) = 0;
  // NOT_FOUND if there is no such key.
  [[nodiscard]] virtual Status read(std::string_view key, std::string* value) = 0;
  [[nodiscard]] virtual Status update(std::string_view key, std::string_view value) = 0;

  // Called for each row, in key order; an error ends the scan and is its result.
  using RowVisitor = std::function<Status(std::string_view key, std::string_view value)>;
  [[nodiscard]] virtual Status scan(std::string_view first_key, uint32_t rows,
                                    const RowVisitor& visit) = 0;

  // Blocks that the calling thread's reads and scans took from disk since it
  // first called this (which starts the counting).
  virtual uint64_t thread_block_reads() = 0;

  virtual EngineMetrics metrics() const = 0;
  // Stops background work and closes; nothing else may be called afterwards.
  [[nodiscard]] virtual Status close() = 0;
};

struct EngineOptions {
  std::string directory;
  uint64_t dram_cache_bytes = 0;
  std::string tier_spec;             // nvcache://...; empty: no second tier
  std::shared_ptr<BlockCache> tier;  // one that is open already, instead of tier_spec
  std::string own_cache;             // the engine's own second-tier cache; empty: none
  std::string settings = {};         // more of wiredtiger_open()'s configuration; RocksDB has none
};

// Gives the i-th record in key order.
using SortedRecord = std::function<void(uint64_t i, std::string* key, std::string* value)>;

// Makes, copies and opens databases of one engine.
class EngineKind {
 public:
  virtual ~EngineKind() = default;

  // {"name", "version", options that matter}.
  virtual nlohmann::json describe() const = 0;

  // Makes a database of `count` records, at rest: nothing left to flush or compact.
  // `record` is called from `threads` threads. CANCELLED when interrupted.
  [[nodiscard]] virtual Status load(const std::string& directory, uint64_t count,
                                    const SortedRecord& record, uint32_t threads,
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

  // Says whether `spec` is a block cache of the engine's own (EngineOptions::own_cache).
  [[nodiscard]] virtual Status check_own_cache(std::string_view spec) const;
};

// Engines by name: "rocksdb", "wiredtiger". INVALID_ARGUMENT names what is allowed,
// UNIMPLEMENTED says how to get one that was left out of the build.
[[nodiscard]] StatusOr<std::unique_ptr<EngineKind>> make_engine_kind(std::string_view name);

}  // namespace nvcache
