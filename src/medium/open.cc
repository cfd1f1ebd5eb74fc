// open_medium(): finds the row of the table of media that a specification begins with, and takes
// the specification apart by what the row says.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text.h"
#include "medium/medium.h"
#include "medium/profiles.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr std::string_view kOn = ",on=";  // of an emulated medium: what it lies on

// "io=mmap", "io=direct" of "io=mmap|direct". Returns whether `visit` did so for any.
template <typename Visit>
bool any_value(std::string_view option, Visit visit) {
  const auto [name, values] = split_once(option, '=');
  for (std::string_view rest = values; !rest.empty();) {
    const auto [value, others] = split_once(rest, '|');
    if (visit(fmt::format("{}={}", name, value))) return true;
    rest = others;
  }
  return false;
}

// Calls `visit` with each of "io=direct,async=off", until it says true. Returns whether it did.
template <typename Visit>
bool any_option(std::string_view options, Visit visit) {
  for (bool more = true; more;) {
    const size_t end = options.find(',');
    if (visit(options.substr(0, end))) return true;
    more = end != std::string_view::npos;
    if (more) options.remove_prefix(end + 1);
  }
  return false;
}

// "direct" for "io" in "io=direct,async=off"; empty if that is not there.
std::string_view value_in(std::string_view options, std::string_view name) {
  std::string_view value;
  any_option(options, [&](std::string_view option) {
    const auto [option_name, given] = split_once(option, '=');
    if (option_name != name) return false;
    value = given;
    return true;
  });
  return value;
}

bool has_option(const MediumRow& row, std::string_view given) {
  for (const std::string_view option : row.options) {
    if (any_value(option, [&](std::string_view allowed) { return allowed == given; })) return true;
  }
  return false;
}

bool has_option_name(const MediumRow& row, std::string_view name) {
  for (const std::string_view option : row.options) {
    if (split_once(option, '=').first == name) return true;
  }
  return false;
}

std::string allowed_options(const MediumRow& row) {
  std::string text;
  for (const std::string_view option : row.options) {
    any_value(option, [&](const std::string& allowed) {
      text += (text.empty() ? "" : ", ") + allowed;
      return false;
    });
  }
  return row.owns == Owns::kFile ? text + " (a path cannot contain a comma)" : text;
}

Status check_options(const MediumRow& row, std::string_view spec, std::string_view options) {
  Status status;
  std::string_view before = options.substr(0, 0);  // grows by each that is right
  any_option(options, [&](std::string_view option) {
    const std::string_view name = split_once(option, '=').first;
    if (!has_option(row, option)) {
      status =
          bad_medium(fmt::format("option '{}' is unknown", option), spec, allowed_options(row));
    } else if (!value_in(before, name).empty()) {
      status = bad_medium(fmt::format("option '{}' is given twice", name), spec,
                          fmt::format("{} once", name));
    }
    before = options.substr(0, static_cast<size_t>(option.data() - options.data()) + option.size());
    return !status.ok();
  });
  return status;
}

StatusOr<MediumSpec> take_apart(const MediumRow& row, std::string_view spec) {
  const std::string_view rest = spec.substr(row.prefix.size());
  if (row.place.empty() && !rest.empty()) {
    return bad_medium(fmt::format("{} takes no options", row.prefix), spec, allowed_media());
  }
  if (row.is_emulated || row.owns == Owns::kNothing) {
    return MediumSpec{.whole = spec, .place = rest, .options = ""};
  }
  const auto [place, options] = split_once(rest, ',');
  if (place.empty()) {
    const std::string_view kind = row.owns == Owns::kDevice ? "device" : "path";
    return bad_medium(fmt::format("no {} given", kind), spec, usage_of(row));
  }
  if (place.size() < rest.size()) {
    if (Status status = check_options(row, spec, options); !status.ok()) return status;
  }
  return MediumSpec{.whole = spec, .place = place, .options = options};
}

}  // namespace

std::string usage_of(const MediumRow& row) {
  std::string usage = fmt::format("{}{}", row.prefix, row.place);
  for (const std::string_view option : row.options) {
    usage += fmt::format("[,{}]", option);
  }
  return usage;
}

