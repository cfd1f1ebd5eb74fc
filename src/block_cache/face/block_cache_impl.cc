#include "block_cache/face/block_cache_impl.h"

#include <utility>

namespace nvcache {

StatusOr<std::unique_ptr<BlockCacheImpl>> BlockCacheImpl::make(const Config& config,
                                                               std::unique_ptr<Medium> medium,
                                                               Clock& clock) {
  StatusOr<std::unique_ptr<AdmissionPolicy>> admission = AdmissionControl::policy_of(config);
  if (!admission.ok()) return admission.status();
  std::unique_ptr<BlockCacheImpl> cache(
      new BlockCacheImpl(config, std::move(medium), clock, *std::move(admission)));
  if (Status status = cache->store_.open(); !status.ok()) return status;
  return cache;
}

// The token is read after the miss, and before the caller reads its storage: an erase from now on
// makes it worthless, an earlier one cannot matter.
Lookup BlockCacheImpl::lookup(const BlockKey& key, const LookupOptions& options) {
  const uint64_t hash = store_.hash_of(key);
  uint32_t slot = 0;
  Lookup found = store_.find(hash, key, options, &slot);
  if (!found.hit()) found.token = store_.token_of(hash);
  return found;
}

void BlockCacheImpl::lookup_all(std::span<BlockLookup> lookups) {
  store_.find_all(lookups);
  for (BlockLookup& each : lookups) {
    if (!each.result.hit()) each.result.token = store_.token_of(store_.hash_of(each.key));
  }
}

Admission BlockCacheImpl::admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                                MissToken token) {
  const uint64_t hash = store_.hash_of(key);
  const Verdict verdict = store_.judge(hash, key, size_bytes, origin);
  if (!verdict.admitted()) return Admission(verdict);
  // Without a token of the caller's, an erase from now on refuses the block.
  if (!token.checked) token = store_.token_of(hash);
  return Admission(*this, {.key = key, .key_hash = hash, .size_bytes = size_bytes, .token = token});
}

Verdict BlockCacheImpl::commit(const Admission::Offer& offer, ByteView block) {
  if (block.size() != offer.size_bytes) return store_.refuse(Reason::kBadSize);
  return store_.enter(offer.key_hash, offer.key, block, store_.since(offer.key_hash, offer.token));
}

}  // namespace nvcache
