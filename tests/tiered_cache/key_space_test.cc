// Keys of caches that share a tier.
#include "tiered_cache/key_space.h"

#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(KeySpace, KeysOfCachesAreApartAndThoseOfOneDoNotMeet) {
  const KeySpace spaces[] = {KeySpace(1, 1), KeySpace(1, 2),  // a later cache under the same tag
                             KeySpace(KeySpace::kMaxTag, 3), KeySpace::of_owner("orders"),
                             KeySpace::of_owner("*")};
  std::set<std::pair<uint64_t, uint64_t>> seen;
  std::set<uint64_t> files;
  for (const KeySpace& space : spaces) {
    EXPECT_NE(space.tag(), 0u);
    for (uint64_t file = 0; file < 300; ++file) {
      files.insert(file << (file % 64));
      for (uint64_t offset = 0; offset < 300; ++offset) {
        const BlockKey key = space.inside({file << (file % 64), offset * 4096});
        EXPECT_EQ(key.file >> 40, space.tag());
        EXPECT_EQ(key.file, space.inside_file(file << (file % 64)));
        EXPECT_TRUE(space.has(key));
        seen.insert({key.file, key.offset});
      }
    }
  }
  EXPECT_EQ(seen.size(), 5 * files.size() * 300);
}

TEST(KeySpace, ATierOfOnesOwnHasTheEnginesKeys) {
  const KeySpace whole;
  EXPECT_EQ(whole.tag(), 0u);
  EXPECT_EQ(whole.inside({7, 8}), (BlockKey{7, 8}));
  EXPECT_EQ(whole.inside_file(7), 7u);
}

TEST(KeySpace, KeysOfTwoFormsAreApart) {
  for (const KeySpace& space : {KeySpace(), KeySpace::of_owner("orders")}) {
    const KeySpace one = space.of_form(1);
    const KeySpace other = space.of_form(uint64_t{1} << 40);
    EXPECT_NE(one.inside({7, 8}), other.inside({7, 8}));
    EXPECT_EQ(one.inside({7, 8}).file, one.inside_file(7));
    EXPECT_TRUE(space.has(one.inside({7, 8}))) << "they are one owner's";
  }
  const KeySpace one(99);
  EXPECT_EQ(one.outside(one.inside({7, 8})), (BlockKey{7, 8}));
}

// Later versions find the blocks on a medium: these may change with a line in CHANGELOG.
TEST(KeySpace, AnOwnersKeysAreTheSameInEveryProcess) {
  EXPECT_EQ(KeySpace::of_owner("*").tag(), KeySpace::kAllOwnersTag);
  EXPECT_EQ(KeySpace::of_owner("orders").inside({1, 2}),
            KeySpace::of_owner(std::string("orders")).inside({1, 2}));
  EXPECT_EQ(KeySpace::of_owner("orders").tag(), 15182626u);
  EXPECT_EQ(KeySpace::of_owner("orders").inside({1, 2}),
            (BlockKey{0xe7ab2279bd75d22c, 0xde0462d3c5d801f2}));
  EXPECT_EQ(KeySpace::of_owner("*").inside({1, 2}),
            (BlockKey{0xffffff8a23ec3bfe, 0x680d81518bbc58d0}));
}

}  // namespace
}  // namespace nvcache
