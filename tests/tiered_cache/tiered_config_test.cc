// The inside of tier=( ): options of a medium among the settings of a cache.
#include "tiered_cache/tiered_config.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

Config tier_of(const std::string& inside, const std::string& more = "") {
  const auto config = parse_tiered_config("tiered://?dram=64KiB&tier=(" + inside + ")" + more);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? config->tiers.at(0).cache : Config();
}

TEST(TieredConfig, FormatMayStandOnEitherSideOfAFile) {
  for (const char* inside : {"size=8MiB,format=yes,medium=file:/x,io=direct,space=regions",
                             "size=8MiB,medium=file:/x,io=direct,format=yes,space=regions",
                             "medium=file:/x,space=regions,format=yes,size=8MiB,io=direct"}) {
    const Config tier = tier_of(inside);
    EXPECT_EQ(tier.medium, "file:/x,io=direct") << inside;
    EXPECT_TRUE(tier.format) << inside;
    EXPECT_EQ(tier.size_bytes, 8u << 20) << inside;
  }
}

// Before the device it is the cache's alone: a device that is not ours is not taken by it.
TEST(TieredConfig, BehindADeviceFormatIsTheDevicesToo) {
  const Config regions = tier_of("size=8MiB,space=regions,medium=nvme:/dev/x,format=yes");
  EXPECT_EQ(regions.medium, "nvme:/dev/x,format=yes");
  EXPECT_TRUE(regions.format);
  const Config in_place = tier_of("size=8MiB,medium=nvme:/dev/x,format=yes");
  EXPECT_EQ(in_place.medium, "nvme:/dev/x,format=yes");
  EXPECT_FALSE(in_place.format);
  const Config before = tier_of("size=8MiB,space=regions,format=yes,medium=nvme:/dev/x");
  EXPECT_EQ(before.medium, "nvme:/dev/x");
  EXPECT_TRUE(before.format);
  EXPECT_EQ(tier_of("size=8MiB,medium=emulated:flash,on=nvme:/dev/x,format=yes").medium,
            "emulated:flash,on=nvme:/dev/x,format=yes");
}

TEST(TieredConfig, KeysAreImmutableIfTheCacheOrTheTierSaysSo) {
  const std::string warm = "size=8MiB,space=regions,restart=warm,medium=file:/x";
  EXPECT_EQ(tier_of(warm).restart, Restart::kWarm);
  EXPECT_FALSE(tier_of(warm).immutable_keys);
  EXPECT_TRUE(tier_of(warm, "&keys=immutable").immutable_keys);
  EXPECT_TRUE(tier_of(warm + ",keys=immutable").immutable_keys);
  EXPECT_FALSE(tier_of(warm + ",keys=mutable", "&keys=immutable").immutable_keys);
  EXPECT_EQ(tier_of("size=8MiB").restart, Restart::kCold) << "the default";
}

TEST(TieredConfig, TheLastTierMayHaveAName) {
  const auto config = parse_tiered_config(
      "tiered://?dram=64KiB&owner=orders&tier=(size=1MiB)&tier=(size=8MiB,name=a_B-1.x)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->tiers.at(0).name, "");
  EXPECT_EQ(config->tiers.at(1).name, "a_B-1.x");
  EXPECT_EQ(config->owner, "orders");
  EXPECT_EQ(parse_tiered_config("tiered://?dram=1MiB&owner=*")->owner, "*");
  for (const auto& [spec, expected] :
       {std::pair{"tier=(size=1MiB,name=)", "name: '' given; allowed: 1 to 64 letters"},
        std::pair{"tier=(size=1MiB,name=a b)", "name: 'a b' given"},
        std::pair{"tier=(size=1MiB,name=*)", "name: '*' given"},
        std::pair{"tier=(size=1MiB,name=a,name=b)", "at most once"},
        std::pair{"tier=(size=1MiB,name=a)&tier=(size=1MiB)", "tier 1: name: 'a' given; allowed:"},
        std::pair{"tier=(size=1MiB)&owner=**", "owner: '**' given"},
        std::pair{"tier=(size=1MiB)&owner=", "owner: '' given"},
        std::pair{"tier=(size=1MiB)&owner=a&owner=b", "at most once"}}) {
    const auto refused = parse_tiered_config(std::string("tiered://?dram=1MiB&") + spec);
    ASSERT_FALSE(refused.ok()) << spec;
    EXPECT_NE(std::string(refused.status().message()).find(expected), std::string::npos)
        << refused.status();
  }
  const std::string longest(64, 'x');
  EXPECT_EQ(parse_tiered_config("tiered://?dram=1MiB&owner=" + longest)->owner, longest);
  EXPECT_FALSE(parse_tiered_config("tiered://?dram=1MiB&owner=x" + longest).ok());
}

TEST(TieredConfig, AnOptionWithoutItsMediumIsAMistake) {
  for (const char* inside :
       {"size=8MiB,io=direct", "size=8MiB,medium=dram,io=direct",
        "size=8MiB,medium=dram,format=yes", "size=8MiB,restart=warm,medium=file:/x",
        "size=8MiB,medium=dram,medium=dram",
        "size=8MiB,medium=", "size=8MiB,medium=,medium=dram"}) {
    const auto config =
        parse_tiered_config(std::string("tiered://?dram=1MiB&tier=(") + inside + ")");
    EXPECT_FALSE(config.ok()) << inside;
  }
}

}  // namespace
}  // namespace nvcache
