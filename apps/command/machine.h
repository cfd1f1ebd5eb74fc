// The facts that a reader needs about the machine that made a figure. Leaves out the host name.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace nvcache {

// {"cpu", "cores", "memory_bytes", "kernel"}; fields that cannot be read are left out.
nlohmann::json machine_facts();

// The current time, "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace nvcache
