#include "experiments/engines/rocksdb_engine.h"

#include <atomic>
#include <filesystem>
#include <utility>

#include "experiments/engines/rocksdb_parts.h"
#include "experiments/harness/copy_folder.h"
#include "fmt/format.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "rocksdb/version.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

std::string_view view(const ::rocksdb::Slice& text) { return {text.data(), text.size()}; }

std::string folder_of(const std::string& directory, uint32_t database) {
  return fmt::format("{}/{}", directory, database);
}

// Opened before the databases, and closed after them.
struct Below {
  std::shared_ptr<BlockCache> tier;  // pinned by the cache
  RocksdbCache cache;
  std::shared_ptr<rocksdb::EmulatedStorage> storage;  // null: reads are not counted
  std::unique_ptr<::rocksdb::Env> env;                // of the storage
  std::shared_ptr<::rocksdb::Statistics> statistics;
};

class RocksdbEngine final : public KvEngine {
 public:
  explicit RocksdbEngine(Below below) : below_(std::move(below)) {}

  nvcache::Status open(const ::rocksdb::Options& options, const EngineOptions& where) {
    uint64_t live_bytes = 0;
    for (uint32_t i = 0; i < where.databases; ++i) {
      databases_.emplace_back();
      nvcache::Status status =
          open_rocksdb(options, folder_of(where.directory, i), &databases_.back());
      if (!status.ok()) return status;
      uint64_t size_bytes = 0;
      databases_.back()->GetIntProperty(::rocksdb::DB::Properties::kLiveSstFilesSize, &size_bytes);
      live_bytes += size_bytes;
    }
    if (below_.tier != nullptr) below_.tier->set_dataset_size(live_bytes);
    return ok_status();
  }

  nvcache::Status put(uint32_t database, std::string_view key, std::string_view value) override {
    return to_status("put", databases_[database]->Put(write_, slice(key), slice(value)));
  }
  nvcache::Status read(uint32_t database, std::string_view key, std::string* value) override {
    return to_status("get", databases_[database]->Get(read_, slice(key), value));
  }

  nvcache::Status scan(uint32_t database, std::string_view first_key, uint32_t rows,
                       const RowVisitor& visit) override {
    const std::unique_ptr<::rocksdb::Iterator> row(databases_[database]->NewIterator(read_));
    row->Seek(slice(first_key));
    for (uint32_t i = 0; i < rows && row->Valid(); ++i, row->Next()) {
      if (nvcache::Status status = visit(view(row->key()), view(row->value())); !status.ok()) {
        return status;
      }
    }
    return to_status("scan", row->status());
  }

  uint64_t thread_block_reads() override {
    if (::rocksdb::GetPerfLevel() < ::rocksdb::PerfLevel::kEnableCount) {
      ::rocksdb::SetPerfLevel(::rocksdb::PerfLevel::kEnableCount);
      ::rocksdb::get_perf_context()->Reset();
    }
    return ::rocksdb::get_perf_context()->block_read_count;
  }

  EngineMetrics metrics() const override {
    const auto ticker = [&](::rocksdb::Tickers name) {
      return below_.statistics->getTickerCount(name);
    };
    EngineMetrics metrics;
    metrics.background_read_bytes = ticker(::rocksdb::COMPACT_READ_BYTES);
    metrics.background_written_bytes =
        ticker(::rocksdb::COMPACT_WRITE_BYTES) + ticker(::rocksdb::FLUSH_WRITE_BYTES);
    metrics.stall_us = ticker(::rocksdb::STALL_MICROS);
    metrics.data_hits = ticker(::rocksdb::BLOCK_CACHE_DATA_HIT);
    metrics.data_misses = ticker(::rocksdb::BLOCK_CACHE_DATA_MISS);
    if (below_.tier != nullptr) metrics.tier = below_.tier->stats();
    if (below_.cache.tiered != nullptr) {
      metrics.tiers = nlohmann::json::parse(below_.cache.tiered->stats().to_json(), nullptr, false);
    }
    return metrics;
  }

  StorageReads take_storage_reads() override {
    if (below_.storage == nullptr) return {};
    rocksdb::StorageStats stats = below_.storage->take_stats();
    return {stats.reads, stats.read_bytes, std::move(stats.latency_ns)};
  }

  nvcache::Status close() override {
    nvcache::Status first;
    for (auto& db : databases_) {
      ::rocksdb::CancelAllBackgroundWork(db.get(), /*wait=*/true);
      const nvcache::Status status = to_status("close", db->Close());
      if (first.ok()) first = status;
      db.reset();
    }
    databases_.clear();
    return first;
  }

 private:
  const ::rocksdb::ReadOptions read_;
  const ::rocksdb::WriteOptions write_;  // logged, not synced
  Below below_;                          // goes after the databases
  std::vector<std::unique_ptr<::rocksdb::DB>> databases_;
};

