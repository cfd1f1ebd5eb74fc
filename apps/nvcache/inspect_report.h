// What `nvcache inspect` found, as tables for a terminal (at most 100 columns) and as JSON. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "block_cache/region/inspect.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

struct InspectedMedium {
  std::string path;
  std::string users;  // who has it open; empty if nothing is seen
  Inspection found;
};

// `files`: how many of the largest to list. `regions`: a line for each that holds something.
std::string inspection_text(const InspectedMedium& medium, uint32_t files, bool regions);

// Every kind of damage, as one sentence; empty if the medium is whole.
std::string damage_text(const Inspection& found);

// A document of the kind "inspection", with all files and all regions that hold something.
nlohmann::json inspection_json(const InspectedMedium& medium);

}  // namespace nvcache
