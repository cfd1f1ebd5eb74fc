// The cache that WiredTiger's configuration asks for: a specification, or a list in WiredTiger's
// own way to write them, for programs that cannot quote (wtperf).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "block_cache/api/config.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The settings of a list, with its brackets, as specifications write them:
//   (size=1GiB,medium=[file:/x,io=direct],admission=[small_bypass=8GiB,obp=[0.1,window]])
// is size=1GiB, medium=file:/x,io=direct and admission=small_bypass(8GiB)+obp(0.1,window).
std::vector<std::string> settings_of_list(std::string_view list);

// The cache as the extension uses it: none for an empty text and for size=0; with verify=always
// unless it says otherwise, since WiredTiger panics on a damaged block. INVALID_ARGUMENT as
// parse_config().
[[nodiscard]] StatusOr<std::optional<Config>> read_cache(std::string_view spec);
[[nodiscard]] StatusOr<std::optional<Config>> read_cache_list(std::string_view list);

}  // namespace nvcache
