// The eviction policies that make_eviction() looks up by name. Each checks its
// own arguments. Thread-safety: see eviction_policy.h.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "policy/eviction/eviction_policy.h"
#include "spec/spec.h"

namespace nvcache {

using EvictionOr = absl::StatusOr<std::unique_ptr<EvictionPolicy>>;

EvictionOr make_none(const SpecMember& member, uint32_t max_slots);
EvictionOr make_lru(const SpecMember& member, uint32_t max_slots);
EvictionOr make_clock(const SpecMember& member, uint32_t max_slots);
EvictionOr make_lfru(const SpecMember& member, uint32_t max_slots);
EvictionOr make_s3fifo(const SpecMember& member, uint32_t max_slots);
EvictionOr make_tinylfu(const SpecMember& member, uint32_t max_slots);

inline constexpr std::string_view kEviction = "eviction";

}  // namespace nvcache
