#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "apps/command/interrupt.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/emulated_storage.h"
#include "experiments/hybrid_cache/profile_store.h"
#include "medium/profiles.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"

namespace nvcache {
namespace {

constexpr size_t kBlockBytes = 16 << 10;          // ATC '21, 4.1.1
constexpr uint64_t kSstBytes = 16ull << 20;       // small, as the databases are
constexpr size_t kWriteBufferBytes = 4ull << 20;  // likewise: some flushes in a short run
constexpr double kBloomBitsPerKey = 10;
constexpr double kHighPriorityRatio = 0.5;  // RocksDB's and the tiered cache's default
constexpr uint64_t kInterruptCheckRows = 4096;

::rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const ::rocksdb::Slice& text) { return {text.data(), text.size()}; }

nvcache::Status to_status(const char* what, const ::rocksdb::Status& status) {
  if (status.ok()) return ok_status();
  const std::string message = fmt::format("rocksdb: {}: {}", what, status.ToString());
  if (status.IsNotFound()) return not_found_error(message);
  if (status.IsCorruption()) return data_loss_error(message);
  if (status.IsNoSpace()) return resource_exhausted_error(message);
  if (status.IsInvalidArgument()) return invalid_argument_error(message);
  return internal_error(message);
}

::rocksdb::Options base_options(std::shared_ptr<::rocksdb::Cache> cache, bool index_in_cache) {
  ::rocksdb::BlockBasedTableOptions table;
  table.block_size = kBlockBytes;
  table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.cache_index_and_filter_blocks = index_in_cache;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.no_block_cache = cache == nullptr;
  table.block_cache = std::move(cache);
  ::rocksdb::Options options;
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  options.compression = ::rocksdb::kNoCompression;
  options.level_compaction_dynamic_level_bytes = true;
  options.write_buffer_size = kWriteBufferBytes;
  options.target_file_size_base = kSstBytes;
  options.max_background_jobs = 2;
  options.stats_dump_period_sec = 0;
  options.info_log_level = ::rocksdb::WARN_LEVEL;
  return options;
}

struct OpenedCache {
  std::shared_ptr<::rocksdb::Cache> cache;
  std::shared_ptr<TieredCache> tiered;  // null for a stock LRUCache
};

StatusOr<OpenedCache> open_lru(std::string_view spec) {
  ::rocksdb::LRUCacheOptions lru;
  lru.high_pri_pool_ratio = kHighPriorityRatio;
  lru.capacity = 0;
  std::string_view rest = spec.substr(spec.find(':') + 1);
  while (!rest.empty()) {
    const auto [pair, more] = split_once(rest, ',');
    rest = more;
    const auto [key, value] = split_once(pair, '=');
    if (key == "size") {
      const auto size = parse_size_bytes(value);
      if (!size.ok()) return invalid_argument("{}: size: {}", spec, size.status().message());
      lru.capacity = *size;
    } else if (key == "shards") {
      const auto shards = parse_number("shards", value, 1, 1 << 16);
      if (!shards.ok()) return invalid_argument("{}: {}", spec, shards.status().message());
      lru.num_shard_bits = static_cast<int>(std::bit_width(static_cast<uint32_t>(*shards))) - 1;
    } else {
      return invalid_argument("{}: '{}' is no key; allowed are size, shards", spec, key);
    }
  }
  if (lru.capacity == 0) return invalid_argument("{}: size is missing, e.g. lru:size=64MiB", spec);
  return OpenedCache{::rocksdb::NewLRUCache(lru), nullptr};
}

StatusOr<OpenedCache> open_cache(const std::string& spec) {
  if (spec.starts_with("lru:")) return open_lru(spec);
  OpenedCache opened;
  const auto status = rocksdb::NewTieredCache({.spec = spec}, &opened.cache, &opened.tiered);
  if (!status.ok()) return to_status("tiered cache", status);
  return opened;
}

StatusOr<std::shared_ptr<rocksdb::EmulatedStorage>> open_storage(const std::string& name) {
  std::optional<Profile> profile;
  double load = 1;
  if (name != "disk") {
    const auto [kind, of] = split_once(name, ':');
    const auto [which, option] = split_once(of, ',');
    const auto [key, value] = split_once(option, '=');
    const Profile* found = kind == "emulated" || kind == "modelled" ? find_profile(which) : nullptr;
    if (found == nullptr || (!option.empty() && key != "load")) {
      return invalid_argument(
          "--storage {}: allowed are disk and emulated:PROFILE[,load=N], PROFILE one of {}", name,
          profile_names());
    }
    if (!option.empty()) {
      const auto number = parse_number("load", value, 1, rocksdb::EmulatedStorageOptions::kMaxLoad);
      if (!number.ok()) return invalid_argument("--storage: {}", number.status().message());
      load = *number;
    }
    profile = *found;
  }
  return std::make_shared<rocksdb::EmulatedStorage>(profile, ::rocksdb::FileSystem::Default(),
                                                    rocksdb::sleeping_clock(), load);
}

nvcache::Status open_one(const ::rocksdb::Options& options, const std::string& directory,
                         std::unique_ptr<::rocksdb::DB>* db) {
  ::rocksdb::DB* opened = nullptr;
  const auto status = ::rocksdb::DB::Open(options, directory, &opened);
  db->reset(opened);
  if (status.IsInvalidArgument() && status.ToString().find("irect I/O") != std::string::npos) {
    return failed_precondition_error(
        fmt::format("the file system of {} has no direct I/O, which --storage disk needs: choose a "
                    "--db on a disk",
                    directory));
  }
  return to_status("open", status);
}

class RocksdbStore final : public ProfileStore {
 public:
  explicit RocksdbStore(OpenedCache cache) : cache_(std::move(cache)) {}

