// Checks of sizes that engines share. Stateless.
#pragma once

#include <cstdint>
#include <string_view>

#include "nvcache/status.h"

namespace nvcache::simulate {

inline constexpr uint64_t kMaxBytes = uint64_t{1} << 44;
inline constexpr uint64_t kFewestBlocks = 64;  // of a scaled cache: fewer say little

// INVALID_ARGUMENT names the option, what was given and what is allowed.
[[nodiscard]] Status check_size(std::string_view option, uint64_t bytes, uint64_t least,
                                uint64_t most);

}  // namespace nvcache::simulate
