// Stands between the cache and a policy that the application brought, so that a mistake of the
// policy harms no engine. It catches what the policy throws, takes verdicts for refusals if their
// reason does not exist, and names no victim that may not leave. A mistake costs the effect
// of that one call.
//
// Cost: one virtual call more. Threads: as the policy behind it.
#pragma once

#include <memory>

#include "nvcache/admission_policy.h"
#include "nvcache/eviction_policy.h"

namespace nvcache {

std::unique_ptr<AdmissionPolicy> guard(std::unique_ptr<AdmissionPolicy> policy);
std::unique_ptr<EvictionPolicy> guard(std::unique_ptr<EvictionPolicy> policy);

}  // namespace nvcache
