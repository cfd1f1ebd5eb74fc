// The grammar that admission and eviction specifications share:
//
//   spec     = member { '+' member }
//   member   = NAME [ '(' [ argument { ',' argument } ] ')' ]
//
// White space around names and arguments is ignored; parentheses do not nest.
// Any bytes may be given. Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace nvcache {

// Views into the specification that was parsed.
struct SpecMember {
  std::string_view text;                    // "obp(0.1,window)"
  std::string_view name;                    // "obp"
  std::string_view inside;                  // "0.1,window": what stands between the parentheses
  std::vector<std::string_view> arguments;  // {"0.1", "window"}; "()" and no parentheses: none
};

// `what` names the kind of specification in errors: "admission", "eviction".
[[nodiscard]] absl::StatusOr<std::vector<SpecMember>> parse_spec(std::string_view what,
                                                                 std::string_view spec);

// INVALID_ARGUMENT "admission member 'obp(x)': <problem>".
absl::Status bad_member(std::string_view what, const SpecMember& member, std::string_view problem);

// OK if the member has no more than `most` arguments; else says what is `allowed`.
[[nodiscard]] absl::Status check_argument_count(std::string_view what, const SpecMember& member,
                                                size_t most, std::string_view allowed);

// Text as it may be shown in an error: escaped to printable ASCII, cut to 80 characters.
std::string shown(std::string_view text);

// The shortest decimal number that parse_number() reads back as the same value.
std::string exact_number(double value);

// A size that parse_size_bytes() reads back as the same value: "16GiB", "1000".
std::string exact_size(uint64_t size_bytes);

}  // namespace nvcache
