#include "experiments/engines/rocksdb_engine.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include "apps/command/interrupt.h"
#include "base/mutex.h"
#include "base/text.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "nvcache/rocksdb.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/version.h"

namespace nvcache {
namespace {

constexpr size_t kBlockBytes = 4096;
constexpr uint64_t kSstBytes = 64ull << 20;  // RocksDB's default target_file_size_base
constexpr double kBloomBitsPerKey = 10;

::rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const ::rocksdb::Slice& text) { return {text.data(), text.size()}; }

nvcache::Status to_status(const char* what, const ::rocksdb::Status& status) {
  if (status.ok()) return ok_status();
  const std::string message = fmt::format("rocksdb: {}: {}", what, status.ToString());
  if (status.IsNotFound()) return not_found_error(message);
  if (status.IsCorruption()) return data_loss_error(message);
  if (status.IsNoSpace()) return resource_exhausted_error(message);
  return internal_error(message);
}

::rocksdb::Options base_options(std::shared_ptr<::rocksdb::Cache> block_cache) {
  ::rocksdb::BlockBasedTableOptions table;
  table.block_size = kBlockBytes;
  table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  if (block_cache != nullptr) {
    table.block_cache = std::move(block_cache);
  } else {
    table.no_block_cache = true;
  }
  ::rocksdb::Options options;
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  options.compression = ::rocksdb::kNoCompression;
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_background_jobs = 2;
  options.target_file_size_base = kSstBytes;
  options.stats_dump_period_sec = 0;
  options.info_log_level = ::rocksdb::WARN_LEVEL;
  return options;
}

class RocksdbEngine final : public KvEngine {
 public:
  RocksdbEngine(std::unique_ptr<::rocksdb::DB> db, std::shared_ptr<BlockCache> tier,
                std::shared_ptr<::rocksdb::Statistics> statistics)
      : tier_(std::move(tier)), statistics_(std::move(statistics)), db_(std::move(db)) {}

  nvcache::Status insert(std::string_view key, std::string_view value) override {
    return to_status("put", db_->Put(write_, slice(key), slice(value)));
  }
  nvcache::Status update(std::string_view key, std::string_view value) override {
    return to_status("put", db_->Put(write_, slice(key), slice(value)));
  }
  nvcache::Status read(std::string_view key, std::string* value) override {
    return to_status("get", db_->Get(read_, slice(key), value));
  }

  nvcache::Status scan(std::string_view first_key, uint32_t rows,
                       const RowVisitor& visit) override {
    const std::unique_ptr<::rocksdb::Iterator> row(db_->NewIterator(read_));
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
    EngineMetrics metrics;
    metrics.background_read_bytes = statistics_->getTickerCount(::rocksdb::COMPACT_READ_BYTES);
    metrics.background_written_bytes = statistics_->getTickerCount(::rocksdb::COMPACT_WRITE_BYTES) +
                                       statistics_->getTickerCount(::rocksdb::FLUSH_WRITE_BYTES);
    metrics.stall_us = statistics_->getTickerCount(::rocksdb::STALL_MICROS);
    if (tier_ != nullptr) metrics.tier = tier_->stats();
    return metrics;
  }

  nvcache::Status close() override {
    ::rocksdb::CancelAllBackgroundWork(db_.get(), /*wait=*/true);
    const ::rocksdb::Status status = db_->Close();
    db_.reset();
    return to_status("close", status);
  }

 private:
  const ::rocksdb::ReadOptions read_;
  const ::rocksdb::WriteOptions write_;  // logged, not synced
  // Destroyed first: the database holds the cache, which pins blocks of the tier.
  std::shared_ptr<BlockCache> tier_;
  std::shared_ptr<::rocksdb::Statistics> statistics_;
  std::unique_ptr<::rocksdb::DB> db_;
};

// Writes SST files of the records in key order, several threads at once.
class BulkLoader {
 public:
  BulkLoader(std::string directory, uint64_t count, const SortedRecord& record,
             std::function<void(uint64_t)> progress)
      : directory_(std::move(directory)),
        count_(count),
        record_(record),
        progress_(std::move(progress)),
        options_(base_options(nullptr)) {}

  StatusOr<std::vector<std::string>> run(uint32_t threads) {
    std::vector<std::thread> workers;
    for (uint32_t i = 0; i < threads; ++i) {
      workers.emplace_back([this, i, threads] {
        const nvcache::Status status =
            write_range(i, count_ * i / threads, count_ * (i + 1) / threads);
        MutexLock lock(mutex_);
        if (!status.ok() && status_.ok()) status_ = status;
      });
    }
    for (std::thread& worker : workers) worker.join();
    MutexLock lock(mutex_);
    if (!status_.ok()) return status_;
    std::sort(files_.begin(), files_.end());
    return files_;
  }

 private:
  nvcache::Status write_range(uint32_t thread, uint64_t from, uint64_t to) {
    for (uint32_t file = 0; from < to; ++file) {
      const std::string path = fmt::format("{}/load-{:03}-{:05}.sst", directory_, thread, file);
      StatusOr<uint64_t> written = write_file(path, from, to);
      if (!written.ok()) return written.status();
      from += *written;
      MutexLock lock(mutex_);
      if (!status_.ok()) return ok_status();  // another thread failed
      files_.push_back(path);
    }
    return ok_status();
  }