  nvcache::Status open(const StoreOptions& options) {
    auto storage = open_storage(options.storage);
    if (!storage.ok()) return storage.status();
    storage_ = *std::move(storage);
    env_ = ::rocksdb::NewCompositeEnv(storage_);
    ::rocksdb::Options db_options = base_options(cache_.cache, options.index_in_cache);
    db_options.env = env_.get();
    db_options.use_direct_reads = options.storage == "disk";
    statistics_ = ::rocksdb::CreateDBStatistics();
    statistics_->set_stats_level(::rocksdb::StatsLevel::kExceptHistogramOrTimers);
    db_options.statistics = statistics_;
    for (uint32_t i = 0; i < options.databases; ++i) {
      const std::string directory = fmt::format("{}/{}", options.directory, i);
      databases_.emplace_back();
      nvcache::Status status = open_one(db_options, directory, &databases_.back());
      if (!status.ok()) return status;
    }
    return ok_status();
  }

  nvcache::Status get(uint32_t database, std::string_view key, std::string* value) override {
    return to_status("get", databases_[database]->Get(read_, slice(key), value));
  }

  nvcache::Status put(uint32_t database, std::string_view key, std::string_view value) override {
    return to_status("put", databases_[database]->Put(write_, slice(key), slice(value)));
  }

  nvcache::Status seek(uint32_t database, std::string_view first_key, uint32_t rows,
                       const RowVisitor& visit) override {
    const std::unique_ptr<::rocksdb::Iterator> row(databases_[database]->NewIterator(read_));
    row->Seek(slice(first_key));
    for (uint32_t i = 0; i < rows && row->Valid(); ++i, row->Next()) {
      nvcache::Status status = visit(view(row->key()), view(row->value()));
      if (!status.ok()) return status;
    }
    return to_status("seek", row->status());
  }

  StoreMetrics metrics() const override {
    const auto ticker = [&](::rocksdb::Tickers name) { return statistics_->getTickerCount(name); };
    StoreMetrics metrics;
    metrics.data_hits = ticker(::rocksdb::BLOCK_CACHE_DATA_HIT);
    metrics.data_misses = ticker(::rocksdb::BLOCK_CACHE_DATA_MISS);
    metrics.compaction_bytes =
        ticker(::rocksdb::COMPACT_READ_BYTES) + ticker(::rocksdb::COMPACT_WRITE_BYTES);
    metrics.stall_us = ticker(::rocksdb::STALL_MICROS);
    if (cache_.tiered != nullptr) {
      metrics.tiers = nlohmann::json::parse(cache_.tiered->stats().to_json(), nullptr, false);
    }
    return metrics;
  }

