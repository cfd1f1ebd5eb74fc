// A tiered cache as an engine's own cache interface manages it: TieredCacheControl, and what
// concerns all its blocks.
#include <algorithm>
#include <string>
#include <vector>

#include "tiered_cache/tiered_cache_impl.h"
#include "tiered_cache/tiered_key.h"

namespace nvcache {

// The lower tiers first: they refuse what leaves the first tier meanwhile.
void TieredCacheImpl::erase_gone_files(std::span<const uint64_t> files) {
  for (const auto& tier : lower_) tier->erase_gone_files(files);
  std::vector<uint64_t> sorted(files.begin(), files.end());
  std::ranges::sort(sorted);
  std::vector<std::string> gone;
  for_each([&](std::string_view key, const Object&) {
    BlockKey block_key;
    if (parse_block_key(key, &block_key) && std::ranges::binary_search(sorted, block_key.file)) {
      gone.emplace_back(key);
    }
  });
  for (const std::string& key : gone) {
    const uint64_t hash = hash_object_key(key);
    RemovedEntries removed;
    (void)objects_.shard_of(hash).replace(key, hash, {}, &removed);
  }
}

void TieredCacheImpl::set_capacity(size_t bytes) {
  {
    RemovedEntries removed;
    objects_.set_capacity(bytes, &removed);
  }
  if (queue_ != nullptr) queue_->drain();
}

FirstTierUse TieredCacheImpl::use() const {
  const ObjectShard::Use use = objects_.use();
  const size_t used_bytes = use.charged_bytes + use.visiting_bytes;
  return {.used_bytes = used_bytes,
          .pinned_bytes = use.pinned_bytes,
          .objects = use.entries,
          .buckets = use.buckets};
}

void TieredCacheImpl::for_each(FunctionRef<void(std::string_view key, const Object&)> visit) {
  objects_.for_each([&](ObjectEntry* entry) { visit(entry->key(), entry->object); },
                    [this](ObjectEntry* entry) { release(entry); });
}

void TieredCacheImpl::erase_unreferenced() {
  {
    RemovedEntries removed;
    objects_.erase_idle(&removed);
  }
  if (queue_ != nullptr) queue_->clear();
  for (const auto& tier : lower_) tier->clear();
}

void TieredCacheImpl::drain() {
  if (queue_ != nullptr) queue_->drain();
  for (const auto& tier : lower_) tier->drain();
}

}  // namespace nvcache
