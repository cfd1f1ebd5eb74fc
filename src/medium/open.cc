// open_medium(): the grammar of medium specifications (medium/medium.h).
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "medium/dram.h"
#include "medium/emulated.h"
#include "medium/file.h"
#include "medium/medium.h"
#include "medium/numa.h"
#include "medium/profiles.h"

namespace nvcache {
namespace {

constexpr double kMaxLoad = 1000;
constexpr std::string_view kEmulatedOptions =
    "load=N, then on=dram, on=file:PATH[,io=mmap|direct] or on=numa:NODE";
constexpr std::string_view kInnerMedia = "on=dram, on=file:PATH[,io=mmap|direct], on=numa:NODE";

std::string allowed_media() {
  return fmt::format(
      "dram, file:PATH[,io=mmap|direct], numa:NODE, emulated:PROFILE[,load=N][,on=MEDIUM] with "
      "PROFILE {}",
      profile_names());
}

absl::Status bad_medium(std::string_view problem, std::string_view spec, std::string_view allowed) {
  return absl::InvalidArgumentError(
      fmt::format("medium '{}': {}; allowed: {}", spec, problem, allowed));
}

bool consume_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// A specification, read. An emulated medium is one of the others with a profile.
struct Parsed {
  enum Kind : uint8_t { kDram, kFile, kNuma } kind = kDram;
  std::string_view place;  // path or node
  FileIo io = FileIo::kMmap;
  const Profile* profile = nullptr;
  double load = 1;
};

absl::StatusOr<Parsed> parse(std::string_view spec);

absl::StatusOr<Parsed> parse_file(std::string_view spec, std::string_view rest) {
  const auto [path, option] = split_once(rest, ',');
  if (path.empty()) return bad_medium("no path given", spec, "file:PATH[,io=mmap|direct]");
  Parsed parsed{.kind = Parsed::kFile, .place = path};
  if (option == "io=direct") {
    parsed.io = FileIo::kDirect;
  } else if (path.size() < rest.size() && option != "io=mmap") {
    return bad_medium(fmt::format("option '{}' is unknown", option), spec,
                      "io=mmap, io=direct (a path cannot contain a comma)");
  }
  return parsed;
}

absl::StatusOr<Parsed> parse_emulated(std::string_view spec, std::string_view rest) {
  const auto [name, option] = split_once(rest, ',');
  const Profile* profile = find_profile(name);
  if (profile == nullptr) {
    return bad_medium(fmt::format("profile '{}' is unknown", name), spec, profile_names());
  }
  rest.remove_prefix(name.size());
  double load = 1;
  if (rest.starts_with(",load=")) {
    const std::string_view text = split_once(option, ',').first.substr(5);
    const absl::StatusOr<double> number = parse_number("load", text, 1, kMaxLoad);
    if (!number.ok()) return invalid_argument("medium '{}': {}", spec, message_of(number.status()));
    load = *number;
    rest.remove_prefix(6 + text.size());
  }
  // Everything behind on= belongs to the inner medium, its commas too.
  std::string_view inner_spec = "dram";
  if (consume_prefix(rest, ",")) {
    inner_spec = rest;
    if (!consume_prefix(inner_spec, "on=")) {
      return bad_medium(fmt::format("option '{}' is unknown", rest), spec, kEmulatedOptions);
    }
  }
  if (inner_spec.starts_with("emulated") || inner_spec.starts_with("modelled")) {
    return bad_medium("an emulated medium cannot lie on another one", spec, kInnerMedia);
  }
  absl::StatusOr<Parsed> parsed = parse(inner_spec);
  if (parsed.ok()) {
    parsed->profile = profile;
    parsed->load = load;
  }
  return parsed;
}

absl::StatusOr<Parsed> parse(std::string_view spec) {
  if (spec == "dram") return Parsed{};
  std::string_view rest = spec;
  if (consume_prefix(rest, "file:")) return parse_file(spec, rest);
  if (consume_prefix(rest, "numa:")) return Parsed{.kind = Parsed::kNuma, .place = rest};
  // `modelled:` is an alias.
  if (consume_prefix(rest, "emulated:") || consume_prefix(rest, "modelled:")) {
    return parse_emulated(spec, rest);
  }
  if (spec.starts_with("dram")) return bad_medium("dram takes no options", spec, allowed_media());
  return bad_medium(spec.empty() ? "empty" : "unknown", spec, allowed_media());
}

absl::StatusOr<std::unique_ptr<Medium>> open_plain(const Parsed& parsed,
                                                   const MediumOptions& options) {
  switch (parsed.kind) {
    case Parsed::kFile:
      return open_file_medium(std::string(parsed.place), parsed.io, options);
    case Parsed::kNuma:
      return NumaMedium::open(parsed.place, options);
    case Parsed::kDram:
      break;
  }
  return DramMedium::open(options);
}

}  // namespace

absl::Status check_medium(std::string_view spec) { return parse(spec).status(); }

absl::StatusOr<std::unique_ptr<Medium>> open_medium(std::string_view spec,
                                                    const MediumOptions& options, Clock& clock) {
  const absl::StatusOr<Parsed> parsed = parse(spec);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::unique_ptr<Medium>> medium = open_plain(*parsed, options);
  if (!medium.ok() || parsed->profile == nullptr) return medium;
  return std::make_unique<EmulatedMedium>(*parsed->profile, *std::move(medium), clock,
                                          parsed->load);
}

}  // namespace nvcache
