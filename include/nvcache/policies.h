// Policies of your own: add one by a name, and each specification in this process may use it,
// "admission=obp(0.1)+mine(3)&eviction=yours". No change to nvcache is needed.
//
//   nvcache::policy_registry().add(nvcache::EvictionKind{
//       .name = "mine", .usage = "mine", .make = [](auto, uint32_t max_slots) {...}});
//
// A shared library may bring policies, too: see NVCACHE_POLICY_LIBRARY. `nvcache replay --policies`
// loads such libraries and shows what their policies are worth on a trace. An example:
// examples/own_policies.cc. The suites in nvcache/contracts/ test what each policy has to promise.
//
// A policy that breaks its promises harms no engine: its exceptions are caught, and a victim that
// may not leave is not evicted. This check costs a call more than nvcache's own policies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nvcache/admission_policy.h"
#include "nvcache/eviction_policy.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The arguments between a policy's parentheses: {"3", "x"} of "mine(3, x)". Valid during the call.
using PolicyArguments = std::span<const std::string_view>;

// How admission policies of a name are made. `make` is called for each cache that is opened, and to
// check specifications, at any time and from any thread. It returns INVALID_ARGUMENT for arguments
// that it does not understand: the message should name what was given and what is allowed.
struct AdmissionKind {
  std::string name;   // lower-case letters, digits and '_', a letter first: "mine"
  std::string usage;  // every way to write it, for error messages: "mine, mine(TIMES)"
  std::function<StatusOr<std::unique_ptr<AdmissionPolicy>>(PolicyArguments,
                                                           const AdmissionContext&)>
      make;
};

// The same for eviction. `make` is called for each shard; `max_slots` bounds the slots that the
// shard will ever use. It is 0 where only the specification is checked.
struct EvictionKind {
  std::string name;
  std::string usage;
  std::function<StatusOr<std::unique_ptr<EvictionPolicy>>(PolicyArguments, uint32_t max_slots)>
      make;
};

// The policies that were added. They stay until the process ends. Thread-safe.
class PolicyRegistry {
 public:
  virtual ~PolicyRegistry() = default;

  // ALREADY_EXISTS if a policy of that kind has the name, nvcache's own included;
  // INVALID_ARGUMENT if the name is none, or `make` is empty.
  virtual Status add(AdmissionKind kind) = 0;
  virtual Status add(EvictionKind kind) = 0;
};

// The one that open_block_cache() and open_tiered_cache() of this process read. Never null.
PolicyRegistry& policy_registry();

}  // namespace nvcache

// In a shared library that brings policies:
//
//   NVCACHE_POLICY_LIBRARY(registry) { (void)registry.add(nvcache::EvictionKind{...}); }
//
// The program that loads the library calls it once, with a registry that keeps the statuses of
// add(). The library links Abseil, and not nvcache. The number changes with the interfaces: a
// library that was made for others is refused.
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a parameter takes none.
#define NVCACHE_POLICY_LIBRARY(registry) \
  extern "C" void nvcache_add_policies_2(nvcache::PolicyRegistry& registry)
// NOLINTEND(bugprone-macro-parentheses)
