// A database and its tier, from opening to closing; what tests of restarts share.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "test_db.h"

namespace nvcache::rocksdb::testing {

enum class Face { kSecondary, kPersistent };

// Both faces' caches of a specification, as RocksDB gets them.
inline Caches open_face(Face face, const std::string& spec, std::shared_ptr<BlockCache>* cache) {
  Caches caches;
  const CacheOptions options{.spec = spec};
  EXPECT_ROCKS_OK(face == Face::kPersistent ? NewPersistentCache(options, &caches.persistent, cache)
                                            : NewSecondaryCache(options, &caches.secondary, cache));
  return caches;
}

class DatabaseLife {
 public:
  DatabaseLife(Face face, const std::string& db_path, const std::string& spec) {
    const Caches caches = open_face(face, spec, &cache_);
    db_ = std::make_unique<TestDb>(db_path, db_options(caches));
  }

  TestDb& db() { return *db_; }
  BlockCache& tier() { return *cache_; }
  Stats stats() const { return cache_->stats(); }

  void wait_for_recovery() const {
    while (cache_->stats().recovering != 0) std::this_thread::yield();
  }

 private:
  std::shared_ptr<BlockCache> cache_;  // the database goes first
  std::unique_ptr<TestDb> db_;
};

}  // namespace nvcache::rocksdb::testing
