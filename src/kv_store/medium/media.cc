#include "kv_store/medium/media.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "medium/dram.h"
#include "medium/emulated.h"
#include "medium/kept_file.h"
#include "medium/populate.h"
#include "medium/profiles.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

Status bad_medium(std::string_view spec, std::string_view problem) {
  return invalid_argument(
      "medium: '{}' given: {}; allowed: dram, file:PATH, emulated:PROFILE[,on=dram|on=file:PATH] "
      "with PROFILE of byte-addressable memory",
      shown(spec), problem);
}

StatusOr<KvMedium> open_plain(std::string_view spec, const KvConfig& config) {
  if (spec == "dram") {
    auto dram = DramMedium::open({.size_bytes = config.size_bytes});
    if (!dram.ok()) return dram.status();
    KvMedium medium;
    medium.medium = *std::move(dram);
    medium.survives_power = false;
    medium.blank = true;
    return medium;
  }
  if (!spec.starts_with("file:") || spec.size() == 5) return bad_medium(spec, "not a medium");
  const auto power = config.survives == KvSurvives::kPower     ? KeptFile::Power::kOn
                     : config.survives == KvSurvives::kProcess ? KeptFile::Power::kOff
                                                               : KeptFile::Power::kAuto;
  auto file = KeptFile::open(std::string(spec.substr(5)), config.size_bytes, power);
  if (!file.ok()) return file.status();
  KvMedium medium;
  medium.survives_power = (*file)->survives_power();
  medium.has_pages = !(*file)->is_dax();
  medium.blank = (*file)->is_new();
  medium.notes = (*file)->notes();
  medium.file = file->get();
  medium.medium = *std::move(file);
  return medium;
}

}  // namespace

Status KvMedium::sync() {
  if (file != nullptr) return file->sync_all();
  Status status = medium->flush({0, medium->size_bytes()});
  return status.ok() ? medium->drain() : status;
}

Status KvMedium::sync(Extent extent) {
  Status status = medium->flush(extent);
  if (status.ok()) status = medium->drain();
  return status.ok() && file != nullptr && !survives_power ? file->sync(extent) : status;
}

void KvMedium::populate(Extent extent) {
  if (file != nullptr) {
    file->populate(extent);
  } else {
    populate_memory(medium->direct().subspan(extent.offset, extent.size_bytes));
  }
}

std::string path_of_kv_medium(std::string_view spec) {
  if (names_emulated_medium(spec)) {
    spec = split_once(spec, ',').second;
    if (!spec.starts_with("on=")) return "";
    spec.remove_prefix(3);
  }
  return spec.starts_with("file:") ? std::string(spec.substr(5)) : "";
}

StatusOr<KvMedium> open_kv_medium(const KvConfig& config, Clock& clock) {
  std::string_view spec = config.medium;
  if (!names_emulated_medium(spec)) {
    return open_plain(spec, config);
  }
  const auto [name, rest] = split_once(spec.substr(9), ',');
  const Profile* profile = find_profile(name);
  if (profile == nullptr || !profile->byte_addressable) return bad_medium(spec, "unknown profile");
  if (!rest.empty() && !rest.starts_with("on=")) return bad_medium(spec, "unknown option");
  auto inner = open_plain(rest.empty() ? "dram" : rest.substr(3), config);
  if (!inner.ok()) return inner.status();
  inner->medium = std::make_unique<EmulatedMedium>(*profile, std::move(inner->medium), clock);
  return inner;
}

}  // namespace nvcache
