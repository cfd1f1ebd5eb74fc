// Tells a cache which table files are gone, so that their blocks leave it. RocksDB says at a
// deletion only the path. The prefix of its blocks' keys comes from the file's properties:
// of each file when it is created or ingested, and of the inputs of a compaction when it begins,
// for files that were there before the database was opened. RocksDB's own threads note that; a
// thread of the listener makes the passes over the cache's metadata, one for all files that were
// deleted during a pass, and rests nine times as long as a pass took: a tenth of a core at most.
//
// Memory: LiveFiles.
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/rocksdb/file_key.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/live_files.h"
#include "base/background_thread.h"
#include "base/mutex.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"

namespace nvcache::rocksdb {
namespace {

class DeletedFilesListener final : public ::rocksdb::EventListener {
 public:
  // `erase` drops the blocks of files; it does nothing once the cache is gone.
  using Erase = std::function<void(std::span<const uint64_t>)>;

  explicit DeletedFilesListener(Erase erase)
      : erase_(std::move(erase)),
        thread_({.name = "nvcache-deleted", .interval_seconds = kLookSeconds, .round = [this] {
                   return erase_deleted(), false;
                 }}) {}

  static constexpr const char* kName = "nvcache.DeletedFilesListener";
  const char* Name() const override { return kName; }

  void OnTableFileCreated(const ::rocksdb::TableFileCreationInfo& info) override {
    if (info.status.ok()) note(info.file_path, info.table_properties);
  }
  void OnExternalFileIngested(::rocksdb::DB*,
                              const ::rocksdb::ExternalFileIngestionInfo& info) override {
    note(info.internal_file_path, info.table_properties);
  }
  void OnCompactionBegin(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) override {
    for (const auto& [path, properties] : info.table_properties) {
      if (properties != nullptr) note(path, *properties);
    }
  }
  void OnTableFileDeleted(const ::rocksdb::TableFileDeletionInfo& info) override {
    if (!info.status.ok()) return;
    {
      MutexLock lock(mutex_);
      const std::optional<uint64_t> gone = live_.remove(info.file_path);
      if (!gone) return;
      try {
        deleted_.push_back(*gone);
      } catch (const std::bad_alloc&) {  // they leave by eviction
      }
    }
    if (thread_.start()) thread_.wake();
  }

  void note(const std::string& path, const ::rocksdb::TableProperties& properties) {
    const std::optional<uint64_t> file = file_of(properties);
    if (!file) return;
    MutexLock lock(mutex_);
    try {
      live_.add(path, *file);
    } catch (const std::bad_alloc&) {  // its blocks leave by eviction
    }
  }

 private:
  using Time = std::chrono::steady_clock;

  static constexpr double kLookSeconds = 0.5;  // how often a rest that is over is seen

  void erase_deleted() {
    if (Time::now() < rests_until_) return;
    std::vector<uint64_t> files;
    {
      MutexLock lock(mutex_);
      files.swap(deleted_);
    }
    if (files.empty()) return;
    const Time::time_point begin = Time::now();
    erase_(files);
    const Time::time_point end = Time::now();
    rests_until_ = end + 9 * (end - begin);
  }

  const Erase erase_;
  Mutex mutex_;
  LiveFiles live_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<uint64_t> deleted_ NVCACHE_GUARDED_BY(mutex_);
  Time::time_point rests_until_;  // the thread's own
  BackgroundThread thread_;       // the last: it stops first
};

}  // namespace

std::shared_ptr<::rocksdb::EventListener> NewDeletedFilesListener(
    const std::shared_ptr<BlockCache>& cache) {
  return std::make_shared<DeletedFilesListener>(
      [weak = std::weak_ptr(cache)](std::span<const uint64_t> files) {
        const std::shared_ptr<BlockCache> alive = weak.lock();
        if (alive == nullptr) return;
        std::vector<uint64_t> of_both_forms;
        for (const Form form : kForms) {
          for (const uint64_t file : files) {
            of_both_forms.push_back(file ^ static_cast<uint64_t>(form));
          }
        }
        (void)alive->erase(Blocks{.files = of_both_forms}, Gone::kMayReturn);
      });
}

std::shared_ptr<::rocksdb::EventListener> NewDeletedFilesListener(
    const std::shared_ptr<TieredCache>& cache) {
  return std::make_shared<DeletedFilesListener>(
      [weak = std::weak_ptr(cache)](std::span<const uint64_t> files) {
        if (const auto alive = weak.lock()) alive->erase_gone_files(files);
      });
}

// A file that is deleted in between stays noted.
::rocksdb::Status NoteTableFiles(::rocksdb::EventListener& listener, ::rocksdb::DB& db,
                                 ::rocksdb::ColumnFamilyHandle* family) {
  // By name: RocksDB may be built without type information.
  if (std::string_view(listener.Name()) != DeletedFilesListener::kName) {
    return ::rocksdb::Status::InvalidArgument(
        "listener",
        std::string(listener.Name()) + " given; allowed: one of NewDeletedFilesListener()");
  }
  ::rocksdb::TablePropertiesCollection tables;
  ::rocksdb::Status status = db.GetPropertiesOfAllTables(family, &tables);
  auto& known = static_cast<DeletedFilesListener&>(listener);
  for (const auto& [path, properties] : tables) known.note(path, *properties);
  return status;
}

}  // namespace nvcache::rocksdb
