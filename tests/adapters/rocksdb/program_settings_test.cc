// A user's settings win over the options of the program whose cache is replaced.
#include "adapters/rocksdb/program_settings.h"

#include "adapters/rocksdb/program_options.h"
#include "gtest/gtest.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::rocksdb {
namespace {

// As db_bench has them.
::rocksdb::LRUCacheOptions options_of_a_program() {
  ::rocksdb::LRUCacheOptions options;
  options.capacity = 33554432;
  options.num_shard_bits = -1;
  options.strict_capacity_limit = false;
  options.high_pri_pool_ratio = 0.25;
  options.low_pri_pool_ratio = 0.5;
  options.metadata_charge_policy = ::rocksdb::kFullChargeCacheMetadata;
  return options;
}

TieredConfig merge(std::string_view spec,
                   const ::rocksdb::LRUCacheOptions& options = options_of_a_program()) {
  const StatusOr<TieredConfig> config = tiered_config_of(spec, program_of(options));
  EXPECT_TRUE(config.ok()) << spec << ": " << config.status();
  return config.value_or(TieredConfig{});
}

TEST(ProgramSettings, AreTheProgramsWhereTheUserWroteNone) {
  for (const char* spec : {"tiered://", "tiered://?", " tiered://?policy=dram_first ",
                           "tiered://?tier=(size=1MiB,medium=dram)"}) {
    SCOPED_TRACE(spec);
    const TieredConfig config = merge(spec);
    EXPECT_EQ(config.dram_bytes, 33554432u);
    EXPECT_FALSE(config.strict);
    EXPECT_EQ(config.high_ratio, 0.25);
    EXPECT_EQ(config.low_ratio, 0.5);
    EXPECT_EQ(config.shard_bits, -1);
    EXPECT_TRUE(config.charge_metadata);
  }
  ::rocksdb::LRUCacheOptions options = options_of_a_program();
  options.num_shard_bits = 3;
  options.strict_capacity_limit = true;
  options.metadata_charge_policy = ::rocksdb::kDontChargeCacheMetadata;
  const TieredConfig config = merge("tiered://", options);
  EXPECT_EQ(config.shard_bits, 3);
  EXPECT_TRUE(config.strict);
  EXPECT_FALSE(config.charge_metadata);
}

TEST(ProgramSettings, WhatTheUserWroteWins) {
  EXPECT_EQ(merge("tiered://?shards=1").shard_bits, 0);
  EXPECT_EQ(merge("tiered://?shards=1&tier=(size=1MiB,shards=2)").shard_bits, 0);
  EXPECT_EQ(merge("tiered://?dram=1MiB").dram_bytes, 1u << 20);
  EXPECT_TRUE(merge("tiered://?strict=on").strict);
  EXPECT_FALSE(merge("tiered://?metadata=free").charge_metadata);
  EXPECT_EQ(merge("tiered://?low_priority=0.75").low_ratio, 0.75);
  const TieredConfig all =
      merge("tiered://?dram=1MiB&strict=on&shards=4&high_priority=0&low_priority=1&metadata=free");
  EXPECT_EQ(all.shard_bits, 2);
  EXPECT_EQ(all.high_ratio, 0);
  EXPECT_EQ(all.low_ratio, 1);
}

// Of a tier, not of the whole.
TEST(ProgramSettings, SettingsInBracketsAreNotTheirs) {
  EXPECT_EQ(merge("tiered://?tier=(size=1MiB,shards=2)").shard_bits, -1);
}

TEST(ProgramSettings, SharesOfTheProgramAreCutDownToWhatIsLeft) {
  EXPECT_EQ(merge("tiered://?high_priority=0.75").low_ratio, 0.25);
  EXPECT_EQ(merge("tiered://?high_priority=1").low_ratio, 0);
  EXPECT_EQ(merge("tiered://?low_priority=1").high_ratio, 0);
}

TEST(ProgramSettings, AProgramMayWantACacheOfNothing) {
  ::rocksdb::LRUCacheOptions options = options_of_a_program();
  options.capacity = 0;
  const TieredConfig nothing = merge("tiered://", options);
  EXPECT_EQ(nothing.dram_bytes, 0u);
  EXPECT_TRUE(nothing.tiers.empty());
  EXPECT_EQ(merge("tiered://?dram=1MiB", options).dram_bytes, 1u << 20);
  EXPECT_EQ(merge("tiered://?tier=(size=1MiB)", options).dram_bytes, 0u);
  EXPECT_FALSE(tiered_config_of("tiered://?dram=0", program_of(options)).ok()) << "a user may not";
}

TEST(ProgramSettings, ACacheWithoutABoundIsRefused) {
  const ProgramCache endless{.capacity_bytes = ~uint64_t{0}};
  const Status refused = tiered_config_of("tiered://", endless).status();
  EXPECT_TRUE(is_invalid_argument(refused)) << refused;
  EXPECT_TRUE(refused.message().starts_with("dram: ")) << refused;
  EXPECT_TRUE(tiered_config_of("tiered://?dram=1MiB", endless).ok());
}

TEST(ProgramSettings, ATierThatComesBackIsShared) {
  const std::string tier = "tiered://?tier=(size=1GiB,medium=file:/x,io=direct,restart=warm";
  const ProgramCache program = program_of(options_of_a_program());
  EXPECT_TRUE(is_invalid_argument(tiered_config_of(tier + ")", program).status()));
  EXPECT_TRUE(tiered_config_of(tier + ",name=all)", program).ok());
}

TEST(ProgramSettings, OptionsThatRocksDbRefusesAreLeftToIt) {
  EXPECT_TRUE(can_replace(program_of(options_of_a_program())));
  for (const ProgramCache& refused :
       {ProgramCache{.shard_bits = 20}, ProgramCache{.high_ratio = -0.5},
        ProgramCache{.high_ratio = 0.75, .low_ratio = 0.5}}) {
    EXPECT_FALSE(can_replace(refused));
  }
}

TEST(ProgramSettings, RocksDbsKeysAreImmutableAndTheSameInAllCaches) {
  for (const char* spec : {"tiered://?dram=1MiB", " tiered://?tier=(size=1MiB)&dram=0 "}) {
    const StatusOr<TieredConfig> config = tiered_config_of(spec);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_TRUE(config->immutable_keys);
    EXPECT_EQ(config->owner, "*");
  }
  const auto given = tiered_config_of("tiered://?dram=1MiB&keys=mutable&owner=orders");
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_FALSE(given->immutable_keys);
  EXPECT_EQ(given->owner, "orders");
  EXPECT_FALSE(tiered_config_of("nvcache://?size=1MiB").ok());
}

TEST(ProgramSettings, MistakesAreShownAsTheUserMadeThem) {
  const ProgramCache program = program_of(options_of_a_program());
  for (const char* spec :
       {"tiered:/", "nvcache://?size=1MiB", "tiered://?tier=(size=1MiB", "tiered://?shards=3",
        "tiered://?high_priority=2", "tiered://?shards=1&shards=2"}) {
    const StatusOr<TieredConfig> config = tiered_config_of(spec, program);
    ASSERT_FALSE(config.ok()) << spec;
    EXPECT_EQ(config.status(), parse_tiered_config(spec).status()) << spec;
  }
}

}  // namespace
}  // namespace nvcache::rocksdb
