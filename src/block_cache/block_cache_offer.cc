// Offers to the block cache: whether a block may come in. No lock is held while a policy of the
// whole cache is asked; the shard's own policy is asked under the shard's lock.
#include <atomic>
#include <optional>

#include "base/hash.h"
#include "block_cache/block_cache_impl.h"

namespace nvcache {

Admission BlockCacheImpl::admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                                MissToken token) {
  const uint64_t hash = hash_key(key, config_.seed);
  const Verdict verdict = judge(hash, key, size_bytes, origin);
  if (!verdict.admitted()) return Admission(verdict);
  // Without a token of the caller's, an erase from now on refuses the block.
  if (!token.checked) token = token_of(hash);
  return Admission(*this, {.key = key, .key_hash = hash, .size_bytes = size_bytes, .token = token});
}

Verdict BlockCacheImpl::commit(const Admission::Offer& offer, ByteView block) {
  if (block.size() != offer.size_bytes) return refuse(Reason::kBadSize);
  return enter(offer.key_hash, offer.key, block, generation_of(offer.key_hash),
               offer.token.generation);
}

Verdict BlockCacheImpl::put_if(const BlockKey& key, ByteView block, Origin origin,
                               const std::atomic<uint32_t>& generation,
                               std::optional<uint32_t> expected) {
  const uint64_t hash = hash_key(key, config_.seed);
  const Verdict verdict = judge(hash, key, block.size(), origin);
  return verdict.admitted() ? enter(hash, key, block, generation, expected) : verdict;
}

Verdict BlockCacheImpl::judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes,
                              Origin origin) {
  if (size_bytes == 0 || size_bytes > kMaxBlockBytes) return refuse(Reason::kBadSize);
  if (!space_->can_hold(static_cast<uint32_t>(size_bytes))) return refuse(Reason::kNoSpace);
  if (!health_.open()) return refuse(Reason::kMediumFailed);
  if (dead_files_.has(key.file)) return refuse(Reason::kStaleToken);
  Shard& shard = shard_of(hash);
  if (shard.contains(hash, key)) return refuse(Reason::kDuplicate);
  const auto asked_bytes = static_cast<uint32_t>(size_bytes);
  const bool worth_it = shard.offer(hash, asked_bytes);
  const Verdict verdict =
      admission_->admit({.key = key, .key_hash = hash, .size_bytes = asked_bytes, .origin = origin},
                        traffic_for_admission());
  if (!verdict.admitted()) return refuse(verdict.reason);
  if (!worth_it) return refuse(Reason::kLessUsed);
  return health_.may_access() ? verdict : refuse(Reason::kMediumFailed);
}

}  // namespace nvcache
