// Policies that applications bring (nvcache/policies.h), beside the rows of the tables. A policy
// from outside is made behind a guard: nothing that it throws gets out, and a victim that may not
// leave is none.
//
// Thread-safe. Kinds are never removed: a pointer to one stays valid.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nvcache/policies.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "spec/spec.h"

namespace nvcache {

// Adds a kind. `is_own`: one of nvcache's own policies has its name, so it is refused.
[[nodiscard]] Status add_outside(AdmissionKind kind, bool is_own);
[[nodiscard]] Status add_outside(EvictionKind kind, bool is_own);

// The kind that was added by this name; null if there is none.
const AdmissionKind* outside_admission(std::string_view name);
const EvictionKind* outside_eviction(std::string_view name);

// ", mine, mine(TIMES)" for each: what error messages add to what they allow.
std::string outside_admission_usages();
std::string outside_eviction_usages();

// Makes the policy of the kind that `member` asks for, guarded. Errors name the member, then what
// the kind said.
StatusOr<std::unique_ptr<AdmissionPolicy>> make_outside(const AdmissionKind& kind,
                                                        const SpecMember& member,
                                                        const AdmissionContext& context);
StatusOr<std::unique_ptr<EvictionPolicy>> make_outside(const EvictionKind& kind,
                                                       const SpecMember& member,
                                                       uint32_t max_slots);

}  // namespace nvcache
