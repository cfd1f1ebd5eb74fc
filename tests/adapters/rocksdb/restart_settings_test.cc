// Which caches under RocksDB come back after a restart without being told.
#include "adapters/rocksdb/restart_settings.h"

#include <string>

#include "block_cache/api/config.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nvcache::rocksdb::testing {
namespace {

constexpr char kDirect[] = "nvcache://?size=1GiB&medium=file:/x,io=direct";

Config config_of(const std::string& spec) {
  const StatusOr<Config> config = config_with_restart(spec);
  EXPECT_TRUE(config.ok()) << spec << ": " << config.status();
  return config.value_or(Config{});
}

// Whether RocksDB's defaults make the cache warm, with immutable keys.
bool is_warm_and_immutable(const Config& config) {
  return config.space == SpaceKind::kRegions && config.restart == Restart::kWarm &&
         config.immutable_keys;
}

TEST(RestartSettings, ADeviceIsWarm) {
  for (const char* device : {kDirect, "nvcache://?medium=nvme:/dev/x&size=64MiB",
                             "nvcache://?medium=nvme:/dev/x,format=yes&size=16TiB",
                             "nvcache://?size=64MiB&medium=file:/a%26b,io=direct&eviction=lru",
                             "nvcache://?size=512MiB&max_size=16TiB&medium=nvme:/dev/x"}) {
    const std::string spec = device;
    EXPECT_TRUE(is_warm_and_immutable(config_of(spec))) << spec;
    EXPECT_EQ(config_of(spec), parse_config(spec + "&restart=warm&keys=immutable").value());
    EXPECT_EQ(config_of(fmt::format("  {} \n", spec)), config_of(spec));
  }
}

TEST(RestartSettings, WhatTheUserWroteWins) {
  const std::string spec = kDirect;
  const Config kept = config_of(spec + "&keys=mutable");
  EXPECT_TRUE(kept.restart == Restart::kWarm && !kept.immutable_keys);
  EXPECT_TRUE(is_warm_and_immutable(config_of(spec + "&space=regions")));
  EXPECT_TRUE(is_warm_and_immutable(config_of(spec + "&restart=warm")));
  for (const char* off :
       {"&space=in_place", "&restart=cold", "&space=regions&restart=cold",
        "&restart=cold&space=in_place", "&space=regions&restart=warm&keys=mutable"}) {
    EXPECT_EQ(config_of(spec + off), parse_config(spec + off).value()) << off;
  }
}

TEST(RestartSettings, OtherMediaStayAsTheyAre) {
  for (const char* medium :
       {"dram", "numa:0", "file:/x", "file:/x,io=mmap", "file:/io=direct", "emulated:flash",
        "emulated:flash,on=file:/x,io=direct", "modelled:flash,on=file:/x,io=direct"}) {
    const std::string spec = std::string("nvcache://?size=1GiB&medium=") + medium;
    EXPECT_EQ(config_of(spec), parse_config(spec).value()) << medium;
  }
  EXPECT_EQ(config_of("nvcache://?size=1GiB"), parse_config("nvcache://?size=1GiB").value());
}

// An emptied region must not be much of the cache. Who names a setting of regions wants them.
TEST(RestartSettings, SmallCachesStayInPlaceUnlessRegionsAreAskedFor) {
  for (const char* size : {"size=63MiB", "size=64KiB", "size=256MiB&max_size=1TiB"}) {
    const std::string spec =
        std::string("nvcache://?") + size + "&medium=file:/x,io=direct&admission=always";
    EXPECT_EQ(config_of(spec), parse_config(spec).value()) << size;
  }
  const std::string small = "nvcache://?size=20MiB&medium=file:/x,io=direct";
  for (const char* asked : {"&region=128KiB", "&format=yes", "&discard=on", "&restart_rate=0"}) {
    EXPECT_TRUE(is_warm_and_immutable(config_of(small + asked))) << asked;
  }
}

TEST(RestartSettings, WhatRegionsForbidStaysInPlace) {
  std::string spec = kDirect;
  spec += "&verify=never";
  EXPECT_EQ(config_of(spec), parse_config(spec).value());
}

// An error shows what the user wrote.
TEST(RestartSettings, AMistakeIsSaidAsWithoutThem) {
  for (const char* spec :
       {"", "nvcache://", "nvcache://?", "nvcache://x?size=1GiB&medium=nvme:/x", "tiered://?",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&restart=hot",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&region=3MiB",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&space=in_place&keys=immutable",
        "nvcache://?size=1GiB&size=1GiB&medium=file:/x,io=direct"}) {
    EXPECT_FALSE(parse_config(spec).ok()) << spec;
    EXPECT_EQ(config_with_restart(spec).status(), parse_config(spec).status()) << spec;
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
