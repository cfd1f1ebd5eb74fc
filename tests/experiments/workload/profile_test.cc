// Production-like workloads: their locality, sizes, mix and load are what their files
// say, and a wrong file is refused by name.
#include "experiments/workload/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "experiments/run/profile_files.h"
#include "experiments/workload/power_law.h"
#include "experiments/workload/profile_record.h"
#include "experiments/workload/profile_stream.h"
#include "fmt/format.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

std::string text_of(std::string_view name) {
  for (const auto& [file, text] : profile_files()) {
    if (file == fmt::format("{}.profile", name)) return std::string(text);
  }
  return "";
}

WorkloadProfile profile_of(const std::string& name) {
  auto profile = find_workload_profile(name);
  EXPECT_TRUE(profile.ok()) << profile.status();
  return profile.ok() ? *profile : WorkloadProfile();
}

// With a line of the file replaced.
std::string changed(const std::string& key, const std::string& line) {
  std::string text = text_of("whatsapp");
  const size_t at = text.find("\n" + key + " ") + 1;
  return text.replace(at, text.find('\n', at) - at, line);
}

std::string refusal(const std::string& text) {
  const auto profile = parse_workload_profile(text);
  EXPECT_TRUE(is_invalid_argument(profile.status())) << text;
  return std::string(profile.status().message());
}

TEST(PowerLawTest, ATenthOfThePairsGetsHalfOfTheAccesses) {
  for (const uint64_t items : {1000u, 60'000u, 1'000'000u}) {
    const PowerLaw law(items, 0.1, 0.5);
    EXPECT_NEAR(law.exponent(), 0.30103, 1e-5);
    EXPECT_NEAR(law.share_of(items / 10), 0.5, 1e-9);
    Prng prng(test_seed());
    uint64_t hot = 0;
    constexpr int kHotDraws = 400'000;
    for (int i = 0; i < kHotDraws; ++i) hot += law.next(prng) < items / 10 ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(hot) / kHotDraws, 0.5, 0.01) << items;
  }
}

// A constant, so that a machine that draws other ranks fails here. std::pow() may differ in the
// last place, which moves a rank in some of many draws by one.
TEST(PowerLawTest, TheSameSeedDrawsTheSameRanksOnEveryMachine) {
  const PowerLaw law(160'000'000, 0.1, 0.5);
  Prng prng(20260101);
  Prng again(20260101);
  uint64_t hash = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t rank = law.next(prng);
    hash = mix64(hash ^ rank);
    const double library = std::pow(again.unit(), std::log(0.1) / std::log(0.5)) * 160e6;
    ASSERT_NEAR(static_cast<double>(rank), library, 1.001) << i;
  }
  EXPECT_EQ(hash, 0xb84993751e63c62bu);
}

