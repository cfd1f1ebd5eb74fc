// The figures of *NVMcached* (APSys '16) from the results of `bench nvmcached`, *NVMcached*'s
// numbers beside them where its text has any: its bars have none. Pure functions.
#pragma once

#include "nlohmann/json.hpp"

namespace nvcache::nvmcached {

// Those that the document has results for (nvmcached_run.h).
nlohmann::json make_figures(const nlohmann::json& document);

}  // namespace nvcache::nvmcached
