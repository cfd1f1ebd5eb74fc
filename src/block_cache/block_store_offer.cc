// Offers to the block store: whether a block may come in. No lock is held while a policy of the
// whole cache is asked; the shard's own policy is asked under the shard's lock.
#include "block_cache/block_store.h"

namespace nvcache {

Verdict BlockStore::put(const BlockKey& key, ByteView block, Origin origin,
                        const Freshness& fresh) {
  const uint64_t hash = hash_of(key);
  const Verdict verdict = judge(hash, key, block.size(), origin);
  return verdict.admitted() ? enter(hash, key, block, fresh) : verdict;
}

Verdict BlockStore::judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin) {
  if (size_bytes == 0 || size_bytes > kMaxBlockBytes) return refuse(Reason::kBadSize);
  if (!space_->can_hold(static_cast<uint32_t>(size_bytes))) return refuse(Reason::kNoSpace);
  if (health_.off() && !may_be_probe()) [[unlikely]]
    return refuse(Reason::kMediumFailed);
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
  return verdict;
}

}  // namespace nvcache