  // Writes records [from, ...) until the file is full or `to` is reached.
  StatusOr<uint64_t> write_file(const std::string& path, uint64_t from, uint64_t to) {
    ::rocksdb::SstFileWriter writer(::rocksdb::EnvOptions(options_), options_);
    if (auto status = writer.Open(path); !status.ok()) return to_status("load", status);
    std::string key;
    std::string value;
    uint64_t at = from;
    for (; at < to && (at == from || writer.FileSize() < kSstBytes); ++at) {
      record_(at, &key, &value);
      if (auto status = writer.Put(key, value); !status.ok()) return to_status("load", status);
      if ((at - from) % 4096 != 4095) continue;
      if (nvcache::Status status = check_not_interrupted(); !status.ok()) return status;
      progress_(loaded_.fetch_add(4096, std::memory_order_relaxed) + 4096);
    }
    if (auto status = writer.Finish(); !status.ok()) return to_status("load", status);
    return at - from;
  }

  const std::string directory_;
  const uint64_t count_;
  const SortedRecord& record_;
  const std::function<void(uint64_t)> progress_;
  const ::rocksdb::Options options_;
  std::atomic<uint64_t> loaded_{0};
  Mutex mutex_;
  nvcache::Status status_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<std::string> files_ NVCACHE_GUARDED_BY(mutex_);
};

class RocksdbKind final : public EngineKind {
 public:
  nlohmann::json describe() const override {
    return {{"name", "rocksdb"},
            {"version", fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)},
            {"block_bytes", kBlockBytes},
            {"compression", "none"},
            {"direct_io", true},
            {"bloom_bits_per_key", kBloomBitsPerKey},
            {"write_ahead_log", "on, not synced"}};
  }

  nvcache::Status load(const std::string& directory, uint64_t count, const SortedRecord& record,
                       uint32_t threads, std::function<void(uint64_t)> progress) override {
    std::unique_ptr<::rocksdb::DB> db;
    if (nvcache::Status status = open_db(directory, base_options(nullptr), true, &db);
        !status.ok()) {
      return status;
    }
    auto files = BulkLoader(directory, count, record, std::move(progress)).run(threads);
    if (!files.ok()) return files.status();
    // Files in key order that overlap nothing go straight to the last level.
    ::rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    if (auto status = db->IngestExternalFile(*files, ingest); !status.ok()) {
      return to_status("load", status);
    }
    return to_status("load", db->Close());
  }

  nvcache::Status clone(const std::string& from, const std::string& to) override {
    std::unique_ptr<::rocksdb::DB> db;
    if (nvcache::Status status = open_db(from, base_options(nullptr), false, &db); !status.ok()) {
      return status;
    }
    ::rocksdb::Checkpoint* made = nullptr;
    if (auto status = ::rocksdb::Checkpoint::Create(db.get(), &made); !status.ok()) {
      return to_status("checkpoint", status);
    }
    const std::unique_ptr<::rocksdb::Checkpoint> checkpoint(made);
    if (auto status = checkpoint->CreateCheckpoint(to); !status.ok()) {
      return to_status("checkpoint", status);
    }
    return to_status("checkpoint", db->Close());
  }

  StatusOr<std::unique_ptr<KvEngine>> open(const EngineOptions& options) override {
    if (!options.settings.empty()) {
      return invalid_argument("rocksdb: '{}': settings are WiredTiger's alone", options.settings);
    }
    std::shared_ptr<::rocksdb::SecondaryCache> secondary;
    std::shared_ptr<BlockCache> tier = options.tier;
    if (tier == nullptr) {
      auto opened = open_tier(options.tier_spec);
      if (!opened.ok()) return opened.status();
      tier = *std::move(opened);
    }
    if (tier != nullptr) {
      const auto status = rocksdb::NewSecondaryCache({.cache = tier}, &secondary);
      if (!status.ok()) return to_status("second tier", status);
    }
    ::rocksdb::LRUCacheOptions lru;
    lru.capacity = options.dram_cache_bytes;
    lru.secondary_cache = secondary;
    ::rocksdb::Options db_options = base_options(::rocksdb::NewLRUCache(lru));
    db_options.statistics = ::rocksdb::CreateDBStatistics();
    db_options.statistics->set_stats_level(::rocksdb::StatsLevel::kExceptTimers);
    if (tier != nullptr) db_options.listeners.push_back(rocksdb::NewDatasetSizeListener(tier));
    std::unique_ptr<::rocksdb::DB> db;
    if (nvcache::Status status = open_db(options.directory, db_options, false, &db); !status.ok()) {
      return status;
    }
    if (tier != nullptr) tier->set_dataset_size(live_bytes(db.get()));
    return std::make_unique<RocksdbEngine>(std::move(db), std::move(tier), db_options.statistics);
  }

 private:
  static nvcache::Status open_db(const std::string& directory, ::rocksdb::Options options,
                                 bool create, std::unique_ptr<::rocksdb::DB>* db) {
    options.create_if_missing = create;
    ::rocksdb::DB* opened = nullptr;
    const auto status = ::rocksdb::DB::Open(options, directory, &opened);
    db->reset(opened);
    if (status.IsInvalidArgument() && status.ToString().find("irect I/O") != std::string::npos) {
      return failed_precondition_error(fmt::format(
          "the file system of {} has no direct I/O: choose a --db on a disk", directory));
    }
    return to_status("open", status);
  }

  static uint64_t live_bytes(::rocksdb::DB* db) {
    uint64_t size_bytes = 0;
    db->GetIntProperty(::rocksdb::DB::Properties::kLiveSstFilesSize, &size_bytes);
    return size_bytes;
  }
};

}  // namespace

std::unique_ptr<EngineKind> make_rocksdb_kind() { return std::make_unique<RocksdbKind>(); }

}  // namespace nvcache
