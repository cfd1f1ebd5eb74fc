// The databases of a profile, open side by side on one block cache.
//
// Stock RocksDB: 16 KiB blocks (ATC '21, 4.1.1), no compression, bloom filters, the log
// on but not synced. The SST files lie in DIR/0, DIR/1, ...; each was written in the order
// of its keys, so that a loaded database is at rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/histogram.h"
#include "experiments/workload/profile_record.h"
#include "nlohmann/json.hpp"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct StoreOptions {
  std::string directory;
  uint32_t databases = 1;
  std::string cache;           // lru:size=... or tiered://...
  std::string storage;         // "emulated:PROFILE" or "disk"
  bool index_in_cache = true;  // else index and filter blocks lie in memory of their own
};

// Totals since the opening, of all databases.
struct StoreMetrics {
  uint64_t data_hits = 0;  // lookups of data blocks in the block cache
  uint64_t data_misses = 0;
  uint64_t compaction_bytes = 0;  // read and written
  uint64_t stall_us = 0;
  nlohmann::json tiers;  // of a tiered cache: TieredStats as JSON; else null
};

// Reads of SST files since the last call, compaction's included.
struct StorageReads {
  uint64_t reads = 0;
  uint64_t bytes = 0;
  Histogram latency_ns;
};

// Open databases. get() to seek() are thread-safe.
class ProfileStore {
 public:
  virtual ~ProfileStore() = default;

  // NOT_FOUND if there is no such key.
  [[nodiscard]] virtual Status get(uint32_t database, std::string_view key, std::string* value) = 0;
  [[nodiscard]] virtual Status put(uint32_t database, std::string_view key,
                                   std::string_view value) = 0;
  // Called for each row in key order. An error ends the seek, which returns it.
  using RowVisitor = std::function<Status(std::string_view key, std::string_view value)>;
  [[nodiscard]] virtual Status seek(uint32_t database, std::string_view first_key, uint32_t rows,
                                    const RowVisitor& visit) = 0;

  virtual StoreMetrics metrics() const = 0;
  virtual StorageReads take_storage_reads() = 0;
  // Stops background work and closes; nothing else may be called afterwards.
  [[nodiscard]] virtual Status close() = 0;
};

// In a build without RocksDB these return UNIMPLEMENTED and say how to get it.

// INVALID_ARGUMENT says what is wrong with a cache or a storage, before anything is loaded.
[[nodiscard]] Status check_store(const std::string& cache, const std::string& storage);

// Makes the databases 0 to databases - 1 of that many pairs in `directory`, which is empty.
// CANCELLED when interrupted. `progress` is called from several threads.
[[nodiscard]] Status load_store(const std::string& directory, const ProfileRecords& records,
                                uint32_t databases, uint64_t keys, uint64_t version,
                                const std::function<void(uint64_t loaded)>& progress);

[[nodiscard]] StatusOr<std::unique_ptr<ProfileStore>> open_store(const StoreOptions& options);

// How a store is built, for results and to tell databases apart.
nlohmann::json describe_store();

}  // namespace nvcache
