// The specification string that configures a block cache everywhere (C, C++,
// RocksDB's URI, command line), parsed and checked:
//
//   nvcache://?size=1GiB&medium=file:/mnt/x&preset=writes_hurt
//
// docs/guide/configuration.md describes the settings to users. Values may be percent-encoded; '+'
// stands for itself. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "medium/medium.h"
#include "nvcache/status_or.h"
#include "spec/settings.h"

namespace nvcache {

enum class Verify : uint8_t { kAuto, kAlways, kNever };
enum class SpaceKind : uint8_t { kInPlace, kRegions };
enum class Restart : uint8_t { kCold, kWarm };

struct Config {
  uint64_t size_bytes = 0;      // required; at least kMinSizeBytes
  uint64_t max_size_bytes = 0;  // resize() may grow the cache up to this; default: size
  std::string medium = "dram";
  std::string admission;  // complete_config() sets both: as given, or by the preset
  std::string eviction;
  Verify verify = Verify::kAuto;          // auto: never on plain dram, always elsewhere
  uint32_t shards = 0;                    // 0: chosen by size; else a power of two up to kMaxShards
  uint64_t write_queue_bytes = 8 << 20;   // DRAM for blocks on their way to a device
  SpaceKind space = SpaceKind::kInPlace;  // kRegions by default where they suit: complete_config()
  uint64_t region_bytes = 0;              // a power of two; 0: chosen by size
  double rewrite = 0.75;                  // of a region's bytes, at most, that are written again
  bool discard = false;                   // give emptied regions back to the medium
  bool format = false;                    // start an empty cache, whatever the medium holds
  Restart restart = Restart::kCold;
  bool immutable_keys = false;                            // no key ever names other bytes
  std::string owner;                                      // whose blocks they are; empty: no name
  uint64_t restart_bytes_per_second = uint64_t{2} << 30;  // of indexes that are read; 0: no bound
  uint32_t restart_threads = 0;    // that bring blocks back; 0: by the machine
  double maintenance_seconds = 1;  // how often the maintenance thread wakes; 0: never
  uint64_t seed = 1;               // of probability() and of the hash
  // By which a new cache in regions tells its own from an earlier one's; 0: random. No setting.
  uint64_t region_nonce = 0;

  bool operator==(const Config&) const = default;

  static constexpr uint64_t kMinSizeBytes = 64 << 10;
  static constexpr uint64_t kMaxSizeBytes = uint64_t{1} << 44;  // 16 TiB
  static constexpr uint32_t kMaxShards = 4096;
  static constexpr uint64_t kMinRegionBytes = 64 << 10;
  static constexpr uint64_t kMaxRegionBytes = 64 << 20;
  static constexpr uint64_t kLeastRegions = 32;  // by default: with fewer, each empties much
  static constexpr double kMostRewrite = 0.9;    // each emptied region makes room
  static constexpr uint64_t kMinRestartRate = 64 << 10;
};

// The size of regions that suits a cache of that size: a 128th of it, from 2 MiB to 16 MiB.
uint64_t choose_region_bytes(uint64_t size_bytes);
// The size of the regions of such a cache, if it is in regions: as given, or chosen by max_size.
uint64_t region_bytes_of(const Config& config);

// The options with which the medium of such a cache is opened.
MediumOptions options_of_medium(const Config& config);

// The settings that a specification gives, and no others: an adapter sets its own defaults there.
// INVALID_ARGUMENT names the setting, what was given and what is allowed. Checks each value, and
// the policies, but opens nothing: opening the medium checks the medium's own specification.
[[nodiscard]] StatusOr<Given<Config>> read_config(std::string_view spec);
// Reads one `key=value`, for specifications of another form.
[[nodiscard]] Status read_config_setting(std::string_view pair, Given<Config>* given);
// Sets what was not given, and checks the whole.
[[nodiscard]] StatusOr<Config> complete_config(Given<Config> given);
// read_config(), then complete_config().
[[nodiscard]] StatusOr<Config> parse_config(std::string_view spec);

// A row for each setting. To add one: a member of Config, its row in config.cc, its row in the
// guide, and its use (tests/spec/settings_recipe_test.cc fails until they agree).
std::span<const Setting<Config>> config_rows();

}  // namespace nvcache
