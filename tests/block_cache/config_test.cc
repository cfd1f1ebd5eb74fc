#include "block_cache/api/config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/table.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& spec) {
  const StatusOr<Config> config = parse_config(spec);
  EXPECT_FALSE(config.ok()) << spec;
  if (config.ok()) return "";
  EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

TEST(Config, ReadsEveryKey) {
  const StatusOr<Config> config = parse_config(
      "nvcache://?size=1GiB&max_size=2GiB&medium=file:/mnt/x&admission=small_bypass(16GiB)+obp(0.2)"
      "&eviction=clock&verify=always&shards=8&write_queue=4MiB&maintenance=0.5"
      "&space=regions&region=4MiB&rewrite=0.25&discard=on&format=yes&restart=warm&keys=immutable"
      "&restart_rate=5MiB");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->size_bytes, 1u << 30);
  EXPECT_EQ(config->max_size_bytes, 2u << 30);
  EXPECT_EQ(config->medium, "file:/mnt/x");
  EXPECT_EQ(config->admission, "small_bypass(16GiB)+obp(0.2)");
  EXPECT_EQ(config->eviction, "clock");
  EXPECT_EQ(config->verify, Verify::kAlways);
  EXPECT_EQ(config->shards, 8u);
  EXPECT_EQ(config->write_queue_bytes, 4u << 20);
  EXPECT_EQ(config->maintenance_seconds, 0.5);
  EXPECT_EQ(config->space, SpaceKind::kRegions);
  EXPECT_EQ(config->region_bytes, 4u << 20);
  EXPECT_EQ(config->rewrite, 0.25);
  EXPECT_TRUE(config->discard);
  EXPECT_TRUE(config->format);
  EXPECT_EQ(config->restart, Restart::kWarm);
  EXPECT_TRUE(config->immutable_keys);
  EXPECT_EQ(config->restart_bytes_per_second, 5u << 20);
}

TEST(Config, DefaultsAreThePoliciesThatNeedNoTuning) {
  const StatusOr<Config> config = parse_config("nvcache://?size=64MiB");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->medium, "dram");
  EXPECT_EQ(config->admission, "break_even");
  EXPECT_EQ(config->eviction, "auto");
  EXPECT_EQ(config->max_size_bytes, config->size_bytes);
}

TEST(Config, ADeviceIsInRegionsIfTheyAreSmallPartsOfTheCache) {
  const auto space_of = [](const std::string& settings) {
    const StatusOr<Config> config = parse_config("nvcache://?" + settings);
    EXPECT_TRUE(config.ok()) << config.status();
    return config.ok() ? config->space : SpaceKind::kInPlace;
  };
  for (const char* regions :
       {"size=64MiB&medium=file:/x,io=direct", "size=16TiB&medium=nvme:/dev/x,format=yes",
        "size=512MiB&max_size=16TiB&medium=nvme:/dev/x", "size=4MiB&region=128KiB&medium=nvme:/x",
        "size=20MiB&medium=nvme:/x&restart=warm", "size=20MiB&medium=nvme:/x&rewrite=0",
        "size=20MiB&medium=dram&space=regions"}) {
    EXPECT_EQ(space_of(regions), SpaceKind::kRegions) << regions;
  }
  for (const char* in_place :
       {"size=1GiB", "size=1GiB&medium=file:/x", "size=1GiB&medium=file:/x,io=mmap",
        "size=1GiB&medium=emulated:flash,on=file:/x,io=direct", "size=1GiB&medium=numa:0",
        "size=63MiB&medium=file:/x,io=direct", "size=256MiB&max_size=1TiB&medium=nvme:/dev/x",
        "size=1GiB&medium=nvme:/dev/x&space=in_place",
        "size=1GiB&medium=nvme:/dev/x&verify=never"}) {
    EXPECT_EQ(space_of(in_place), SpaceKind::kInPlace) << in_place;
  }
}

TEST(Config, APresetNamesThePoliciesThatAreNotGiven) {
  const auto policies = [](std::string_view settings) {
    const auto config = parse_config("nvcache://?size=1GiB&" + std::string(settings));
    EXPECT_TRUE(config.ok()) << config.status();
    return config->admission + " " + config->eviction;
  };
  EXPECT_EQ(policies("preset=auto"), "break_even auto");
  EXPECT_EQ(policies("preset=writes_hurt"), "obp(0.1) lfru");
  EXPECT_EQ(policies("preset=auto&eviction=lru"), "break_even lru");
  EXPECT_EQ(policies("admission=always&preset=auto"), "always auto");
  EXPECT_EQ(policies("eviction=clock"), "break_even clock");
}

