// Which caches under RocksDB come back after a restart without being told.
#include "adapters/rocksdb/restart_settings.h"

#include <string>

#include "block_cache/api/config.h"
#include "gtest/gtest.h"

namespace nvcache::rocksdb::testing {
namespace {

constexpr char kDirect[] = "nvcache://?size=1GiB&medium=file:/x,io=direct";

TEST(RestartSettings, ADeviceIsWarm) {
  const std::string all = "&restart=warm&keys=immutable";
  for (const std::string spec : {kDirect, "nvcache://?medium=nvme:/dev/x&size=64MiB",
                                 "nvcache://?medium=nvme:/dev/x,format=yes&size=16TiB",
                                 "nvcache://?size=64MiB&medium=file:/a%26b,io=direct&eviction=lru",
                                 "nvcache://?size=512MiB&max_size=16TiB&medium=nvme:/dev/x"}) {
    EXPECT_EQ(with_restart_settings(spec), spec + all);
    EXPECT_EQ(with_restart_settings("  " + spec + " \n"), spec + all);
    EXPECT_TRUE(parse_config(spec + all).ok());
  }
}

TEST(RestartSettings, WhatTheUserWroteWins) {
  const std::string spec = kDirect;
  EXPECT_EQ(with_restart_settings(spec + "&keys=mutable"), spec + "&keys=mutable&restart=warm");
  EXPECT_EQ(with_restart_settings(spec + "&space=regions"),
            spec + "&space=regions&restart=warm&keys=immutable");
  EXPECT_EQ(with_restart_settings(spec + "&restart=warm"), spec + "&restart=warm&keys=immutable");
  for (const char* off :
       {"&space=in_place", "&restart=cold", "&space=regions&restart=cold",
        "&restart=cold&space=in_place", "&space=regions&restart=warm&keys=mutable"}) {
    EXPECT_EQ(with_restart_settings(spec + off), spec + off);
    EXPECT_TRUE(parse_config(spec + off).ok()) << off;
  }
}

TEST(RestartSettings, OtherMediaStayAsTheyAre) {
  for (const char* medium :
       {"dram", "numa:0", "file:/x", "file:/x,io=mmap", "file:/io=direct", "emulated:flash",
        "emulated:flash,on=file:/x,io=direct", "modelled:flash,on=file:/x,io=direct"}) {
    const std::string spec = std::string("nvcache://?size=1GiB&medium=") + medium;
    EXPECT_EQ(with_restart_settings(spec), spec);
  }
  EXPECT_EQ(with_restart_settings("nvcache://?size=1GiB"), "nvcache://?size=1GiB");
}

// An emptied region must not be much of the cache. Who names a setting of regions wants them.
TEST(RestartSettings, SmallCachesStayInPlaceUnlessRegionsAreAskedFor) {
  for (const char* size : {"size=63MiB", "size=64KiB", "size=256MiB&max_size=1TiB"}) {
    const std::string spec =
        std::string("nvcache://?") + size + "&medium=file:/x,io=direct&admission=always";
    EXPECT_EQ(with_restart_settings(spec), spec);
  }
  const std::string small = "nvcache://?size=20MiB&medium=file:/x,io=direct";
  for (const char* asked : {"&region=128KiB", "&format=yes", "&discard=on", "&restart_rate=0"}) {
    EXPECT_EQ(with_restart_settings(small + asked), small + asked + "&restart=warm&keys=immutable");
  }
}

TEST(RestartSettings, WhatRegionsForbidStaysInPlace) {
  std::string spec = kDirect;
  spec += "&verify=never";
  EXPECT_EQ(with_restart_settings(spec), spec);
}

// An error shows what the user wrote.
TEST(RestartSettings, AMistakeStaysAsItIs) {
  for (const char* spec :
       {"", "nvcache://", "nvcache://?", "nvcache://x?size=1GiB&medium=nvme:/x", "tiered://?",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&restart=hot",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&region=3MiB",
        "nvcache://?size=1GiB&medium=file:/x,io=direct&space=in_place&keys=immutable",
        "nvcache://?size=1GiB&size=1GiB&medium=file:/x,io=direct"}) {
    EXPECT_EQ(with_restart_settings(spec), spec);
    EXPECT_FALSE(parse_config(spec).ok()) << spec;
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
