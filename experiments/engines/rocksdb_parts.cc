#include "experiments/engines/rocksdb_parts.h"

#include <bit>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "medium/profiles.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"

namespace nvcache {
namespace {

constexpr double kBloomBitsPerKey = 10;
constexpr double kHighPriorityRatio = 0.5;  // RocksDB's and the tiered cache's default

StatusOr<RocksdbCache> open_lru(std::string_view spec) {
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
      return invalid_argument("{}: unknown setting '{}'; allowed are size, shards", spec, key);
    }
  }
  if (lru.capacity == 0) return invalid_argument("{}: size is missing, e.g. lru:size=64MiB", spec);
  return RocksdbCache{::rocksdb::NewLRUCache(lru), nullptr};
}

}  // namespace

nvcache::Status to_status(const char* what, const ::rocksdb::Status& status) {
  if (status.ok()) return ok_status();
  const std::string message = fmt::format("rocksdb: {}: {}", what, status.ToString());
  if (status.IsNotFound()) return not_found_error(message);
  if (status.IsCorruption()) return data_loss_error(message);
  if (status.IsNoSpace()) return resource_exhausted_error(message);
  if (status.IsInvalidArgument()) return invalid_argument_error(message);
  return internal_error(message);
}

::rocksdb::Options rocksdb_options(const RocksdbShape& shape,
                                   std::shared_ptr<::rocksdb::Cache> cache, bool index_in_cache) {
  ::rocksdb::BlockBasedTableOptions table;
  table.block_size = shape.block_bytes;
  table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.cache_index_and_filter_blocks = index_in_cache;
  table.no_block_cache = cache == nullptr;
  table.block_cache = std::move(cache);
  ::rocksdb::Options options;
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  options.compression = ::rocksdb::kNoCompression;
  options.use_direct_reads = shape.direct;
  options.use_direct_io_for_flush_and_compaction = shape.direct;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_background_jobs = 2;
  options.write_buffer_size = shape.write_buffer_bytes;
  options.target_file_size_base = shape.file_bytes;
  options.stats_dump_period_sec = 0;
  options.info_log_level = ::rocksdb::WARN_LEVEL;
  return options;
}

nvcache::Status open_rocksdb(const ::rocksdb::Options& options, const std::string& directory,
                             std::unique_ptr<::rocksdb::DB>* db) {
  ::rocksdb::DB* opened = nullptr;
  const auto status = ::rocksdb::DB::Open(options, directory, &opened);
  db->reset(opened);
  if (status.IsInvalidArgument() && status.ToString().find("irect I/O") != std::string::npos) {
    return failed_precondition_error(
        fmt::format("the file system of {} has no direct I/O, which reads of a disk need: choose a "
                    "--db on a disk",
                    directory));
  }
  return to_status("open", status);
}

StatusOr<RocksdbCache> open_rocksdb_cache(const std::string& spec) {
  if (spec.starts_with("lru:")) return open_lru(spec);
  if (!spec.starts_with("tiered://")) {
    return invalid_argument("'{}': rocksdb's own caches are lru:size=SIZE[,shards=N] and tiered://",
                            spec);
  }
  RocksdbCache opened;
  const auto status = rocksdb::NewTieredCache({.spec = spec}, &opened.cache, &opened.tiered);
  if (!status.ok()) return to_status("tiered cache", status);
  return opened;
}

StatusOr<std::shared_ptr<rocksdb::EmulatedStorage>> open_rocksdb_storage(const std::string& name) {
  std::optional<Profile> profile;
  double load = 1;
  if (name != "disk") {
    const auto [kind, of] = split_once(name, ':');
    const auto [which, option] = split_once(of, ',');
    const auto [key, value] = split_once(option, '=');
    const Profile* found = kind == "emulated" ? find_profile(which) : nullptr;
    if (found == nullptr || (!option.empty() && key != "load")) {
      return invalid_argument(
          "--storage {}: allowed are disk and emulated:PROFILE[,load=N], PROFILE one of {}", name,
          profile_names());
    }
    if (!option.empty()) {
      const auto number = parse_number("load", value, 1, rocksdb::kMaxStorageLoad);
      if (!number.ok()) return invalid_argument("--storage: {}", number.status().message());
      load = *number;
    }
    profile = *found;
  }
  return std::make_shared<rocksdb::EmulatedStorage>(profile, ::rocksdb::FileSystem::Default(),
                                                    rocksdb::sleeping_clock(), load);
}

}  // namespace nvcache
