#include "policy/outside/outside.h"

#include <algorithm>
#include <exception>
#include <forward_list>
#include <utility>

#include "base/mutex.h"
#include "base/never_destroyed.h"
#include "base/text.h"
#include "policy/outside/policy_guard.h"
#include "policy/parts/policy_table.h"

namespace nvcache {
namespace {

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 64 && letter(name[0]) && std::ranges::all_of(name, other);
}

// The kinds of one sort of policy. They do not move in a list, and an empty list holds no memory
// that a library which is unloaded would leave behind.
template <typename Kind>
class Kinds {
 public:
  Status add(std::string_view sort, Kind kind, bool is_own) {
    if (!is_name(kind.name)) {
      return invalid_argument(
          "{} policy '{}' added; allowed: a name of lower-case letters, digits and '_', a letter "
          "first, of at most 64",
          sort, shown(kind.name));
    }
    if (kind.make == nullptr) {
      return invalid_argument("{} policy '{}' added without a function that makes it", sort,
                              kind.name);
    }
    MutexLock lock(mutex_);
    if (is_own || find_locked(kind.name) != nullptr) {
      return already_exists_error(
          fmt::format("{} policy '{}' added; there is one of this name", sort, kind.name));
    }
    if (kind.usage.empty()) kind.usage = kind.name;
    kinds_.push_front(std::move(kind));
    return ok_status();
  }

  const Kind* find(std::string_view name) const {
    MutexLock lock(mutex_);
    return find_locked(name);
  }

  std::string usages() const {
    MutexLock lock(mutex_);
    std::string joined;
    for (const Kind& kind : kinds_) joined.append(", ").append(shown(kind.usage));
    return joined;
  }

 private:
  const Kind* find_locked(std::string_view name) const NVCACHE_REQUIRES(mutex_) {
    const auto found = std::ranges::find(kinds_, name, &Kind::name);
    return found == kinds_.end() ? nullptr : &*found;
  }

  mutable Mutex mutex_;
  std::forward_list<Kind> kinds_ NVCACHE_GUARDED_BY(mutex_);
};

struct OutsidePolicies {
  Kinds<AdmissionKind> admissions;
  Kinds<EvictionKind> evictions;
};

OutsidePolicies& outside_policies() {
  static NeverDestroyed<OutsidePolicies> policies;
  return *policies;
}

template <typename Policy, typename Kind, typename Context>
StatusOr<std::unique_ptr<Policy>> make_guarded(std::string_view sort, const Kind& kind,
                                               const SpecMember& member, const Context& context) {
  const auto not_made = [&](StatusCode code, std::string_view why) {
    return Status(code, fmt::format("{} member '{}': {}", sort, shown(member.text), why));
  };
  try {
    StatusOr<std::unique_ptr<Policy>> policy = kind.make(member.arguments, context);
    if (!policy.ok()) return not_made(policy.status().code(), policy.status().message());
    if (*policy != nullptr) return guard(*std::move(policy));
  } catch (const std::exception& problem) {
    return not_made(StatusCode::kInternal, shown(problem.what()));
  } catch (...) {
    return not_made(StatusCode::kInternal, "its factory threw");
  }
  return not_made(StatusCode::kInternal, "its factory made nothing");
}

}  // namespace

Status add_outside(AdmissionKind kind, bool is_own) {
  return outside_policies().admissions.add(kAdmission, std::move(kind), is_own);
}

Status add_outside(EvictionKind kind, bool is_own) {
  return outside_policies().evictions.add(kEviction, std::move(kind), is_own);
}

const AdmissionKind* outside_admission(std::string_view name) {
  return outside_policies().admissions.find(name);
}

const EvictionKind* outside_eviction(std::string_view name) {
  return outside_policies().evictions.find(name);
}

std::string outside_admission_usages() { return outside_policies().admissions.usages(); }

std::string outside_eviction_usages() { return outside_policies().evictions.usages(); }

StatusOr<std::unique_ptr<AdmissionPolicy>> make_outside(const AdmissionKind& kind,
                                                        const SpecMember& member,
                                                        const AdmissionContext& context) {
  return make_guarded<AdmissionPolicy>(kAdmission, kind, member, context);
}

StatusOr<std::unique_ptr<EvictionPolicy>> make_outside(const EvictionKind& kind,
                                                       const SpecMember& member,
                                                       uint32_t max_slots) {
  return make_guarded<EvictionPolicy>(kEviction, kind, member, max_slots);
}

}  // namespace nvcache
