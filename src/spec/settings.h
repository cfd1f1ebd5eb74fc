// The settings of a specification as a table: typed rows, each of which reads its value into a
// configuration, prints it, and says what it allows. One table a scheme: what is read, how two
// configurations differ, and what tests hold the guide against come from its rows.
//
//   constexpr std::array<Setting<Config>, 2> kRows = {{
//       setting::size<&Config::size_bytes>("size", kLeast, kMost),
//       setting::choice<&Config::verify, kVerifyWords>("verify"),
//   }};
//
// Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "base/units.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "spec/query.h"
#include "spec/spec.h"

namespace nvcache {

template <typename Config>
struct Setting {
  std::string_view name;
  // INVALID_ARGUMENT names the setting, what was given and what is allowed.
  Status (*read)(const Setting& row, std::string_view value, Config* config) = nullptr;
  // Returns the value as it may be given again. Null if no configuration keeps it.
  std::string (*print)(const Config& config) = nullptr;
  const void* member = nullptr;  // stands for the member that it writes
  double least = 0;              // of a number, or a size in bytes
  double most = 0;
  bool repeats = false;  // may be given more than once
  // Who needs it, where most need not know of it: the guide says the same. Empty: anyone may.
  std::string_view needed_by = {};
};

// A word of a choice.
template <typename T>
struct Word {
  std::string_view word;
  T value;
};

namespace setting {

template <auto kMember>
inline constexpr char kMemberId = 0;

template <typename Config, typename T>
Config config_of(T Config::*member);
template <auto kMember>
using ConfigOf = decltype(config_of(kMember));

// A size from `low` to `high`, up to 2^53.
template <auto kMember>
constexpr auto size(std::string_view name, uint64_t low, uint64_t high) {
  using Config = ConfigOf<kMember>;
  return Setting<Config>{
      .name = name,
      .read =
          [](const Setting<Config>& row, std::string_view value, Config* config) {
            return set_size(row.name, value, static_cast<uint64_t>(row.least),
                            static_cast<uint64_t>(row.most), &(config->*kMember));
          },
      .print = [](const Config& config) { return exact_size(config.*kMember); },
      .member = &kMemberId<kMember>,
      .least = static_cast<double>(low),
      .most = static_cast<double>(high)};
}

// A number; a member that is an integer gets its whole part.
template <auto kMember>
constexpr auto number(std::string_view name, double least, double most) {
  using Config = ConfigOf<kMember>;
  return Setting<Config>{
      .name = name,
      .read =
          [](const Setting<Config>& row, std::string_view value, Config* config) {
            const StatusOr<double> read = parse_number(row.name, value, row.least, row.most);
            if (!read.ok()) return read.status();
            using T = std::remove_reference_t<decltype(config->*kMember)>;
            config->*kMember = static_cast<T>(*read);
            return ok_status();
          },
      .print =
          [](const Config& config) { return exact_number(static_cast<double>(config.*kMember)); },
      .member = &kMemberId<kMember>,
      .least = least,
      .most = most};
}

// One word of `kWords`, an array of Word.
template <auto kMember, const auto& kWords>
constexpr auto choice(std::string_view name) {
  using Config = ConfigOf<kMember>;
  return Setting<Config>{
      .name = name,
      .read =
          [](const Setting<Config>& row, std::string_view value, Config* config) {
            std::string allowed;
            for (const auto& each : kWords) {
              allowed.append(allowed.empty() ? "" : ", ").append(each.word);
              if (each.word != value) continue;
              config->*kMember = each.value;
              return ok_status();
            }
            return bad_setting(row.name, value, allowed);
          },
      .print =
          [](const Config& config) {
            for (const auto& each : kWords) {
              if (each.value == config.*kMember) return std::string(each.word);
            }
            return std::string();
          },
      .member = &kMemberId<kMember>};
}

// A row whose value is read and printed by functions of its own.
template <auto kMember>
constexpr auto own(std::string_view name,
                   Status (*read)(const Setting<ConfigOf<kMember>>& row, std::string_view value,
                                  ConfigOf<kMember>* config),
                   std::string (*print)(const ConfigOf<kMember>& config)) {
  return Setting<ConfigOf<kMember>>{
      .name = name, .read = read, .print = print, .member = &kMemberId<kMember>};
}

// The same row, printed by a function of its own.
template <typename Config>
constexpr Setting<Config> printed(Setting<Config> row, std::string (*print)(const Config& config)) {
  row.print = print;
  return row;
}

// The same row, for those alone who need it.
template <typename Config>
constexpr Setting<Config> needed(std::string_view by, Setting<Config> row) {
  row.needed_by = by;
  return row;
}

}  // namespace setting

// A whole number, in digits alone.
std::optional<uint64_t> parse_whole(std::string_view text);

// A configuration, and which of its settings were given.
template <typename Config>
class Given {
 public:
  Config values;

