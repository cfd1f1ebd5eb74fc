#include "kv_store/medium/media.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "medium/emulated.h"
#include "medium/kept_file.h"
#include "medium/populate.h"
#include "medium/profiles.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr std::string_view kLiesOn = "on=";  // of an emulated medium
constexpr std::string_view kBelowByDefault = "dram";

std::string usage_for_store(const MediumRow& row) {
  std::string usage = fmt::format("{}{}", row.prefix, row.place);
  if (!row.is_emulated) return usage;
  std::string inner;
  for (const MediumRow& each : kMedia) {
    if (!each.holds_store || each.is_emulated) continue;
    inner += fmt::format("{}on={}", inner.empty() ? "" : "|", usage_for_store(each));
  }
  return fmt::format("{}[,{}]", usage, inner);
}

Status unfit_for_store(std::string_view spec, std::string_view problem) {
  std::string allowed;
  for (const MediumRow& row : kMedia) {
    if (!row.holds_store) continue;
    allowed.append(allowed.empty() ? "" : ", ").append(usage_for_store(row));
  }
  return invalid_argument(
      "medium: '{}' given: {}; allowed: {} with PROFILE of byte-addressable memory", shown(spec),
      problem, allowed);
}

// The row of a medium that holds a store; null if there is none.
const MediumRow* find_store_row(std::string_view spec) {
  const MediumRow* const row = find_medium_row(spec);
  return row != nullptr && row->holds_store ? row : nullptr;
}

StatusOr<KvMedium> open_kept_file(std::string_view path, const KvConfig& config) {
  const auto power = config.survives == KvSurvives::kPower     ? KeptFile::Power::kOn
                     : config.survives == KvSurvives::kProcess ? KeptFile::Power::kOff
                                                               : KeptFile::Power::kAuto;
  auto file = KeptFile::open(std::string(path), config.size_bytes, power);
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

StatusOr<KvMedium> open_plain(std::string_view spec, const KvConfig& config, Clock& clock) {
  const MediumRow* const row = find_store_row(spec);
  if (row == nullptr || row->is_emulated) return unfit_for_store(spec, "not a medium");
  const std::string_view place = spec.substr(row->prefix.size());
  if (place.empty() != row->place.empty()) return unfit_for_store(spec, "not a medium");
  if (row->owns == Owns::kFile) return open_kept_file(place, config);
  auto memory = open_medium(spec, {.size_bytes = config.size_bytes}, clock);
  if (!memory.ok()) return memory.status();
  KvMedium medium;
  medium.medium = *std::move(memory);
  medium.survives_power = false;
  medium.blank = true;
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
  const MediumRow* row = find_store_row(spec);
  if (row != nullptr && row->is_emulated) {
    spec = split_once(spec, ',').second;
    if (!spec.starts_with(kLiesOn)) return "";
    spec.remove_prefix(kLiesOn.size());
    row = find_store_row(spec);
  }
  if (row == nullptr || row->owns != Owns::kFile) return "";
  return std::string(spec.substr(row->prefix.size()));
}

std::string kv_medium_of_file(std::string_view path) {
  const auto* const row = std::ranges::find_if(
      kMedia, [](const MediumRow& each) { return each.holds_store && each.owns == Owns::kFile; });
  NVCACHE_ASSERT(row != kMedia.end());
  return fmt::format("{}{}", row->prefix, path);
}

StatusOr<KvMedium> open_kv_medium(const KvConfig& config, Clock& clock) {
  const std::string_view spec = config.medium;
  const MediumRow* const row = find_store_row(spec);
  if (row == nullptr || !row->is_emulated) return open_plain(spec, config, clock);
  const auto [name, rest] = split_once(spec.substr(row->prefix.size()), ',');
  const Profile* profile = find_profile(name);
  if (profile == nullptr || !profile->byte_addressable)
    return unfit_for_store(spec, "unknown profile");
  if (!rest.empty() && !rest.starts_with(kLiesOn)) return unfit_for_store(spec, "unknown option");
  auto inner =
      open_plain(rest.empty() ? kBelowByDefault : rest.substr(kLiesOn.size()), config, clock);
  if (!inner.ok()) return inner.status();
  inner->medium = std::make_unique<EmulatedMedium>(*profile, std::move(inner->medium), clock);
  return inner;
}

}  // namespace nvcache
