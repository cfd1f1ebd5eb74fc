// The word of an entry: its parts do not touch each other at their largest values.
#include "block_cache/index/entry.h"

#include "gtest/gtest.h"
#include "nvcache/block_cache.h"

namespace nvcache {
namespace {

TEST(EntryWord, TellsItsPartsAtTheirLargest) {
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{1} << 32, (uint64_t{1} << 33) + 5, EntryWord::kOffsetMask}) {
    for (const uint32_t size_bytes : {1u, 4096u, uint32_t{kMaxBlockBytes}}) {
      for (const uint32_t pins : {0u, 1u, EntryWord::kMaxPins}) {
        const EntryWord word = EntryWord::make(EntryWord::kLive, pins, size_bytes, offset);
        EXPECT_EQ(word.offset_grains(), offset);
        EXPECT_EQ(word.size_bytes(), size_bytes);
        EXPECT_EQ(word.pins(), pins);
        EXPECT_EQ(word.state(), EntryWord::kLive);
        EXPECT_EQ(word.with_state(EntryWord::kDying).state(), EntryWord::kDying);
        EXPECT_EQ(word.with_state(EntryWord::kDying).offset_grains(), offset);
      }
    }
  }
}

TEST(EntryWord, ASpaceOf16TiBHasAGrainOf1KiB) {
  EXPECT_EQ(EntryWord::max_space_bytes(1024), uint64_t{16} << 40);
}

TEST(Entry, PinsAndUnpinsABlockBeyond2To32Grains) {
  Entry entry{};
  entry.reserve({1, 2}, 4096, EntryWord::kOffsetMask);
  EXPECT_TRUE(entry.publish());
  EntryWord seen;
  ASSERT_TRUE(entry.pin(seen));
  EXPECT_EQ(seen.offset_grains(), EntryWord::kOffsetMask);
  EXPECT_EQ(entry.word().pins(), 1u);
  EXPECT_FALSE(entry.unpin());
  EXPECT_EQ(entry.word().pins(), 0u);
}

}  // namespace
}  // namespace nvcache
