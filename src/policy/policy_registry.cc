// The registry that programs add policies to. It knows the names that are taken: those of the
// tables, and those that were added.
#include <algorithm>
#include <utility>

#include "base/never_destroyed.h"
#include "nvcache/policies.h"
#include "policy/admission/table.h"
#include "policy/eviction/table.h"
#include "policy/outside/outside.h"

namespace nvcache {
namespace {

template <typename Table>
bool has_policy(const Table& table, std::string_view name) {
  return std::ranges::any_of(table, [name](const auto& row) { return row.name == name; });
}

class Registry final : public PolicyRegistry {
 public:
  Status add(AdmissionKind kind) override {
    const bool is_own = has_policy(kAdmissionPolicies, kind.name);
    return add_outside(std::move(kind), is_own);
  }
  Status add(EvictionKind kind) override {
    const bool is_own = has_policy(kEvictionPolicies, kind.name);
    return add_outside(std::move(kind), is_own);
  }
};

}  // namespace

PolicyRegistry& policy_registry() {
  static NeverDestroyed<Registry> registry;
  return *registry;
}

}  // namespace nvcache
