// Shared by the tables of policies. A table has one row for each policy: its name, how to write
// it, an example, and its factory. Whatever lists policies asks the table: the parser, its error
// messages, the contract suites, the fuzzers' dictionary, the check of the documentation.
//
// A row is a struct with at least these members:
//   std::string_view name;     "lfru"
//   std::string_view usage;    every way to write it: "lfru, lfru(WINDOW_SECONDS)"
//   std::string_view example;  a specification that makes one: "lfru"
//   (a function pointer) make; takes the SpecMember first, returns nvcache::StatusOr
//
// Thread-safe: pure functions over constants.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace nvcache {

// The sorts of policies that may come from outside, in errors.
inline constexpr std::string_view kAdmission = "admission";
inline constexpr std::string_view kEviction = "eviction";

// "none, lru, lfru, lfru(WINDOW_SECONDS)": what an error message allows.
template <typename Table>
std::string usages(const Table& table) {
  std::string joined;
  for (const auto& row : table) joined.append(joined.empty() ? "" : ", ").append(row.usage);
  return joined;
}

// Makes the only policy that `spec` names. `what` names the kind of specification in errors, and
// `more` what they allow beside the table. INVALID_ARGUMENT says what was given and is allowed.
template <typename Table, typename... Arguments>
auto make_only_policy(std::string_view what, std::string_view spec, const Table& table,
                      std::string_view more, Arguments... arguments)
    -> decltype(table[0].make(SpecMember(), arguments...)) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  const auto member = parse_only_member(what, spec, names, "one of " + usages(table).append(more));
  if (!member.ok()) return member.status();
  return table[member->first].make(member->second, arguments...);
}

}  // namespace nvcache