  StorageReads take_storage_reads() override {
    rocksdb::StorageStats stats = storage_->take_stats();
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
  // The databases go first, then the cache that holds their blocks.
  std::shared_ptr<rocksdb::EmulatedStorage> storage_;
  std::unique_ptr<::rocksdb::Env> env_;
  OpenedCache cache_;
  std::shared_ptr<::rocksdb::Statistics> statistics_;
  std::vector<std::unique_ptr<::rocksdb::DB>> databases_;
};

// Writes one database's SST files in the order of its keys, and hands them over.
class Loader {
 public:
  Loader(const ProfileRecords& records, uint64_t keys, uint64_t version,
         const std::function<void(uint64_t)>& progress)
      : records_(records), keys_(keys), version_(version), progress_(progress) {}

  nvcache::Status load(const std::string& directory, uint32_t database) {
    ::rocksdb::Options options = base_options(nullptr, false);
    options.create_if_missing = true;
    std::unique_ptr<::rocksdb::DB> db;
    if (nvcache::Status status = open_one(options, directory, &db); !status.ok()) return status;
    std::vector<std::string> files;
    for (uint64_t from = 0; from < keys_;) {
      files.push_back(fmt::format("{}/load-{:05}.sst", directory, files.size()));
      auto next = write_file(options, files.back(), database, from);
      if (!next.ok()) return next.status();
      from = *next;
    }
    // Files in key order that overlap nothing go straight to the last level.
    ::rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    if (auto status = db->IngestExternalFile(files, ingest); !status.ok()) {
      return to_status("load", status);
    }
    return to_status("load", db->Close());
  }

 private:
  // Writes pairs from `from` on until the file is full; the first that is not in it.
  StatusOr<uint64_t> write_file(const ::rocksdb::Options& options, const std::string& path,
                                uint32_t database, uint64_t from) {
    ::rocksdb::SstFileWriter writer(::rocksdb::EnvOptions(options), options);
    if (auto status = writer.Open(path); !status.ok()) return to_status("load", status);
    std::string key;
    std::string value;
    uint64_t at = from;
    for (; at < keys_ && (at == from || writer.FileSize() < kSstBytes); ++at) {
      records_.key(at, &key);
      records_.value(database, at, version_, key, &value);
      if (auto status = writer.Put(key, value); !status.ok()) return to_status("load", status);
      if (at % kInterruptCheckRows != 0) continue;
      if (nvcache::Status status = check_not_interrupted(); !status.ok()) return status;
      progress_(kInterruptCheckRows);
    }
    if (auto status = writer.Finish(); !status.ok()) return to_status("load", status);
    return at;
  }

  const ProfileRecords& records_;
  const uint64_t keys_;
  const uint64_t version_;
  const std::function<void(uint64_t)>& progress_;
};

}  // namespace

nvcache::Status check_store(const std::string& cache, const std::string& storage) {
  if (const auto opened = open_storage(storage); !opened.ok()) return opened.status();
  return open_cache(cache).status();
}

nvcache::Status load_store(const std::string& directory, const ProfileRecords& records,
                           uint32_t databases, uint64_t keys, uint64_t version,
                           const std::function<void(uint64_t loaded)>& progress) {
  std::atomic<uint64_t> loaded{0};
  std::atomic<uint32_t> next{0};
  const std::function<void(uint64_t)> add = [&](uint64_t rows) {
    progress(loaded.fetch_add(rows, std::memory_order_relaxed) + rows);
  };
  Mutex mutex;
  nvcache::Status failure;
  const auto work = [&] {
    for (uint32_t i = next++; i < databases; i = next++) {
      const nvcache::Status status =
          Loader(records, keys, version, add).load(fmt::format("{}/{}", directory, i), i);
      if (status.ok()) continue;
      next = databases;  // no use going on
      MutexLock lock(mutex);
      if (failure.ok()) failure = status;
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, 4u); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) thread.join();
  return failure;
}

StatusOr<std::unique_ptr<ProfileStore>> open_store(const StoreOptions& options) {
  auto cache = open_cache(options.cache);
  if (!cache.ok()) return cache.status();
  auto store = std::make_unique<RocksdbStore>(*std::move(cache));
  if (nvcache::Status status = store->open(options); !status.ok()) return status;
  return store;
}

nlohmann::json describe_store() {
  return {{"name", "rocksdb"},
          {"version", fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)},
          {"block_bytes", kBlockBytes},
          {"file_bytes", kSstBytes},
          {"compression", "none"},
          {"bloom_bits_per_key", kBloomBitsPerKey},
          {"write_ahead_log", "on, not synced"}};
}

}  // namespace nvcache
