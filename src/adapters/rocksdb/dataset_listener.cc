// Tells a BlockCache how large the databases above it are: the total size of the live table
// files of all column families of all open databases that share the listener. Updated after
// each flush, compaction and ingestion, on RocksDB's own threads, never on a reader's path, and
// when a database is closed. A cache that weighs costs is also told how long reads of table files
// take. Thread-safe.
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"

namespace nvcache::rocksdb {
namespace {

class DatasetSizeListener final : public ::rocksdb::EventListener {
 public:
  explicit DatasetSizeListener(std::shared_ptr<BlockCache> cache) : cache_(std::move(cache)) {}

  const char* Name() const override { return "nvcache.DatasetSizeListener"; }

  void OnFlushCompleted(::rocksdb::DB* db, const ::rocksdb::FlushJobInfo&) override { update(db); }
  void OnCompactionCompleted(::rocksdb::DB* db, const ::rocksdb::CompactionJobInfo&) override {
    update(db);
  }
  void OnExternalFileIngested(::rocksdb::DB* db,
                              const ::rocksdb::ExternalFileIngestionInfo&) override {
    update(db);
  }
  void OnColumnFamilyHandleDeletionStarted(::rocksdb::ColumnFamilyHandle* handle) override {
    MutexLock lock(mutex_);
    if (bytes_by_database_.erase(handle) != 0) tell();
  }

  bool ShouldBeNotifiedOnFileIO() override { return cache_->wants_storage_reads(); }
  void OnFileReadFinish(const ::rocksdb::FileOperationInfo& read) override {
    // Compaction and scans read ahead, in larger pieces.
    constexpr size_t kLargestBlockRead = 128 << 10;
    if (!read.status.ok() || read.length > kLargestBlockRead || read.duration.count() < 0) return;
    if (std::string_view(read.path).ends_with(".sst")) {
      cache_->note_storage_read(static_cast<uint64_t>(read.duration.count()));
    }
  }

 private:
  void update(::rocksdb::DB* db) {
    uint64_t bytes = 0;
    if (!db->GetAggregatedIntProperty(::rocksdb::DB::Properties::kLiveSstFilesSize, &bytes)) return;
    MutexLock lock(mutex_);
    bytes_by_database_[db->DefaultColumnFamily()] = bytes;
    tell();
  }
  // Under the lock, so that the cache never receives an older sum last.
  void tell() NVCACHE_REQUIRES(mutex_) {
    uint64_t sum = 0;
    for (const auto& [database, bytes] : bytes_by_database_) sum += bytes;
    cache_->set_dataset_size(sum);
  }

  const std::shared_ptr<BlockCache> cache_;
  Mutex mutex_;
  // By the handle that a database keeps for its default column family as long as it is open.
  std::map<const ::rocksdb::ColumnFamilyHandle*, uint64_t> bytes_by_database_
      NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<::rocksdb::EventListener> NewDatasetSizeListener(
    std::shared_ptr<BlockCache> cache) {
  return std::make_shared<DatasetSizeListener>(std::move(cache));
}

}  // namespace nvcache::rocksdb