const MediumRow* find_medium_row(std::string_view spec) {
  const auto* const row = std::find_if(kMedia.begin(), kMedia.end(), [&](const MediumRow& each) {
    return spec.starts_with(each.prefix) || (!each.alias.empty() && spec.starts_with(each.alias));
  });
  return row == kMedia.end() ? nullptr : row;
}
static_assert(std::all_of(kMedia.begin(), kMedia.end(), [](const MediumRow& row) {
  return row.alias.empty() || row.alias.size() == row.prefix.size();
}));
// A store stores to its medium in place.
static_assert(std::none_of(kMedia.begin(), kMedia.end(), [](const MediumRow& row) {
  return row.holds_store && (row.reads == Reads::kByCopy || row.owns == Owns::kDevice);
}));

Status bad_medium(std::string_view problem, std::string_view spec, std::string_view allowed) {
  return invalid_argument_error(
      fmt::format("medium '{}': {}; allowed: {}", spec, problem, allowed));
}

std::string allowed_media() {
  std::string text;
  for (const MediumRow& row : kMedia) {
    text += text.empty() ? "" : ", ";
    text += usage_of(row);
  }
  return text + " with PROFILE " + profile_names();
}

std::string allowed_inner_media() {
  std::string text;
  for (const MediumRow& row : kMedia) {
    if (row.is_emulated) continue;
    text += text.empty() ? "on=" : ", on=";
    text += usage_of(row);
  }
  return text;
}

std::string media_help() {
  constexpr size_t kHelpColumn = 36;
  std::string text;
  for (const MediumRow& row : kMedia) {
    std::string line = "  " + usage_of(row);
    for (std::string_view help = row.help; !help.empty();) {
      if (line.size() >= kHelpColumn) {
        text += line + "\n";
        line.clear();
      }
      const auto [first, others] = split_once(help, '\n');
      line.resize(kHelpColumn, ' ');
      text.append(line).append(first).append("\n");
      line.clear();
      help = others;
    }
  }
  return text;
}

StatusOr<MediumOpener> parse_medium(std::string_view spec) {
  const MediumRow* const row = find_medium_row(spec);
  if (row == nullptr) return bad_medium(spec.empty() ? "empty" : "unknown", spec, allowed_media());
  const StatusOr<MediumSpec> parts = take_apart(*row, spec);
  if (!parts.ok()) return parts.status();
  return row->parse(*parts);
}

bool is_on_device(std::string_view spec) {
  const MediumRow* const row = find_medium_row(spec);
  if (row == nullptr || row->is_emulated) return false;
  return row->owns == Owns::kDevice ||
         (row->owns == Owns::kFile && value_in(split_once(spec, ',').second, "io") == "direct");
}

std::string_view MediumSpec::value_of(std::string_view name) const {
  return value_in(options, name);
}

AsyncReads async_reads_of(const MediumSpec& spec) {
  const std::string_view word = spec.value_of("async");
  if (word == "off") return AsyncReads::kOff;
  return word == "threads" ? AsyncReads::kThreads : AsyncReads::kRing;
}

bool is_medium_option(std::string_view name) {
  return std::ranges::any_of(kMedia,
                             [&](const MediumRow& row) { return has_option_name(row, name); });
}

bool names_emulated_medium(std::string_view spec) {
  const MediumRow* const row = find_medium_row(spec);
  return row != nullptr && row->is_emulated;
}

bool is_option_of(std::string_view spec, std::string_view name) {
  const auto has = [name](std::string_view medium) {
    const MediumRow* const row = find_medium_row(medium);
    return row != nullptr && has_option_name(*row, name);
  };
  const size_t inner = names_emulated_medium(spec) ? spec.find(kOn) : std::string_view::npos;
  return has(spec) || (inner != std::string_view::npos && has(spec.substr(inner + kOn.size())));
}

std::string_view place_of_medium(std::string_view spec) {
  const MediumRow* row = find_medium_row(spec);
  if (row != nullptr && row->is_emulated) {
    const size_t at = spec.find(kOn);
    if (at == std::string_view::npos) return "";
    spec.remove_prefix(at + kOn.size());
    row = find_medium_row(spec);
  }
  if (row == nullptr || row->owns == Owns::kNothing) return "";
  return split_once(spec.substr(row->prefix.size()), ',').first;
}

Status check_medium(std::string_view spec) { return parse_medium(spec).status(); }

StatusOr<std::unique_ptr<Medium>> open_medium(std::string_view spec, const MediumOptions& options,
                                              Clock& clock) {
  const StatusOr<MediumOpener> open = parse_medium(spec);
  if (!open.ok()) return open.status();
  return (*open)(options, clock);
}

}  // namespace nvcache
