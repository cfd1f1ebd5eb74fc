#include "apps/nvcache/inspect_report.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

// "1,234,567"
std::string grouped(uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(const BlockTotals& totals) {
  return fmt::format("{} blocks, {}", grouped(totals.blocks), format_bytes(totals.bytes));
}

// The engine that blocks belong to, as far as their keys tell.
struct Engine {
  std::string_view name;
  std::string_view known;  // of a block
  bool numbered;
};
constexpr std::array<Engine, 2> kEngines = {{
    {"RocksDB", "a hash of its table file; not the file's name, nor the offset", false},
    {"WiredTiger or own keys", "the number of its file, and the offset; not the file's name", true},
}};

struct EngineTotals {
  uint64_t files = 0;
  BlockTotals live;
};

EngineTotals totals_of(const Engine& engine, const Inspection& found) {
  EngineTotals totals;
  for (const InspectedFile& file : found.files) {
    if (file.is_numbered() != engine.numbered) continue;
    ++totals.files;
    totals.live.blocks += file.live.blocks;
    totals.live.bytes += file.live.bytes;
  }
  return totals;
}

const Engine& engine_of(const InspectedFile& file) { return kEngines[file.is_numbered() ? 1 : 0]; }

std::string restart_text(const InspectedMedium& medium) {
  const Superblock& superblock = medium.found.superblock;
  if (medium.found.comes_back()) {
    return superblock.closed ? "restart=warm brings the live blocks back: closed in order"
                             : "restart=warm brings the live blocks back: keys are immutable";
  }
  if (medium.found.removed_list_damaged) {
    return "nothing comes back: the list of removed blocks is damaged";
  }
  return fmt::format("nothing comes back: {}, and keys are mutable",
                     medium.users.empty() ? "not closed in order" : "not closed");
}

std::string numbers_of_offsets(const InspectedFile& file) {
  if (!file.is_numbered()) return "not known";
  return fmt::format("{} to {}", file.first_offset, file.last_offset);
}

void add_engines(const Inspection& found, std::string* text) {
  auto out = std::back_inserter(*text);
  fmt::format_to(out, "\n{:<22} {:>8} {:>12} {:>10}   a key tells\n", "keys of", "files", "blocks",
                 "bytes");
  for (const Engine& engine : kEngines) {
    const EngineTotals totals = totals_of(engine, found);
    if (totals.files == 0) continue;
    fmt::format_to(out, "{:<22} {:>8} {:>12} {:>10}   {}\n", engine.name, grouped(totals.files),
                   grouped(totals.live.blocks), format_bytes(totals.live.bytes),
                   engine.numbered ? "file number, offset" : "hash of file and offset");
  }
}

void add_files(const Inspection& found, uint32_t files, std::string* text) {
  auto out = std::back_inserter(*text);
  fmt::format_to(out, "\n{:>16} {:>12} {:>10}   {:<24} (of {} files)\n", "file", "blocks", "bytes",
                 "offsets", grouped(found.files.size()));
  uint32_t shown = 0;
  for (const InspectedFile& file : found.files) {
    if (shown++ == files) break;
    const std::string name =
        file.is_numbered() ? fmt::format("{}", file.file) : fmt::format("{:016x}", file.file);
    fmt::format_to(out, "{:>16} {:>12} {:>10}   {}\n", name, grouped(file.live.blocks),
                   format_bytes(file.live.bytes), numbers_of_offsets(file));
  }
}

void add_regions(const Inspection& found, std::string* text) {
  auto out = std::back_inserter(*text);
  fmt::format_to(out, "\n{:>8} {:>8} {:>18} {:>10} {:>10} {:>10} {:>10}\n", "region", "state",
                 "sequence", "live", "bytes", "outdated", "bytes");
  for (const InspectedRegion& region : found.regions) {
    fmt::format_to(out, "{:>8} {:>8} {:>18} {:>10} {:>10} {:>10} {:>10}\n", region.region,
                   region.damaged ? "damaged" : "sealed", region.sequence,
                   grouped(region.live.blocks), format_bytes(region.live.bytes),
                   grouped(region.outdated.blocks), format_bytes(region.outdated.bytes));
  }
}

nlohmann::json to_json(const BlockTotals& totals) {
  return {{"blocks", totals.blocks}, {"bytes", totals.bytes}};
}

nlohmann::json to_json(const Superblock& superblock) {
  return {{"version", +Superblock::kVersion},
          {"opening", superblock.opening},
          {"closed", superblock.closed},
          {"immutable_keys", superblock.immutable_keys},
          {"region_bytes", superblock.geometry.region_bytes},
          {"grain_bytes", superblock.geometry.grain_bytes},
          {"unit_bytes", superblock.geometry.unit_bytes}};
}

nlohmann::json to_json(const InspectedFile& file) {
  nlohmann::json json = to_json(file.live);
  json["engine"] = engine_of(file).name;
  json["file"] = fmt::format("{:016x}", file.file);
  if (file.is_numbered()) {
    json["number"] = file.file;
    json["first_offset"] = file.first_offset;
    json["last_offset"] = file.last_offset;
  }
  return json;
}

nlohmann::json to_json(const InspectedRegion& region) {
  return {{"region", region.region},
          {"state", region.damaged ? "damaged" : "sealed"},
          {"sequence", region.sequence},
          {"live", to_json(region.live)},
          {"outdated", to_json(region.outdated)},
          {"damaged_blocks", region.damaged_blocks}};
}

}  // namespace

