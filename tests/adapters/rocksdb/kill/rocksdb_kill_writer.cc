// Reads and writes a RocksDB database over a cache until it is killed, and writes a byte for each
// so many operations to standard output. See rocksdb_kill_test.cc.
// Usage: nvcache_rocksdb_writer FOLDER secondary|persistent SEED right|unlogged|misnamed
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/rocksdb/restart_settings.h"
#include "base/mutex.h"
#include "base/prng.h"
#include "block_cache/face/open_config.h"
#include "kill_shared.h"
#include "rocksdb/listener.h"

namespace nvcache::rocksdb::testing {
namespace {

constexpr uint64_t kOperationsPerByte = 64;

class CountingListener final : public ::rocksdb::EventListener {
 public:
  explicit CountingListener(KillShared& shared) : shared_(shared) {}
  void OnFlushCompleted(::rocksdb::DB*, const ::rocksdb::FlushJobInfo&) override {
    ++shared_.flushes;
  }
  void OnCompactionCompleted(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo&) override {
    ++shared_.compactions;
  }

 private:
  KillShared& shared_;
};

// A fault: each block is offered under the key of the one before it.
class MisnamingCache final : public BlockCache {
 public:
  explicit MisnamingCache(std::unique_ptr<BlockCache> cache) : cache_(std::move(cache)) {}

  Lookup lookup(const BlockKey& key, const LookupOptions& options) override {
    return cache_->lookup(key, options);
  }
  Admission admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                  MissToken token) override {
    BlockKey before = key;
    {
      const MutexLock lock(mutex_);
      std::swap(before, before_);
    }
    return cache_->admit(before, size_bytes, origin, token);
  }
  bool contains(const BlockKey& key) const override { return cache_->contains(key); }
  StatusOr<uint64_t> erase_blocks(const Blocks& blocks, Gone gone) override {
    return cache_->erase(blocks, gone);
  }
  nvcache::Status resize(uint64_t size_bytes) override { return cache_->resize(size_bytes); }
  void set_dataset_size(uint64_t size_bytes) override { cache_->set_dataset_size(size_bytes); }
  void drain() override { cache_->drain(); }
  Stats stats() const override { return cache_->stats(); }

 private:
  const std::unique_ptr<BlockCache> cache_;
  Mutex mutex_;
  BlockKey before_ NVCACHE_GUARDED_BY(mutex_) = {1, 1};
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(1);
}

struct Job {
  KillShared& shared;
  ::rocksdb::DB* db = nullptr;
  uint64_t seed = 0;
  bool logs = true;  // false, a fault: what RocksDB acknowledged may be lost
  bool writes = true;
  bool verifies = true;  // what it reads
};

void write_next(const Job& job, uint32_t key) {
  const uint32_t version = job.shared.begun[key].fetch_add(1) + 1;
  ::rocksdb::WriteOptions options;
  options.disableWAL = !job.logs;
  const ::rocksdb::Status status =
      job.db->Put(options, key_of(static_cast<int>(key)), value_of(static_cast<int>(key), version));
  if (!status.ok()) fail("put: " + status.ToString());
  job.shared.promised[key].store(version);
}

void read_one(const Job& job, uint32_t key) {
  const uint32_t promised = job.shared.promised[key].load();
  std::string value;
  const ::rocksdb::Status status = job.db->Get({}, key_of(static_cast<int>(key)), &value);
  if (!job.verifies || job.shared.is_right(key, status, value, promised)) return;
  ++job.shared.wrong_reads;
  fail("a wrong value of key " + std::to_string(key) + ": " + status.ToString());
}

void work_forever(const Job& job, uint32_t thread) {
  Prng random(mix64(job.seed + thread));
  for (uint64_t done = 1;; ++done) {
    const auto key = static_cast<uint32_t>(random.below(kKillKeys));
    if (job.writes && random.below(5) == 0) {
      write_next(job, key - key % kKillThreads + thread);
    } else {
      read_one(job, key);
    }
    if (done % kOperationsPerByte == 0 && ::write(STDOUT_FILENO, ".", 1) != 1) std::_Exit(2);
  }
}

Caches open_caches(const std::string& folder, bool persistent, bool misnamed) {
  CacheOptions options{.spec = kill_spec(folder)};
  if (misnamed) {
    auto opened = open_block_cache(config_with_restart(options.spec).value());
    if (!opened.ok()) fail(opened.status().to_string());
    options.cache = std::make_shared<MisnamingCache>(*std::move(opened));
  }
  Caches caches;
  const ::rocksdb::Status status = persistent ? NewPersistentCache(options, &caches.persistent)
                                              : NewSecondaryCache(options, &caches.secondary);
  if (!status.ok()) fail("cache: " + status.ToString());
  return caches;
}

int run(char** arguments) {
  const std::string folder = arguments[1];
  const std::string_view mode = arguments[4];
  KillShared& shared = map_kill_shared(folder);
  ::rocksdb::Options options = kill_options(
      open_caches(folder, std::string_view(arguments[2]) == "persistent", mode == "misnamed"));
  options.listeners.push_back(std::make_shared<CountingListener>(shared));
  options.disable_auto_compactions = mode == "misnamed";  // they would write wrong files
  std::unique_ptr<::rocksdb::DB> db;
  const ::rocksdb::Status status = open_db(options, folder + "/db", &db);
  if (!status.ok()) fail("open: " + status.ToString());
  const Job job{.shared = shared,
                .db = db.get(),
                .seed = std::strtoull(arguments[3], nullptr, 10),
                .logs = mode != "unlogged",
                .writes = mode != "misnamed",
                .verifies = mode == "right"};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kKillThreads; ++thread) {
    threads.emplace_back([&job, thread] { work_forever(job, thread); });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace nvcache::rocksdb::testing

int main(int count, char** arguments) {
  if (count != 5) return 64;
  return nvcache::rocksdb::testing::run(arguments);
}
