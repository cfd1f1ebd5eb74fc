// Policies that applications bring (nvcache/policies.h), beside the rows of the tables. A policy
// from outside is made behind a guard: nothing that it throws gets out, and a victim that may not
// leave is none.
//
// Thread-safe. Kinds are never removed: a pointer to one stays valid.
#pragma once

#include <string>
#include <string_view>

#include "nvcache/policies.h"
#include "nvcache/status_or.h"
#include "spec/spec.h"

namespace nvcache {

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