TEST(PowerLawTest, FollowsTheLawAllAlong) {
  const PowerLaw law(100'000, 0.2, 0.8);
  Prng prng(test_seed());
  std::vector<uint64_t> ranks(200'000);
  for (uint64_t& rank : ranks) rank = law.next(prng);
  for (const double share : {0.001, 0.01, 0.05, 0.2, 0.5, 0.9}) {
    const auto limit = static_cast<uint64_t>(share * 100'000);
    const auto below = static_cast<double>(
        std::count_if(ranks.begin(), ranks.end(), [&](uint64_t rank) { return rank < limit; }));
    EXPECT_NEAR(below / 200'000, law.share_of(limit), 0.01) << share;
  }
  EXPECT_LT(*std::max_element(ranks.begin(), ranks.end()), 100'000u);
}

TEST(ScatteredRunsTest, EachRankHasAKeyOfItsOwnAndNeighboursStayTogether) {
  for (const uint64_t keys : {7u, 64u, 1000u, 4099u}) {
    for (const uint64_t run : {1u, 3u, 7u}) {
      const ScatteredRuns runs(keys, run, test_seed());
      EXPECT_EQ(runs.keys(), keys / run * run);
      std::set<uint64_t> seen;
      for (uint64_t rank = 0; rank < runs.keys(); ++rank) {
        const uint64_t key = runs.key_of(rank);
        EXPECT_LT(key, keys);
        EXPECT_EQ(key % run, rank % run);
        seen.insert(key);
        if (rank % run != 0) {
          EXPECT_EQ(key, runs.key_of(rank - 1) + 1);
        }
      }
      EXPECT_EQ(seen.size(), runs.keys());
    }
  }
}

TEST(ScatteredRunsTest, HotRunsAreAnywhere) {
  const ScatteredRuns runs(1'000'000, 100, test_seed());
  std::array<int, 10> tenths{};
  for (uint64_t run = 0; run < 1000; ++run) ++tenths[runs.key_of(run * 100) / 100'000];
  for (const int count : tenths) EXPECT_GT(count, 50);
}

TEST(ProfileTest, TheThreeServicesAreBuiltIn) {
  EXPECT_EQ(profile_names_built_in(), "laser, tectonic, whatsapp");
  for (const char* name : {"whatsapp", "tectonic", "laser"}) {
    const WorkloadProfile profile = profile_of(name);
    EXPECT_EQ(profile.name, name);
    EXPECT_NEAR(profile.data_bytes() * 1e-12, 1.75, 0.3) << name;  // "~2TB"
    EXPECT_EQ(profile.hot_share, 0.1);
    EXPECT_EQ(profile.hot_accesses, 0.5);
    EXPECT_GT(profile.get, profile.put + profile.seek);  // read-dominated
    // A run of like heat spans some blocks of 16 KiB.
    const double run_bytes =
        static_cast<double>(profile.run_keys) * (profile.key_bytes + profile.mean_value_bytes());
    EXPECT_NEAR(run_bytes / (16 << 10), 4, 0.6) << name;
  }
  EXPECT_GT(profile_of("tectonic").data_bytes(), profile_of("whatsapp").data_bytes());
  EXPECT_GT(profile_of("tectonic").data_bytes(), profile_of("laser").data_bytes());
}

TEST(ProfileTest, AWrongFileIsRefusedByName) {
  EXPECT_THAT(
      refusal(changed("databases", "databases = 0")),
      testing::AllOf(HasSubstr("line 10: databases"), HasSubstr("'0'"), HasSubstr("1 to 256")));
  EXPECT_THAT(refusal(changed("databases", "databases = many")), HasSubstr("'many'"));
  EXPECT_THAT(
      refusal(changed("databases", "shards = 8")),
      testing::AllOf(HasSubstr("'shards'"), HasSubstr("databases"), HasSubstr("seek_rows")));
  EXPECT_THAT(refusal(changed("databases", "databases 8")), HasSubstr("key = value"));
  EXPECT_THAT(refusal(changed("databases", "")), HasSubstr("databases: is missing"));
  EXPECT_THAT(refusal(changed("databases", "threads = 8")), HasSubstr("threads: given twice"));
  EXPECT_THAT(refusal(changed("get", "get = 0.5")), HasSubstr("sum is 0.6"));
  EXPECT_THAT(refusal(changed("value_most_bytes", "value_most_bytes = 16\nname=x")),
              HasSubstr("name: given twice"));
  EXPECT_THAT(refusal(changed("value_least_bytes", "value_least_bytes = 8")), HasSubstr("16"));
  EXPECT_THAT(refusal(changed("qps_swing", "qps_swing = 20001")), HasSubstr("qps_mean"));
  EXPECT_THAT(refusal(changed("name", "")), HasSubstr("name: is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("is missing"));
  EXPECT_TRUE(is_invalid_argument(find_workload_profile("feed").status()));
  EXPECT_THAT(std::string(find_workload_profile("feed").status().message()), HasSubstr("laser"));
  EXPECT_TRUE(is_invalid_argument(find_workload_profile("/nonexistent").status()));
}

TEST(ProfileTest, TakesThousandsMillionsAndComments) {
  const auto profile =
      parse_workload_profile(changed("keys_per_database", "\tkeys_per_database=1.5M#comment = 3"));
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->keys_per_database, 1'500'000u);
  EXPECT_EQ(parse_workload_profile(changed("keys_per_database", "keys_per_database = 20k"))
                ->keys_per_database,
            20'000u);
}

TEST(ProfileTest, TheLoadIsASine) {
  const WorkloadProfile profile = profile_of("whatsapp");
  const double period = profile.qps_period_seconds;
  EXPECT_NEAR(operations_due(profile, period), profile.qps_mean * period, 1e-3);
  const auto rate = [&](double at) {
    return (operations_due(profile, at + 1e-3) - operations_due(profile, at)) / 1e-3;
  };
  EXPECT_NEAR(rate(period / 4), profile.qps_mean + profile.qps_swing, 10);
  EXPECT_NEAR(rate(3 * period / 4), profile.qps_mean - profile.qps_swing, 10);
}

TEST(ProfileRecordTest, KeysAreInOrderAndTellTheirNumber) {
  const WorkloadProfile profile = profile_of("laser");
  const ProfileRecords records(profile, test_seed());
  std::string before;
  for (const uint64_t number : {0ull, 1ull, 15ull, 16ull, 255ull, 1ull << 40, (1ull << 40) + 1}) {
    std::string key;
    records.key(number, &key);
    EXPECT_EQ(key.size(), profile.key_bytes);
    EXPECT_LT(before, key);
    uint64_t found = ~0ull;
    EXPECT_TRUE(records.number_of(key, &found).ok());
    EXPECT_EQ(found, number);
    before = key;
  }
  uint64_t ignored = 0;
  EXPECT_TRUE(is_data_loss(records.number_of("short", &ignored)));
  EXPECT_TRUE(is_data_loss(records.number_of(std::string(24, 'x'), &ignored)));
}

TEST(ProfileRecordTest, SizesAreParetoDistributed) {
  const WorkloadProfile profile = profile_of("whatsapp");
  const ProfileRecords records(profile, test_seed());
  std::vector<double> sizes(200'000);
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = records.value_bytes(3, i);
  double sum = 0;
  for (const double size : sizes) sum += size;
  EXPECT_NEAR(sum / static_cast<double>(sizes.size()), profile.mean_value_bytes(), 3);
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes.front(), profile.value_least_bytes);
  EXPECT_LE(sizes.back(), profile.value_most_bytes);
  const auto quantile = [&](double u) {
    return profile.value_least_bytes + profile.value_scale_bytes / profile.value_shape *
                                           (std::pow(1 - u, -profile.value_shape) - 1);
  };
  for (const double u : {0.1, 0.5, 0.9, 0.99}) {
    const double found = sizes[static_cast<size_t>(u * static_cast<double>(sizes.size()))];
    EXPECT_NEAR(found, quantile(u), 1 + 0.02 * quantile(u)) << u;  // whole bytes
  }
}

TEST(ProfileRecordTest, EveryWrongByteIsSeen) {
  const WorkloadProfile profile = profile_of("whatsapp");
  const ProfileRecords records(profile, test_seed());
  std::string key;
  std::string value;
  records.key(77, &key);
  records.value(2, 77, 5, key, &value);
  EXPECT_TRUE(records.verify(2, 77, key, value).ok());
  for (size_t at = 0; at < value.size(); ++at) {
    std::string wrong = value;
    wrong[at] = static_cast<char>(wrong[at] ^ 1);
    EXPECT_TRUE(is_data_loss(records.verify(2, 77, key, wrong))) << at;
  }
  EXPECT_TRUE(is_data_loss(records.verify(2, 77, key, value.substr(1))));
  // The value of another key, or of the same key in another database.
  std::string other;
  records.key(78, &other);
  EXPECT_TRUE(is_data_loss(records.verify(2, 78, other, value)));
  EXPECT_TRUE(is_data_loss(records.verify(1, 77, key, value)));
  std::string again;
  records.value(2, 77, 5, key, &again);
  EXPECT_EQ(value, again);
}

TEST(ProfileStreamTest, HasTheMixAndTheLocalityOfItsProfile) {
  const WorkloadProfile profile = profile_of("tectonic");
  constexpr uint64_t kKeys = 64'000;
  const ProfileKeys keys(profile, kKeys, test_seed());
  ProfileStream stream(profile, keys, test_seed());
  constexpr int kOps = 1'000'000;
  std::array<int, kProfileOpTypes> mix{};
  std::vector<int> databases(profile.databases);
  std::map<uint64_t, int> accesses;
  for (int i = 0; i < kOps; ++i) {
    const ProfileOperation op = stream.next();
    ++mix[static_cast<size_t>(op.type)];
    ++databases[op.database];
    ASSERT_LT(op.number, kKeys);
    ++accesses[op.database * kKeys + op.number];
  }
  EXPECT_NEAR(mix[0] / double{kOps}, profile.get, 0.005);
  EXPECT_NEAR(mix[1] / double{kOps}, profile.put, 0.005);
  EXPECT_NEAR(mix[2] / double{kOps}, profile.seek, 0.005);
  for (const int count : databases) EXPECT_NEAR(count, kOps / double(profile.databases), 2500);
  // Of all pairs that may be accessed, a tenth gets half.
  const double accessed = profile.accessed_share * kKeys * profile.databases;
  EXPECT_LE(static_cast<double>(accesses.size()), accessed);
  std::vector<int> counts;
  for (const auto& [pair, count] : accesses) counts.push_back(count);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  double hot = 0;
  for (size_t i = 0; i < static_cast<size_t>(accessed / 10); ++i) hot += counts[i];
  EXPECT_NEAR(hot / kOps, 0.5, 0.05);  // the sample's own order, not the law's: somewhat more
}

TEST(ProfileStreamTest, ATenthOfThePairsByTheLawGetsHalf) {
  for (const char* name : {"whatsapp", "tectonic", "laser"}) {
    const WorkloadProfile profile = profile_of(name);
    const ProfileKeys keys(profile, 500'000, test_seed());
    EXPECT_NEAR(keys.law().share_of(keys.law().items() / 10), 0.5, 0.01) << name;
    // The pairs of the hottest tenth, in one database, by where they lie.
    const ScatteredRuns runs(500'000, profile.run_keys, mix64(test_seed()));
    std::set<uint64_t> hottest;
    for (uint64_t rank = 0; rank < keys.law().items() / 10; ++rank) {
      hottest.insert((runs.key_of(rank) + mix64(0)) % 500'000);
    }
    Prng prng(test_seed());
    int hot = 0;
    for (int i = 0; i < 200'000; ++i) hot += hottest.contains(keys.next(0, prng)) ? 1 : 0;
    EXPECT_NEAR(hot / 200'000.0, 0.5, 0.01) << name;
  }
}

TEST(ProfileStreamTest, AShareOfTheOperationsRepeatsWhatWasAccessedLast) {
  WorkloadProfile profile = profile_of("whatsapp");
  const ProfileKeys keys(profile, 500'000, test_seed());
  const auto repeated = [&](double share) {
    profile.repeat_share = share;
    ProfileStream stream(profile, keys, test_seed());
    std::vector<std::pair<uint32_t, uint64_t>> last;
    int count = 0;
    for (int i = 0; i < 20'000; ++i) {
      const ProfileOperation op = stream.next();
      const std::pair<uint32_t, uint64_t> pair(op.database, op.number);
      if (std::find(last.begin(), last.end(), pair) != last.end()) {
        ++count;
        continue;
      }
      last.push_back(pair);
      if (last.size() > profile.repeat_last) last.erase(last.begin());
    }
    return count / 20'000.0;
  };
  const double by_the_law = repeated(0);
  EXPECT_LT(by_the_law, 0.25);
  EXPECT_NEAR(repeated(0.4), 0.4 + 0.6 * by_the_law, 0.03);
}

TEST(ProfileStreamTest, IsDeterminedByItsSeed) {
  const WorkloadProfile profile = profile_of("whatsapp");
  const ProfileKeys keys(profile, 10'000, 1);
  ProfileStream one(profile, keys, 7), two(profile, keys, 7), other(profile, keys, 8);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const ProfileOperation a = one.next(), b = two.next(), c = other.next();
    EXPECT_EQ(a.number, b.number);
    EXPECT_EQ(a.database, b.database);
    EXPECT_EQ(a.version, b.version);
    same += a.number == c.number ? 1 : 0;
  }
  EXPECT_LT(same, 50);
}

}  // namespace
}  // namespace nvcache
