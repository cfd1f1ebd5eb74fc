// The form that all specifications of caches share:
//
//   SCHEME [ '?' key '=' value { '&' key '=' value } ]
//
// White space around the specification is ignored, as are empty pairs. Each format has its own
// table of keys. Any bytes are accepted as input. Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// INVALID_ARGUMENT "key: 'given' given; allowed: ...".
Status bad_setting(std::string_view key, std::string_view given, std::string_view allowed);

Status bad_key(std::string_view name, std::string_view allowed);

// A size from low to high.
[[nodiscard]] Status set_size(std::string_view key, std::string_view value, uint64_t low,
                              uint64_t high, uint64_t* to);

// Splits `text` at the first separator. With `brackets`, a separator inside of brackets does not
// count; false if the brackets do not match.
[[nodiscard]] bool split_outside(std::string_view text, char separator, bool brackets,
                                 std::pair<std::string_view, std::string_view>* parts);

struct QueryForm {
  std::string_view scheme;      // "nvcache://"
  std::string_view form;        // the whole form, in errors
  std::string_view after = {};  // in errors about the text after the scheme; empty: `form`
  bool brackets = false;        // '&' inside of brackets belongs to the value
  bool percent = true;          // %XX stands for a byte of a value
};

// A key, and the function that takes its value.
template <typename Config>
struct QueryKey {
  std::string_view name;
  Status (*set)(std::string_view value, Config* config);
  bool repeats = false;  // may be given more than once
};

// Parts of read_query() that do not depend on the type of the table.
[[nodiscard]] StatusOr<std::string_view> query_of(std::string_view spec, const QueryForm& form);
[[nodiscard]] StatusOr<std::string> decode_percent(std::string_view key, std::string_view text);

// The keys that were given so far.
class SeenKeys {
 public:
  bool contains(std::string_view name) const;
  void add(std::string_view name) { names_.push_back(name); }

 private:
  std::vector<std::string_view> names_;
};

template <typename Config>
Status read_setting(std::string_view pair, const QueryForm& form,
                    std::span<const QueryKey<Config>> keys, SeenKeys* seen, Config* config) {
  const auto [name, text] = split_once(pair, '=');
  std::string names;
  std::string but;
  for (const QueryKey<Config>& key : keys) {
    names.append(names.empty() ? "" : ", ").append(key.name);
    if (key.repeats) but.append(" but ").append(key.name);
  }
  for (const QueryKey<Config>& key : keys) {
    if (key.name != name) continue;
    if (!key.repeats && seen->contains(name)) {
      return bad_setting(name, pair, "each key" + but + " at most once");
    }
    seen->add(key.name);
    if (!form.percent) return key.set(text, config);
    const StatusOr<std::string> value = decode_percent(name, text);
    return value.ok() ? key.set(*value, config) : value.status();
  }
  return bad_key(name, names);
}

// Reads a specification into `config`, pair by pair. INVALID_ARGUMENT names the key, what was given
// and what is allowed.
template <typename Config, size_t kKeys>
[[nodiscard]] Status read_query(std::string_view spec, const QueryForm& form,
                                const std::array<QueryKey<Config>, kKeys>& keys, SeenKeys* seen,
                                Config* config) {
  StatusOr<std::string_view> query = query_of(spec, form);
  if (!query.ok()) return query.status();
  while (!query->empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(*query, '&', form.brackets, &parts)) {
      return bad_setting("specification", spec, "brackets that match");
    }
    *query = parts.second;
    if (parts.first.empty()) continue;
    Status status = read_setting<Config>(parts.first, form, std::span<const QueryKey<Config>>(keys),
                                         seen, config);
    if (!status.ok()) return status;
  }
  return ok_status();
}

}  // namespace nvcache
