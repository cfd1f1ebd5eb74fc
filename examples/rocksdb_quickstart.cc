// nvcache as the second tier below RocksDB's block cache.
#include <nvcache/rocksdb.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/secondary_cache.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <iostream>
#include <string>

int main() {
  std::shared_ptr<rocksdb::SecondaryCache> secondary;
  std::shared_ptr<nvcache::BlockCache> cache;
  rocksdb::Status status = nvcache::rocksdb::NewSecondaryCache(
      {.spec = "nvcache://?size=64MiB&admission=always&eviction=clock", .cache = nullptr},
      &secondary, &cache);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  rocksdb::LRUCacheOptions lru;
  lru.capacity = 1 << 20;
  lru.secondary_cache = secondary;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(lru);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.listeners.push_back(nvcache::rocksdb::NewDatasetSizeListener(cache));

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "nvcache_rocksdb_quickstart";
  rocksdb::DestroyDB(path.string(), options);
  rocksdb::DB* db = nullptr;
  status = rocksdb::DB::Open(options, path.string(), &db);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  for (int i = 0; i < 20'000; ++i) {
    db->Put({}, "key" + std::to_string(i), std::string(400, static_cast<char>('a' + i % 26)));
  }
  db->Flush({});
  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      std::string value;
      db->Get({}, "key" + std::to_string(i), &value);
      wrong += value != std::string(400, static_cast<char>('a' + i % 26));
    }
  }
  const nvcache::Stats stats = cache->stats();
  std::cout << "hit ratio of the second tier: " << stats.hit_ratio() << ", wrong values: " << wrong
            << "\n";
  delete db;
  rocksdb::DestroyDB(path.string(), options);
  return wrong == 0 && stats.hits > 0 ? 0 : 1;
}
