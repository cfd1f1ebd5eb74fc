// Our numbers that are simulated, by id: they come before those of scaled runs. Stateless.
#pragma once

#include <string>

#include "experiments/reproduce/rows.h"

namespace nvcache::reproduce {

// Puts its simulated source before the others of a row that has one.
void add_simulated_source(Row& row);

// The Memory Mode text's open question, as far as simulations answer it: how much throughput varies
// in the second half of a run. [{"workload", "nvram_gb", "memory_mode", "nvcache"}], both as the
// standard deviation over the mean; empty without simulations.
nlohmann::json memory_mode_spread(const Evidence& evidence);

}  // namespace nvcache::reproduce
