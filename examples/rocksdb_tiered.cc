// nvcache as RocksDB's whole block cache: objects in DRAM, colder blocks on a larger memory.
#include <nvcache/rocksdb.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <iostream>
#include <string>

int main() {
  rocksdb::BlockBasedTableOptions table;
  std::shared_ptr<nvcache::TieredCache> cache;
  rocksdb::Status status = nvcache::rocksdb::NewTieredCache(
      {.spec = "tiered://?policy=bidirectional(4)&dram=1MiB&tier=(size=64MiB,medium=dram)"},
      &table.block_cache, &cache);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  table.cache_index_and_filter_blocks = true;  // they stay in DRAM
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "nvcache_rocksdb_tiered";
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
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      std::string value;
      db->Get({}, "key" + std::to_string(i), &value);
      wrong += value != std::string(400, static_cast<char>('a' + i % 26));
    }
  }
  const nvcache::TieredStats stats = cache->stats();
  std::cout << "hit ratio: " << stats.hit_ratio()
            << ", hits in the lower tier: " << stats.tiers[1].hits << ", wrong values: " << wrong
            << "\n";
  delete db;
  rocksdb::DestroyDB(path.string(), options);
  return wrong == 0 && stats.tiers[1].hits > 0 ? 0 : 1;
}