std::string damage_text(const Inspection& found) {
  std::vector<std::string> damage;
  if (found.copy_damaged) damage.emplace_back("one copy of the superblock");
  if (found.removed_list_damaged) damage.emplace_back("the list of removed blocks");
  if (found.missing_regions != 0) {
    damage.push_back(fmt::format("{} regions behind the end: the medium was cut short",
                                 grouped(found.missing_regions)));
  }
  if (found.damaged_regions != 0) {
    damage.push_back(fmt::format("{} regions", grouped(found.damaged_regions)));
  }
  if (found.damaged_blocks != 0) {
    damage.push_back(fmt::format("{} blocks", grouped(found.damaged_blocks)));
  }
  return fmt::format("{}", fmt::join(damage, "; "));
}

std::string inspection_text(const InspectedMedium& medium, uint32_t files, bool regions) {
  const Inspection& found = medium.found;
  const Geometry& geometry = found.superblock.geometry;
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<12}{}\n", name, value);
  };
  line("medium", fmt::format("{}, {}", medium.path, format_bytes(found.medium_bytes)));
  if (!medium.users.empty()) line("open in", medium.users);
  line("superblock", fmt::format("version {}; copies: {}; {}", +Superblock::kVersion,
                                 found.copies[0], found.copies[1]));
  line("layout",
       fmt::format("{} regions of {}, grains of {}, units of {}", grouped(found.region_count),
                   format_bytes(geometry.region_bytes), format_bytes(geometry.grain_bytes),
                   format_bytes(geometry.unit_bytes)));
  line("keys", found.superblock.immutable_keys ? "immutable" : "mutable");
  line("restart", restart_text(medium));
  line("regions",
       fmt::format("{} sealed, {} free or open, {} damaged", grouped(found.sealed_regions()),
                   grouped(found.free_regions), grouped(found.damaged_regions)));
  if (found.strange_footers != 0) {
    line("", fmt::format("{} of the free end in an index of an earlier cache, or a damaged one",
                         grouped(found.strange_footers)));
  }
  line("live", counted(found.live));
  line("outdated", counted(found.outdated));
  const std::string damage = damage_text(found);
  line("damage", fmt::format("{}{}", damage.empty() ? "none" : damage,
                             found.blocks_read ? "" : " (blocks: not read, see --blocks)"));
  if (!found.files.empty()) add_engines(found, &text);
  if (files != 0 && !found.files.empty()) add_files(found, files, &text);
  if (regions && !found.regions.empty()) add_regions(found, &text);
  return text;
}

nlohmann::json inspection_json(const InspectedMedium& medium) {
  const Inspection& found = medium.found;
  nlohmann::json json = {{"kind", "inspection"},
                         {"medium", medium.path},
                         {"medium_bytes", found.medium_bytes},
                         {"open_in", medium.users},
                         {"superblock", to_json(found.superblock)},
                         {"copies", found.copies},
                         {"comes_back", found.comes_back()},
                         {"damage", damage_text(found)},
                         {"regions_in_all", found.region_count},
                         {"sealed_regions", found.sealed_regions()},
                         {"free_regions", found.free_regions},
                         {"strange_footers", found.strange_footers},
                         {"damaged_regions", found.damaged_regions},
                         {"missing_regions", found.missing_regions},
                         {"live", to_json(found.live)},
                         {"outdated", to_json(found.outdated)},
                         {"engines", nlohmann::json::array()},
                         {"files", nlohmann::json::array()},
                         {"regions", nlohmann::json::array()}};
  if (found.blocks_read) json["damaged_blocks"] = found.damaged_blocks;
  for (const Engine& engine : kEngines) {
    const EngineTotals totals = totals_of(engine, found);
    if (totals.files == 0) continue;
    nlohmann::json entry = to_json(totals.live);
    entry["engine"] = engine.name;
    entry["files"] = totals.files;
    entry["known"] = engine.known;
    json["engines"].push_back(std::move(entry));
  }
  for (const InspectedFile& file : found.files) json["files"].push_back(to_json(file));
  for (const InspectedRegion& region : found.regions) json["regions"].push_back(to_json(region));
  return json;
}

}  // namespace nvcache