TEST(Config, AnyCacheMayBeCold) {
  for (const char* space : {"", "&space=in_place", "&space=regions"}) {
    const auto config = parse_config(std::string("nvcache://?size=1GiB&restart=cold") + space);
    EXPECT_TRUE(config.ok()) << config.status();
  }
}

TEST(Config, PercentEncodingIsDecoded) {
  const StatusOr<Config> config = parse_config("nvcache://?size=1MiB&medium=file:/a%26b%3Dc%25d");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->medium, "file:/a&b=c%d");
  EXPECT_THAT(error_of("nvcache://?size=1MiB&medium=file:%2"), HasSubstr("medium"));
  EXPECT_THAT(error_of("nvcache://?size=1MiB&medium=file:%zz"), HasSubstr("%XX"));
}

TEST(Config, AnEmptyMediumIsToldEveryMedium) {
  const std::string error = error_of("nvcache://?size=1GiB&medium=");
  for (const MediumRow& row : kMedia) EXPECT_THAT(error, HasSubstr(usage_of(row)));
}

TEST(Config, MistakesNameTheKeyWhatWasGivenAndWhatIsAllowed) {
  struct Case {
    const char* spec;
    const char* key;
    const char* given;
    const char* allowed;
  };
  const Case cases[] = {
      {"nvcache://?size=banana", "size", "banana", "64KiB"},
      {"nvcache://?size=1", "size", "'1'", "64.0 KiB to 16.0 TiB"},
      {"nvcache://?medium=dram", "size", "required", "size=1GiB"},
      {"nvcache://?size=1GiB&colour=red", "colour", "unknown setting", "admission"},
      {"nvcache://?size=1GiB&size=2GiB", "size", "size=2GiB", "at most once"},
      {"nvcache://?size=2GiB&max_size=1GiB", "max_size", "1.00 GiB", "at least size"},
      {"nvcache://?size=1GiB&verify=maybe", "verify", "maybe", "auto, always, never"},
      {"nvcache://?size=1GiB&shards=3", "shards", "3", "power of two"},
      {"nvcache://?size=1GiB&shards=x", "shards", "x", "power of two"},
      {"nvcache://?size=1GiB&space=holes", "space", "holes", "in_place, regions"},
      {"nvcache://?size=1GiB&space=regions&region=3MiB", "region", "3MiB", "power of two"},
      {"nvcache://?size=1GiB&space=regions&region=1GiB", "region", "1GiB", "64"},
      {"nvcache://?size=1GiB&space=regions&rewrite=1", "rewrite", "1", "0 to 0.9"},
      {"nvcache://?size=1GiB&rewrite=0", "rewrite", "needs", "space=regions"},
      {"nvcache://?size=1GiB&space=regions&discard=yes", "discard", "yes", "off, on"},
      {"nvcache://?size=1GiB&restart=warm", "restart", "warm needs", "space=regions"},
      {"nvcache://?size=1GiB&space=regions&restart=hot", "restart", "hot", "cold, warm"},
      {"nvcache://?size=1GiB&space=regions&keys=some", "keys", "some", "mutable, immutable"},
      {"nvcache://?size=1GiB&space=regions&restart_rate=1", "restart_rate", "1", "64"},
      {"nvcache://?size=1GiB&space=regions&verify=never", "verify", "never", "always"},
      {"nvcache://?size=1GiB&maintenance=-1", "maintenance", "-1", "0 to 3600"},
      {"nvcache://?size=1GiB&admission=obp(2x)", "admission", "obp(2x)", "allowed"},
      {"nvcache://?size=1GiB&preset=best", "preset", "best", "auto, writes_hurt"},
      {"nvcache://?size=1GiB&admission=magic", "admission", "magic", "second_touch"},
      {"nvcache://?size=1GiB&eviction=fifo3", "eviction", "fifo3", "s3fifo"},
      {"nvcache://?size=1GiB&medium=", "medium", "''", "dram"},
      {"rocks://?size=1GiB", "specification", "rocks://", "nvcache://?size"},
      {"nvcache://host?size=1GiB", "specification", "host", "nvcache://?size"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    const std::string error = error_of(c.spec);
    EXPECT_THAT(error, HasSubstr(c.key));
    EXPECT_THAT(error, HasSubstr(c.given));
    EXPECT_THAT(error, HasSubstr(c.allowed));
  }
}

TEST(Config, ControlCharactersAreNotEchoed) {
  const std::string error = error_of("nvcache://?size=1MiB&\x1b[31m=1");
  EXPECT_THAT(error, HasSubstr("\\x1b"));
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace nvcache
