#include <algorithm>
#include <thread>
#include <vector>

#include "apps/command/interrupt.h"
#include "base/mutex.h"
#include "experiments/engines/rocksdb_parts.h"
#include "fmt/format.h"
#include "rocksdb/sst_file_writer.h"

namespace nvcache {
namespace {

constexpr uint64_t kProgressPairs = 4096;

// Each thread writes the files of a range of keys.
class BulkLoader {
 public:
  BulkLoader(const RocksdbShape& shape, std::string directory, uint32_t database,
             const SortedPair& pair, const std::function<void(uint64_t)>& progress)
      : shape_(shape),
        directory_(std::move(directory)),
        database_(database),
        pair_(pair),
        progress_(progress),
        options_(rocksdb_options(shape, nullptr, false)) {}

  StatusOr<std::vector<std::string>> run(uint64_t count, uint32_t threads) {
    std::vector<std::thread> workers;
    for (uint32_t i = 0; i < threads; ++i) {
      workers.emplace_back([this, i, count, threads] {
        const nvcache::Status status =
            write_range(i, count * i / threads, count * (i + 1) / threads);
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

  // Writes pairs [from, ...) until the file is full or `to` is reached.
  StatusOr<uint64_t> write_file(const std::string& path, uint64_t from, uint64_t to) {
    ::rocksdb::SstFileWriter writer(::rocksdb::EnvOptions(options_), options_);
    if (auto status = writer.Open(path); !status.ok()) return to_status("load", status);
    std::string key;
    std::string value;
    uint64_t at = from;
    for (; at < to && (at == from || writer.FileSize() < shape_.file_bytes); ++at) {
      pair_(database_, at, &key, &value);
      if (auto status = writer.Put(key, value); !status.ok()) return to_status("load", status);
      if ((at - from) % kProgressPairs != kProgressPairs - 1) continue;
      if (nvcache::Status status = check_not_interrupted(); !status.ok()) return status;
      progress_(kProgressPairs);
    }
    if (auto status = writer.Finish(); !status.ok()) return to_status("load", status);
    return at - from;
  }

  const RocksdbShape& shape_;
  const std::string directory_;
  const uint32_t database_;
  const SortedPair& pair_;
  const std::function<void(uint64_t)>& progress_;
  const ::rocksdb::Options options_;
  Mutex mutex_;
  nvcache::Status status_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<std::string> files_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace

nvcache::Status load_rocksdb(const RocksdbShape& shape, const std::string& directory,
                             uint32_t database, uint64_t count, const SortedPair& pair,
                             uint32_t threads, const std::function<void(uint64_t)>& progress) {
  ::rocksdb::Options options = rocksdb_options(shape, nullptr, false);
  options.create_if_missing = true;
  std::unique_ptr<::rocksdb::DB> db;
  if (nvcache::Status status = open_rocksdb(options, directory, &db); !status.ok()) return status;
  auto files = BulkLoader(shape, directory, database, pair, progress).run(count, threads);
  if (!files.ok()) return files.status();
  // Files in key order that overlap nothing go straight to the last level.
  ::rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  if (auto status = db->IngestExternalFile(*files, ingest); !status.ok()) {
    return to_status("load", status);
  }
  return to_status("load", db->Close());
}

}  // namespace nvcache
