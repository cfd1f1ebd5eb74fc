// The grammar that admission, eviction and placement specifications share:
//
//   spec     = member { '+' member }
//   member   = NAME [ '(' [ argument { ',' argument } ] ')' ]
//
// White space around names and arguments is ignored. Parentheses do not nest. Any bytes are
// accepted as input. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Views into the specification that was parsed.
struct SpecMember {
  std::string_view text;                    // "obp(0.1,window)"
  std::string_view name;                    // "obp"
  std::string_view inside;                  // "0.1,window": the text between the parentheses
  std::vector<std::string_view> arguments;  // {"0.1", "window"}; "()" and no parentheses: none
};

// `what` names the kind of specification in errors: "admission", "eviction".
[[nodiscard]] StatusOr<std::vector<SpecMember>> parse_spec(std::string_view what,
                                                           std::string_view spec);

// INVALID_ARGUMENT "admission member 'obp(x)': <problem>".
Status bad_member(std::string_view what, const SpecMember& member, std::string_view problem);

// OK if the member has at most `most` arguments. The error says what is `allowed`.
[[nodiscard]] Status check_argument_count(std::string_view what, const SpecMember& member,
                                          size_t most, std::string_view allowed);

// A number that is a member's only argument, and optional.
struct OnlyNumber {
  std::string_view name;  // "PERIOD"
  double fallback = 0;    // if no number is given
  double least = 0;
  double most = 0;
};

// The number that the member gives. INVALID_ARGUMENT says what was given and what is allowed.
[[nodiscard]] StatusOr<double> only_number(std::string_view what, const SpecMember& member,
                                           const OnlyNumber& number);

// The number, in `names`, of the only member of a specification, and the member. INVALID_ARGUMENT
// says what is `allowed` where there is another, or more than one.
[[nodiscard]] StatusOr<std::pair<size_t, SpecMember>> parse_only_member(
    std::string_view what, std::string_view spec, std::span<const std::string_view> names,
    std::string_view allowed);

// OK if the member has no arguments. The error says that only its name is allowed.
[[nodiscard]] Status check_no_arguments(std::string_view what, const SpecMember& member);

// Makes text safe for an error message: escapes it to printable ASCII, cuts it to 80 characters.
std::string shown(std::string_view text);

// The shortest decimal number that parse_number() reads back as the same value.
std::string exact_number(double value);

// A size that parse_size_bytes() reads back as the same value: "16GiB", "1000".
std::string exact_size(uint64_t size_bytes);

}  // namespace nvcache
