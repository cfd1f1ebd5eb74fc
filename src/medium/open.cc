// open_medium(): the grammar of medium specifications (medium/medium.h).
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "medium/dram.h"
#include "medium/file.h"
#include "medium/medium.h"
#include "medium/modelled.h"
#include "medium/profiles.h"

namespace nvcache {
namespace {

std::string allowed_media() {
  return fmt::format(
      "dram, file:PATH[,io=mmap|direct], modelled:PROFILE[,on=MEDIUM] with PROFILE {}",
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

absl::StatusOr<std::unique_ptr<Medium>> open_file(std::string_view spec, std::string_view rest,
                                                  const MediumOptions& options) {
  const auto [path, option] = split_once(rest, ',');
  if (path.empty()) return bad_medium("no path given", spec, "file:PATH[,io=mmap|direct]");
  FileIo io = FileIo::kMmap;
  if (option == "io=direct") {
    io = FileIo::kDirect;
  } else if (path.size() < rest.size() && option != "io=mmap") {
    return bad_medium(fmt::format("option '{}' is unknown", option), spec,
                      "io=mmap, io=direct (a path cannot contain a comma)");
  }
  return open_file_medium(std::string(path), io, options);
}

absl::StatusOr<std::unique_ptr<Medium>> open_modelled(std::string_view spec, std::string_view rest,
                                                      const MediumOptions& options, Clock& clock) {
  const auto [name, option] = split_once(rest, ',');
  const Profile* profile = find_profile(name);
  if (profile == nullptr) {
    return bad_medium(fmt::format("profile '{}' is unknown", name), spec, profile_names());
  }
  // Everything behind on= belongs to the inner medium, its commas too.
  std::string_view inner_spec = "dram";
  if (name.size() < rest.size()) {
    inner_spec = option;
    if (!consume_prefix(inner_spec, "on=")) {
      return bad_medium(fmt::format("option '{}' is unknown", option), spec,
                        "on=dram, on=file:PATH[,io=mmap|direct]");
    }
  }
  if (inner_spec.starts_with("modelled")) {
    return bad_medium("a modelled medium cannot lie on another one", spec,
                      "on=dram, on=file:PATH[,io=mmap|direct]");
  }
  auto inner = open_medium(inner_spec, options, clock);
  if (!inner.ok()) return inner.status();
  return std::make_unique<ModelledMedium>(*profile, *std::move(inner), clock);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Medium>> open_medium(std::string_view spec,
                                                    const MediumOptions& options, Clock& clock) {
  if (spec == "dram") return DramMedium::open(options);
  std::string_view rest = spec;
  if (consume_prefix(rest, "file:")) return open_file(spec, rest, options);
  if (consume_prefix(rest, "modelled:")) return open_modelled(spec, rest, options, clock);
  if (spec.starts_with("dram")) return bad_medium("dram takes no options", spec, allowed_media());
  return bad_medium(spec.empty() ? "empty" : "unknown", spec, allowed_media());
}

}  // namespace nvcache