  bool has(std::string_view name) const {
    return std::ranges::find(rows_, name, &Setting<Config>::name) != rows_.end();
  }
  template <auto kMember>
  bool has() const {
    return std::ranges::find(rows_, &setting::kMemberId<kMember>, &Setting<Config>::member) !=
           rows_.end();
  }
  // Touches only what was not given.
  template <auto kMember, typename T>
  void set_default(T value) {
    if (!has<kMember>()) values.*kMember = std::move(value);
  }
  void note(const Setting<Config>& row) { rows_.push_back(&row); }

  // As if a user had written the value, which was not given before: it is checked by its row.
  template <auto kMember, typename T>
  [[nodiscard]] Status set(std::span<const Setting<Config>> rows, T value) {
    const auto row =
        std::ranges::find(rows, &setting::kMemberId<kMember>, &Setting<Config>::member);
    NVCACHE_ASSERT(row != rows.end() && !has<kMember>());
    values.*kMember = std::move(value);
    note(*row);
    return row->read(*row, row->print(values), &values);
  }

  // The specification that gives the same, of settings that a configuration keeps.
  std::string spec(const QueryForm& form) const {
    std::string text(form.scheme);
    char before = '?';
    for (const Setting<Config>* row : rows_) {
      const std::string value = row->print(values);
      text += std::exchange(before, '&');
      text.append(row->name).append("=").append(form.percent ? encode_percent(value) : value);
    }
    return text;
  }

 private:
  std::vector<const Setting<Config>*> rows_;
};

// Reads one `key=value`.
template <typename Config>
[[nodiscard]] Status read_setting(std::string_view pair, const QueryForm& form,
                                  std::span<const Setting<Config>> rows, Given<Config>* given) {
  const auto [name, text] = split_once(pair, '=');
  const auto row = std::ranges::find(rows, name, &Setting<Config>::name);
  if (row == rows.end()) {
    std::string names;
    for (const Setting<Config>& each : rows) {
      names.append(names.empty() ? "" : ", ").append(each.name);
    }
    return unknown_setting(name, names, form);
  }
  if (!row->repeats && given->has(name)) {
    std::string but;
    for (const Setting<Config>& each : rows) {
      if (each.repeats) but.append(" but ").append(each.name);
    }
    return bad_setting(name, pair, "each setting" + but + " at most once");
  }
  given->note(*row);
  if (!form.percent) return row->read(*row, text, &given->values);
  const StatusOr<std::string> value = decode_percent(name, text);
  return value.ok() ? row->read(*row, *value, &given->values) : value.status();
}

// Reads a specification, pair by pair. INVALID_ARGUMENT names the setting, what was given and what
// is allowed.
template <typename Config>
[[nodiscard]] StatusOr<Given<Config>> read_settings(std::string_view spec, const QueryForm& form,
                                                    std::span<const Setting<Config>> rows) {
  Given<Config> given;
  StatusOr<std::string_view> query = query_of(spec, form);
  if (!query.ok()) return query.status();
  while (!query->empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(*query, '&', form.brackets, &parts)) {
      return invalid_argument("{}: '{}' given; unbalanced brackets", "specification", shown(spec));
    }
    *query = parts.second;
    if (parts.first.empty()) continue;
    Status status = read_setting<Config>(parts.first, form, rows, &given);
    if (!status.ok()) return status;
  }
  return given;
}

std::string difference_text(std::string_view given, std::string_view open);

// "given size=1MiB; open with size=2MiB": how two configurations differ, by their rows.
template <typename Config>
std::string differences(std::span<const Setting<Config>> rows, const Config& given,
                        const Config& open) {
  std::string ours;
  std::string theirs;
  for (const Setting<Config>& row : rows) {
    if (row.print == nullptr) continue;
    const std::string here = row.print(given);
    const std::string there = row.print(open);
    if (here == there) continue;
    const char* const comma = ours.empty() ? "" : ", ";
    ours.append(comma).append(row.name).append("=").append(here);
    theirs.append(comma).append(row.name).append("=").append(there);
  }
  return difference_text(ours, theirs);
}

}  // namespace nvcache
