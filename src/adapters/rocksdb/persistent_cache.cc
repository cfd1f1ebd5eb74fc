#include "adapters/rocksdb/persistent_cache.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "adapters/rocksdb/caller.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/open.h"
#include "block_cache/api/stats_text.h"

namespace nvcache::rocksdb {

using ::rocksdb::Slice;
using ::rocksdb::Status;

PersistentCache::PersistentCache(std::shared_ptr<BlockCache> cache) : cache_(std::move(cache)) {}

Status PersistentCache::Insert(const Slice& key, const char* data, size_t size) try {
  BlockKey block_key;
  if (!parse_key(key, Form::kRaw, &block_key)) {
    return Status::NotSupported("nvcache: cache keys are 16 bytes");
  }
  const Verdict verdict =
      cache_->put(block_key, {reinterpret_cast<const std::byte*>(data), size}, Origin::kRead);
  // No message: refusals are common, and a message is an allocation.
  const bool present = verdict.admitted() || verdict.reason == Reason::kDuplicate;
  return present ? Status::OK() : Status::TryAgain();
} catch (const std::bad_alloc&) {  // for a message
  return Status::MemoryLimit();
}

Status PersistentCache::Lookup(const Slice& key, std::unique_ptr<char[]>* data, size_t* size) {
  BlockKey block_key;
  if (!parse_key(key, Form::kRaw, &block_key)) return Status::NotFound();
  const nvcache::Lookup lookup = cache_->lookup(block_key, {.caller = current_caller()});
  if (!lookup.hit()) return Status::NotFound();
  const ByteView block = lookup.pin.bytes();
  data->reset(new (std::nothrow) char[block.size()]);
  if (*data == nullptr) return Status::NotFound();  // RocksDB then reads the disk
  std::memcpy(data->get(), block.data(), block.size());
  *size = block.size();
  return Status::OK();
}

PersistentCache::StatsType PersistentCache::Stats() try {
  std::map<std::string, double> tier;
  visit_metrics(cache_->stats(),
                [&](std::string_view name, double value) { tier.emplace(name, value); });
  return {std::move(tier)};
} catch (const std::bad_alloc&) {
  return {};
}

std::string PersistentCache::GetPrintableOptions() const try {
  return printable_options(*cache_);
} catch (const std::bad_alloc&) {
  return {};
}

Status NewPersistentCache(const CacheOptions& options,
                          std::shared_ptr<::rocksdb::PersistentCache>* persistent,
                          std::shared_ptr<BlockCache>* opened) try {
  StatusOr<std::shared_ptr<BlockCache>> cache = open_from(options);
  if (!cache.ok()) return to_rocksdb(cache.status());
  *persistent = std::make_shared<PersistentCache>(*cache);
  if (opened != nullptr) *opened = *std::move(cache);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace nvcache::rocksdb
