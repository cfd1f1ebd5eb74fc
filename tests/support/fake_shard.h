// A shard without a cache for nvcache's own eviction policies, by their specification.
// Threads: see PolicyShard.
#pragma once

#include <string_view>

#include "nvcache/contracts/policy_shard.h"
#include "policy/eviction/make_eviction.h"

namespace nvcache {

class FakeShard : public PolicyShard {
 public:
  FakeShard(std::string_view spec, const EvictionContext& context)
      : PolicyShard(make_eviction(spec, context).value(), context.max_slots) {}
  FakeShard(std::string_view spec, uint32_t max_slots)
      : FakeShard(spec, EvictionContext{.max_slots = max_slots}) {}
};

}  // namespace nvcache