class RocksdbKind final : public EngineKind {
 public:
  explicit RocksdbKind(const RocksdbShape& shape) : shape_(shape) {}

  nlohmann::json describe() const override {
    return {{"name", "rocksdb"},
            {"version", fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)},
            {"block_bytes", shape_.block_bytes},
            {"file_bytes", shape_.file_bytes},
            {"compression", "none"},
            {"direct_io", shape_.direct},
            {"bloom_bits_per_key", 10},
            {"write_ahead_log", "on, not synced"}};
  }

  nvcache::Status check_own_cache(std::string_view spec) const override {
    return open_rocksdb_cache(std::string(spec)).status();
  }
  nvcache::Status check_storage(const std::string& storage) const override {
    return storage.empty() ? ok_status() : open_rocksdb_storage(storage).status();
  }

  nvcache::Status load(const std::string& directory, uint32_t databases, uint64_t count,
                       const SortedPair& pair, uint32_t threads,
                       std::function<void(uint64_t)> progress) override {
    std::error_code error;
    fs::create_directory(directory, error);
    std::atomic<uint64_t> loaded{0};
    const std::function<void(uint64_t)> add = [&](uint64_t pairs) {
      progress(loaded.fetch_add(pairs, std::memory_order_relaxed) + pairs);
    };
    for (uint32_t i = 0; i < databases; ++i) {
      nvcache::Status status =
          load_rocksdb(shape_, folder_of(directory, i), i, count, pair, threads, add);
      if (!status.ok()) return status;
    }
    return ok_status();
  }

  nvcache::Status clone(const std::string& from, const std::string& to) override {
    std::error_code error;
    fs::create_directory(to, error);
    for (const auto& entry : fs::directory_iterator(from, error)) {
      const std::string copy = to + "/" + entry.path().filename().string();
      // A database at rest: RocksDB never changes its SST files.
      nvcache::Status status = copy_folder(entry.path().string(), copy, ".sst");
      if (!status.ok()) return status;
    }
    if (!error) return ok_status();
    return internal_error(fmt::format("cannot copy {} to {}: {}", from, to, error.message()));
  }

  StatusOr<std::unique_ptr<KvEngine>> open(const EngineOptions& options) override {
    if (!options.settings.empty()) {
      return invalid_argument("rocksdb: '{}': settings are WiredTiger's alone", options.settings);
    }
    Below below;
    if (nvcache::Status status = open_cache(options, &below); !status.ok()) return status;
    ::rocksdb::Options db_options =
        rocksdb_options(shape_, below.cache.cache, options.index_in_cache);
    if (!options.storage.empty()) {
      auto storage = open_rocksdb_storage(options.storage);
      if (!storage.ok()) return storage.status();
      below.storage = *std::move(storage);
      below.env = ::rocksdb::NewCompositeEnv(below.storage);
      db_options.env = below.env.get();
      db_options.use_direct_reads = options.storage == "disk";
    }
    below.statistics = ::rocksdb::CreateDBStatistics();
    below.statistics->set_stats_level(::rocksdb::StatsLevel::kExceptHistogramOrTimers);
    db_options.statistics = below.statistics;
    if (below.tier != nullptr) {
      db_options.listeners.push_back(rocksdb::NewDatasetSizeListener(below.tier));
    }
    auto engine = std::make_unique<RocksdbEngine>(std::move(below));
    if (nvcache::Status status = engine->open(db_options, options); !status.ok()) return status;
    return engine;
  }

 private:
  nvcache::Status open_cache(const EngineOptions& options, Below* below) {
    if (!options.own_cache.empty()) {
      auto opened = open_rocksdb_cache(options.own_cache);
      if (opened.ok()) below->cache = *std::move(opened);
      return opened.status();
    }
    below->tier = options.tier;
    if (below->tier == nullptr) {
      auto opened = open_tier(options.tier_spec);
      if (!opened.ok()) return opened.status();
      below->tier = *std::move(opened);
    }
    std::shared_ptr<::rocksdb::SecondaryCache> secondary;
    if (below->tier != nullptr) {
      const auto status = rocksdb::NewSecondaryCache({.cache = below->tier}, &secondary);
      if (!status.ok()) return to_status("second tier", status);
    }
    ::rocksdb::LRUCacheOptions lru;
    lru.capacity = options.dram_cache_bytes;
    lru.secondary_cache = secondary;
    below->cache.cache = ::rocksdb::NewLRUCache(lru);
    return ok_status();
  }

  const RocksdbShape shape_;
};

}  // namespace

std::unique_ptr<EngineKind> make_rocksdb_kind(const RocksdbShape& shape) {
  return std::make_unique<RocksdbKind>(shape);
}

}  // namespace nvcache
