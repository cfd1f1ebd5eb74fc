// A setting stands in four places: its member, its row, its use, and its row in the guide. The rows
// of all three schemes and the guide name the same settings, and a row prints what it reads.
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "block_cache/api/config.h"
#include "gtest/gtest.h"
#include "kv_store/api/config.h"
#include "support/checkout.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {
namespace {

// The settings in the first column of the first table below a heading of the guide.
std::set<std::string> settings_below(const std::string& heading) {
  std::ifstream guide(checkout_folder() + "/docs/guide/configuration.md");
  std::set<std::string> names;
  bool below = false;
  for (std::string line; std::getline(guide, line);) {
    below = below || line == heading;
    if (!below) continue;
    if (!line.starts_with("| `")) {
      if (!names.empty()) break;
      continue;
    }
    // Some share a row.
    const std::string first = line.substr(0, line.find('|', 1));
    for (size_t at = first.find('`'); at != std::string::npos;) {
      const size_t end = first.find('`', at + 1);
      const std::string name = first.substr(at + 1, end - at - 1);
      names.insert(name.substr(0, name.find('=')));
      at = first.find('`', end + 1);
    }
  }
  return names;
}

template <typename Config>
std::set<std::string> names_of(std::span<const Setting<Config>> rows) {
  std::set<std::string> names;
  for (const Setting<Config>& row : rows) names.emplace(row.name);
  return names;
}

TEST(SettingsRecipe, TheGuideHasTheRowsOfEachScheme) {
  EXPECT_EQ(settings_below("# Configuration"), names_of(config_rows()));
  std::set<std::string> tiered = names_of(tiered_config_rows());
  tiered.merge(names_of(tier_config_rows()));
  EXPECT_EQ(settings_below("## A tiered cache"), tiered);
  EXPECT_EQ(settings_below("## A key-value store"), names_of(kv_config_rows()));
}

// The guide's rows of these settings end with those who need them.
template <typename Config>
void expect_needs_in_guide(std::span<const Setting<Config>> rows) {
  for (const Setting<Config>& row : rows) {
    if (row.needed_by.empty()) continue;
    std::ifstream guide(checkout_folder() + "/docs/guide/configuration.md");
    const std::string end = ". For " + std::string(row.needed_by) + " |";
    bool found = false;
    for (std::string line; std::getline(guide, line);) {
      const std::string first = line.substr(0, line.find('|', 1));
      const bool its_row = first.find("`" + std::string(row.name) + "`") != std::string::npos;
      found = found || (its_row && line.starts_with("| `") && line.ends_with(end));
    }
    EXPECT_TRUE(found) << row.name << ": no row of the guide ends with" << end;
  }
}

TEST(SettingsRecipe, WhatFewNeedSaysWhoDoes) {
  expect_needs_in_guide(config_rows());
  expect_needs_in_guide(tiered_config_rows());
  expect_needs_in_guide(kv_config_rows());
}

TEST(SettingsRecipe, ARetiredSettingSaysWhatStandsInItsPlace) {
  const auto message = [](const auto& read) { return std::string(read.status().message()); };
  EXPECT_EQ(message(read_config("nvcache://?size=1GiB&seed=7")),
            "seed: no longer a setting; leave it out");
  EXPECT_EQ(message(read_kv_config("nvkv://?size=1GiB&cleaning=paper")),
            "cleaning: no longer a setting; live items stay, as with cleaning=live");
  EXPECT_NE(message(read_kv_config("nvkv://?size=1GiB&hot=0.5")).find("no longer a setting"),
            std::string::npos);
}

// Printed, and read into a configuration that has it otherwise.
template <typename Config>
void expect_read_back(std::span<const Setting<Config>> rows, const Config& config) {
  for (const Setting<Config>& row : rows) {
    if (row.print == nullptr) continue;
    const std::string text = row.print(config);
    Config read;
    EXPECT_TRUE(row.read(row, text, &read).ok()) << row.name << "=" << text;
    EXPECT_EQ(row.print(read), text) << row.name;
  }
}

TEST(SettingsRecipe, ARowReadsWhatItPrints) {
  expect_read_back(config_rows(),
                   parse_config("nvcache://?size=1GiB&max_size=3GiB&shards=4&region=2MiB"
                                "&medium=nvme:/dev/x&restart=warm&keys=immutable&owner=a&discard=on"
                                "&restart_rate=1MiB&rewrite=0.25&maintenance=0.5&format=yes")
                       .value());
  expect_read_back(tiered_config_rows(),
                   parse_tiered_config("tiered://?dram=3MiB&strict=on&shards=8&low_priority=0.25"
                                       "&metadata=free&demote=foreground&keys=immutable&owner=*")
                       .value());
  expect_read_back(kv_config_rows(),
                   parse_kv_config("nvkv://?size=1GiB&durability=each&survives=power&zone=1MiB"
                                   "&item=512&cleaner=inline&sync=0"
                                   "&max_absence=60&after_absence=empty")
                       .value());
}

TEST(SettingsRecipe, CachesThatDifferSayHow) {
  const Config config = parse_config("nvcache://?size=1GiB").value();
  Config other = config;
  other.rewrite = 0.5;
  other.size_bytes = uint64_t{2} << 30;
  EXPECT_EQ(differences(config_rows(), other, config),
            "given size=2GiB, max_size=1GiB, rewrite=0.5; open with size=1GiB, max_size=size, "
            "rewrite=0.75");
}

// An adapter's default: what was written wins, and what was not is no mistake.
TEST(SettingsRecipe, ADefaultTouchesOnlyWhatWasNotGiven) {
  Given<Config> given = read_config("nvcache://?size=1GiB&verify=never").value();
  EXPECT_TRUE(given.has("verify") && given.has<&Config::verify>());
  EXPECT_FALSE(given.has("restart") || given.has<&Config::restart>());
  given.set_default<&Config::verify>(Verify::kAlways);
  given.set_default<&Config::maintenance_seconds>(9);
  EXPECT_EQ(given.values.verify, Verify::kNever);
  EXPECT_EQ(given.values.maintenance_seconds, 9);
  EXPECT_FALSE(given.has<&Config::maintenance_seconds>());
}

}  // namespace
}  // namespace nvcache
