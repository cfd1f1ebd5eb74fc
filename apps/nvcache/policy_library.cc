#include "apps/nvcache/policy_library.h"

#include <dlfcn.h>

#include <exception>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "nvcache/policies.h"

namespace nvcache {
namespace {

constexpr const char* kEntryPoint = "nvcache_add_policies_2";

// Adds to the registry of the process, and keeps the first status that is not OK.
class StatusKeeper final : public PolicyRegistry {
 public:
  Status add(AdmissionKind kind) override { return keep(std::move(kind)); }
  Status add(EvictionKind kind) override { return keep(std::move(kind)); }

  Status first_problem = ok_status();
  int added = 0;

 private:
  template <typename Kind>
  Status keep(Kind kind) {
    Status status = policy_registry().add(std::move(kind));
    ++added;
    if (first_problem.ok()) first_problem = status;
    return status;
  }
};

Status problem_with(const std::string& path, std::string_view problem) {
  return invalid_argument("policies of '{}': {}", path, problem);
}

}  // namespace

Status load_policy_library(const std::string& path) {
  // A name without '/' is looked for in the folders of the system: a file beside the user is meant.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return problem_with(path, dlerror());
  void* const entry = dlsym(library, kEntryPoint);
  if (entry == nullptr) {
    return problem_with(path,
                        "it has no function nvcache_add_policies_2; allowed: a library with "
                        "NVCACHE_POLICY_LIBRARY of this version's nvcache/policies.h");
  }
  StatusKeeper registry;
  try {
    reinterpret_cast<void (*)(PolicyRegistry&)>(entry)(registry);
  } catch (const std::exception& thrown) {
    return problem_with(path, thrown.what());
  } catch (...) {
    return problem_with(path, "it threw");
  }
  if (!registry.first_problem.ok()) return problem_with(path, registry.first_problem.message());
  if (registry.added == 0) return problem_with(path, "it adds no policy");
  return ok_status();
}

}  // namespace nvcache
