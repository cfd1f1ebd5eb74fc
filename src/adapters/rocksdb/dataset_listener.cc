// Tells a BlockCache how large the databases above it are: the total size of the live table
// files of all column families of all databases that share the listener. Updated after
// each flush, compaction and ingestion, on RocksDB's own threads, never on a reader's path.
// Thread-safe.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
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

 private:
  void update(::rocksdb::DB* db) {
    uint64_t bytes = 0;
    if (!db->GetAggregatedIntProperty(::rocksdb::DB::Properties::kLiveSstFilesSize, &bytes)) return;
    MutexLock lock(mutex_);
    // By name, so that a reopened database replaces its old size.
    bytes_by_database_[db->GetName()] = bytes;
    uint64_t sum = 0;
    for (const auto& [name, size] : bytes_by_database_) sum += size;
    // Under the lock, so that the cache never receives an older sum last.
    cache_->set_dataset_size(sum);
  }

  const std::shared_ptr<BlockCache> cache_;
  Mutex mutex_;
  std::map<std::string, uint64_t> bytes_by_database_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<::rocksdb::EventListener> NewDatasetSizeListener(
    std::shared_ptr<BlockCache> cache) {
  return std::make_shared<DatasetSizeListener>(std::move(cache));
}

}  // namespace nvcache::rocksdb
