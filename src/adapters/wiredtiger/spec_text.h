// Cache specifications as WiredTiger's configuration writes them.
#pragma once

#include <string>
#include <string_view>

namespace nvcache {

// Turns WiredTiger's way to write lists into a specification, for programs that cannot quote
// (wtperf). `text` is the list with its brackets:
//   (size=1GiB,medium=[file:/x,io=direct],admission=[small_bypass=8GiB,obp=[0.1,window]])
// is size=1GiB&medium=file:/x,io=direct&admission=small_bypass(8GiB)+obp(0.1,window).
std::string spec_of_list(std::string_view text);

// The specification as the extension uses it: empty if it asks for size 0; with verify=always
// unless it says otherwise, since WiredTiger panics on a damaged block.
std::string complete_cache_spec(std::string spec);

}  // namespace nvcache
