#include "spec/spec.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

constexpr size_t kShownChars = 80;
constexpr std::string_view kGrammar = "allowed: NAME or NAME(ARGUMENT,...)";

// Cuts the next member off `rest`: up to a '+' that stands outside parentheses.
std::string_view cut_member(std::string_view& rest, bool& more) {
  bool inside = false;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '(') inside = true;
    if (rest[i] == ')') inside = false;
    if (rest[i] != '+' || inside) continue;
    const std::string_view member = rest.substr(0, i);
    rest.remove_prefix(i + 1);
    more = true;
    return member;
  }
  more = false;
  return rest;
}

StatusOr<SpecMember> parse_member(std::string_view what, std::string_view text) {
  SpecMember member;
  member.text = strip(text);
  const size_t open = member.text.find('(');
  member.name = strip(member.text.substr(0, open));
  if (member.name.empty()) {
    return bad_member(what, member, fmt::format("no name given; {}", kGrammar));
  }
  if (open == std::string_view::npos) return member;
  if (member.text.find(')') != member.text.size() - 1) {
    return bad_member(what, member, fmt::format("no ')' at its end; {}", kGrammar));
  }
  member.inside = member.text.substr(open + 1, member.text.size() - open - 2);
  if (member.inside.find('(') != std::string_view::npos) {
    return bad_member(what, member, fmt::format("parentheses do not nest; {}", kGrammar));
  }
  member.inside = strip(member.inside);
  if (member.inside.empty()) return member;
  size_t start = 0;
  for (size_t comma = 0; comma != std::string_view::npos; start = comma + 1) {
    comma = member.inside.find(',', start);
    member.arguments.push_back(strip(member.inside.substr(start, comma - start)));
  }
  return member;
}

}  // namespace

StatusOr<std::vector<SpecMember>> parse_spec(std::string_view what, std::string_view spec) {
  std::vector<SpecMember> members;
  std::string_view rest = spec;
  for (bool more = true; more;) {
    StatusOr<SpecMember> member = parse_member(what, cut_member(rest, more));
    if (!member.ok()) return member.status();
    members.push_back(*std::move(member));
  }
  return members;
}

StatusOr<std::pair<size_t, SpecMember>> parse_only_member(std::string_view what,
                                                          std::string_view spec,
                                                          std::span<const std::string_view> names,
                                                          std::string_view allowed) {
  StatusOr<std::vector<SpecMember>> members = parse_spec(what, spec);
  if (!members.ok()) {
    return invalid_argument("{}; policies allowed: {}", members.status().message(), allowed);
  }
  SpecMember& member = members->front();
  const auto name = std::find(names.begin(), names.end(), member.name);
  if (name == names.end()) {
    return bad_member(what, member, fmt::format("not known; allowed: {}", allowed));
  }
  if (members->size() > 1) {
    return invalid_argument("{} '{}': {} policies given; allowed: {}", what, shown(spec),
                            members->size(), allowed);
  }
  return std::pair(static_cast<size_t>(name - names.begin()), std::move(member));
}

Status bad_member(std::string_view what, const SpecMember& member, std::string_view problem) {
  return invalid_argument("{} member '{}': {}", what, shown(member.text), problem);
}

Status check_argument_count(std::string_view what, const SpecMember& member, size_t most,
                            std::string_view allowed) {
  if (member.arguments.size() <= most) return ok_status();
  return bad_member(
      what, member,
      fmt::format("{} argument(s) given; allowed: {}", member.arguments.size(), allowed));
}

Status check_no_arguments(std::string_view what, const SpecMember& member) {
  return check_argument_count(what, member, 0, member.name);
}

StatusOr<double> only_number(std::string_view what, const SpecMember& member,
                             const OnlyNumber& number) {
  const Status arguments = check_argument_count(
      what, member, 1, fmt::format("{0} or {0}({1})", member.name, number.name));
  if (!arguments.ok()) return arguments;
  if (member.arguments.empty()) return number.fallback;
  StatusOr<double> given =
      parse_number(number.name, shown(member.arguments[0]), number.least, number.most);
  if (!given.ok()) return bad_member(what, member, given.status().message());
  return given;
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kShownChars)) {
    if (c >= 0x20 && c < 0x7f) {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > kShownChars ? out + "..." : out;
}

std::string exact_number(double value) {
  std::array<char, 400> digits;  // the longest finite double below 1 has 17 digits behind 323 zeros
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::string(digits.data(), end) : fmt::format("{}", value);
}

std::string exact_size(uint64_t size_bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (size_bytes != 0 && size_bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    size_bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", size_bytes, kUnits[unit]);
}

}  // namespace nvcache
