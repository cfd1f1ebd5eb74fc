// open_medium(): finds the row of the table of media that a specification begins with.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "medium/medium.h"
#include "medium/profiles.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr std::string_view kEmulated = "emulated:";
constexpr std::string_view kEmulatedAlias = "modelled:";
constexpr std::string_view kOn = ",on=";  // of an emulated medium: what it lies on

}  // namespace

absl::Status bad_medium(std::string_view problem, std::string_view spec, std::string_view allowed) {
  return absl::InvalidArgumentError(
      fmt::format("medium '{}': {}; allowed: {}", spec, problem, allowed));
}

std::string allowed_media() {
  std::string text;
  for (const MediumRow& row : kMedia) {
    text += text.empty() ? "" : ", ";
    text += row.usage;
  }
  return text + " with PROFILE " + profile_names();
}

std::string allowed_inner_media() {
  std::string text;
  for (const MediumRow& row : kMedia) {
    if (row.prefix == kEmulated) continue;
    text += text.empty() ? "on=" : ", on=";
    text += row.usage;
  }
  return text;
}

absl::StatusOr<MediumOpener> parse_medium(std::string_view spec) {
  for (const MediumRow& row : kMedia) {
    const bool alias = row.prefix == kEmulated && spec.starts_with(kEmulatedAlias);
    if (!alias && !spec.starts_with(row.prefix)) continue;
    return row.parse(spec, spec.substr(row.prefix.size()));
  }
  return bad_medium(spec.empty() ? "empty" : "unknown", spec, allowed_media());
}
static_assert(kEmulated.size() == kEmulatedAlias.size());

bool is_medium_option(std::string_view name) {
  return std::any_of(kMedia.begin(), kMedia.end(), [&](const MediumRow& row) {
    return std::find(row.options.begin(), row.options.end(), name) != row.options.end();
  });
}

bool is_option_of(std::string_view spec, std::string_view name) {
  const auto has = [name](std::string_view medium) {
    return std::any_of(kMedia.begin(), kMedia.end(), [&](const MediumRow& row) {
      return medium.starts_with(row.prefix) &&
             std::find(row.options.begin(), row.options.end(), name) != row.options.end();
    });
  };
  const size_t inner = names_emulated_medium(spec) ? spec.find(kOn) : std::string_view::npos;
  return has(spec) || (inner != std::string_view::npos && has(spec.substr(inner + kOn.size())));
}

std::string_view place_of_medium(std::string_view spec) {
  if (names_emulated_medium(spec)) {
    const size_t at = spec.find(kOn);
    if (at == std::string_view::npos) return "";
    spec.remove_prefix(at + kOn.size());
  }
  for (const MediumRow& row : kMedia) {
    if (!row.has_place || !spec.starts_with(row.prefix)) continue;
    spec.remove_prefix(row.prefix.size());
    return spec.substr(0, spec.find(','));
  }
  return "";
}

absl::Status check_medium(std::string_view spec) { return parse_medium(spec).status(); }

absl::StatusOr<std::unique_ptr<Medium>> open_medium(std::string_view spec,
                                                    const MediumOptions& options, Clock& clock) {
  const absl::StatusOr<MediumOpener> open = parse_medium(spec);
  if (!open.ok()) return open.status();
  return (*open)(options, clock);
}

}  // namespace nvcache
