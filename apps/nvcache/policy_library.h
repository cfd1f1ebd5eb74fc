// Loads shared libraries that bring policies (NVCACHE_POLICY_LIBRARY of nvcache/policies.h).
// Caller-locked: call it before threads make caches.
#pragma once

#include <string>

#include "nvcache/status.h"

namespace nvcache {

// Loads the library at `path` and adds its policies to policy_registry(). The library stays loaded.
// INVALID_ARGUMENT names the library, and what failed: it is none, it brings no policies or those
// of other interfaces, or one of its policies cannot be added.
[[nodiscard]] Status load_policy_library(const std::string& path);

}  // namespace nvcache
