// A tiered cache as an engine's own cache interface manages it: TieredCacheControl.
#include "tiered_cache/tiered_cache_impl.h"

namespace nvcache {

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

void TieredCacheImpl::for_each(absl::FunctionRef<void(std::string_view key, const Object&)> visit) {
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
