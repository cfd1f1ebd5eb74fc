#include "file_cache/word_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include "base/prng.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

std::optional<uint64_t> at_or_after(const std::set<uint64_t>& set, uint64_t word) {
  const auto at = set.lower_bound(word);
  return at == set.end() ? std::nullopt : std::optional(*at);
}

std::optional<uint64_t> last_before(const std::set<uint64_t>& set, uint64_t word) {
  const auto at = set.lower_bound(word);
  return at == set.begin() ? std::nullopt : std::optional(*std::prev(at));
}

// Grows and shrinks again and again, beside a std::set.
TEST(WordSet, IsASortedSet) {
  const uint64_t seed = test_seed();
  for (const uint64_t words : {uint64_t{40}, uint64_t{3000}, UINT64_MAX}) {
    Prng prng(seed);
    const auto word = [&] { return words == UINT64_MAX ? prng() : prng() % words; };
    WordSet set;
    std::set<uint64_t> model;
    for (int step = 0; step < 60'000; ++step) {
      const bool grows = step / 10'000 % 2 == 0;
      const uint64_t w = !grows && !model.empty() && step % 2 == 0 ? *model.begin() : word();
      if (prng() % 4 == 0 ? !grows : grows) {
        ASSERT_EQ(set.insert(w), model.insert(w).second) << "step " << step;
      } else {
        ASSERT_EQ(set.erase(w), model.erase(w) == 1) << "step " << step;
      }
      ASSERT_EQ(set.size(), model.size());
      const uint64_t other = word();
      for (const uint64_t each : {w, other, w + 1}) {
        ASSERT_EQ(set.contains(each), model.contains(each)) << "step " << step;
        ASSERT_EQ(set.at_or_after(each), at_or_after(model, each)) << "step " << step;
        ASSERT_EQ(set.last_before(each), last_before(model, each)) << "step " << step;
      }
    }
  }
}

TEST(WordSet, TakesTheEnds) {
  WordSet set;
  EXPECT_EQ(set.at_or_after(0), std::nullopt);
  EXPECT_EQ(set.last_before(UINT64_MAX), std::nullopt);
  EXPECT_FALSE(set.erase(0));
  EXPECT_TRUE(set.insert(UINT64_MAX));
  EXPECT_TRUE(set.insert(0));
  EXPECT_FALSE(set.insert(0));
  EXPECT_EQ(set.last_before(UINT64_MAX), 0u);
  EXPECT_EQ(set.last_before(0), std::nullopt);
  EXPECT_EQ(set.at_or_after(1), UINT64_MAX);
  EXPECT_TRUE(set.erase(UINT64_MAX));
  EXPECT_EQ(set.at_or_after(1), std::nullopt);
}

double bytes_per_word(const WordSet& set) {
  return static_cast<double>(set.bytes()) / static_cast<double>(set.size());
}

TEST(WordSet, TakesLittleMoreThanItsWords) {
  Prng prng(test_seed());
  for (const uint64_t count : {20'000u, 200'000u}) {
    WordSet in_order, in_any_order;
    for (uint64_t i = 0; i < count; ++i) {
      in_order.insert(i);
      in_any_order.insert(prng());
    }
    EXPECT_LT(bytes_per_word(in_order), 9.1);
    EXPECT_LT(bytes_per_word(in_any_order), 13.5);
    for (uint64_t i = 0; i < count; ++i) {
      if (i % 8 != 0) in_order.erase(i);
    }
    EXPECT_LT(bytes_per_word(in_order), 24) << "of words that were erased";
  }
}

}  // namespace
}  // namespace nvcache
