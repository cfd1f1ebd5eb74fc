// Makes eviction policies from specifications. Each policy is a file of this folder and a row of
// table.h, or comes from outside (policy/outside). The interface: nvcache/eviction_policy.h.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "nvcache/eviction_policy.h"
#include "nvcache/status_or.h"

namespace nvcache {

class SharedLearning;

// The cache that a policy is made for. By default enough to check a specification.
struct EvictionContext {
  uint32_t max_slots = 0;  // bounds the slots that the shard will ever use
  // The learning that the shards of a cache share. Null: the shard learns alone.
  std::shared_ptr<SharedLearning> learning = nullptr;
};

// For the shards of one cache.
std::shared_ptr<SharedLearning> make_shared_learning();

// Makes the policy that `spec` names, for one shard. INVALID_ARGUMENT names what was given and what
// is allowed.
[[nodiscard]] StatusOr<std::unique_ptr<EvictionPolicy>> make_eviction(
    std::string_view spec, const EvictionContext& context);

}  // namespace nvcache
