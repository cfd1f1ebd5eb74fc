// The blocks that each admission policy admits. obp_policy_test.cc tests obp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/prng.h"
#include "medium/medium.h"
#include "policy/admission/make_admission.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kCandidateBytes = 4096;
constexpr uint64_t kSecondNs = 1'000'000'000;

std::unique_ptr<AdmissionPolicy> admission_policy(std::string_view spec,
                                                  AdmissionContext context = {}) {
  return make_admission(spec, context).value();
}

Candidate candidate(uint64_t key, Origin origin = Origin::kRead) {
  return {.key = {1, key}, .key_hash = mix64(key), .size_bytes = kCandidateBytes, .origin = origin};
}

TEST(AlwaysPolicy, AdmitsAndEvictsAlways) {
  const auto policy = admission_policy("always");
  const Traffic burst{.lookups = 0, .inserted = 1000, .removed = 1000};
  EXPECT_TRUE(policy->admit(candidate(1, Origin::kWrite), burst).admitted());
  EXPECT_TRUE(policy->may_evict(burst));
}

TEST(NoWriteAllocatePolicy, RefusesTheWritePathOnly) {
  const auto policy = admission_policy("no_write_allocate");
  EXPECT_EQ(policy->admit(candidate(1, Origin::kWrite), {}), Verdict::refuse(Reason::kWriteOrigin));
  EXPECT_TRUE(policy->admit(candidate(1, Origin::kRead), {}).admitted());
}

int admitted_of_10000(AdmissionPolicy& policy) {
  int admitted = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    admitted += policy.admit(candidate(i % 10), {}).admitted() ? 1 : 0;
  }
  return admitted;
}

TEST(ProbabilityPolicy, AdmitsAsManyAsItSays) {
  EXPECT_EQ(admitted_of_10000(*admission_policy("probability(0)")), 0);
  EXPECT_EQ(admitted_of_10000(*admission_policy("probability(1)")), 10'000);
  const int admitted = admitted_of_10000(*admission_policy("probability(0.25)", {.seed = 99}));
  EXPECT_GT(admitted, 2300);  // six standard deviations below; the seed is fixed anyway
  EXPECT_LT(admitted, 2700);
}

TEST(ProbabilityPolicy, TheSeedDecides) {
  const auto draws = [](uint64_t seed) {
    const auto policy = admission_policy("probability(0.5)", {.seed = seed});
    std::string drawn;
    for (uint64_t key = 0; key < 64; ++key) {
      const Verdict verdict = policy->admit(candidate(key), {});
      drawn += verdict.admitted() ? '1' : '0';
      if (!verdict.admitted()) {
        EXPECT_EQ(verdict.reason, Reason::kProbability);
      }
    }
    return drawn;
  };
  EXPECT_EQ(draws(1), draws(1));
  EXPECT_NE(draws(1), draws(2));
}

// ---- second_touch

TEST(SecondTouchPolicy, AdmitsTheSecondOffer) {
  const auto policy = admission_policy("second_touch", {.cache_size_bytes = 64 << 20});
  EXPECT_EQ(policy->admit(candidate(1), {}), Verdict::refuse(Reason::kFirstTouch));
  EXPECT_EQ(policy->admit(candidate(2), {}), Verdict::refuse(Reason::kFirstTouch));
  EXPECT_TRUE(policy->admit(candidate(1), {}).admitted());
  EXPECT_TRUE(policy->admit(candidate(1), {}).admitted()) << "a refusal elsewhere costs nothing";
}

TEST(SecondTouchPolicy, RemembersAboutAsManyBlocksAsTheCacheHoldsInTwoBytesEach) {
  constexpr uint64_t kResident = 50'000;
  const auto policy =
      admission_policy("second_touch", {.cache_size_bytes = kResident * kCandidateBytes});
  const Traffic full{.inserted = kResident,
                     .written_bytes = kResident * kCandidateBytes,
                     .resident_blocks = kResident};
  uint64_t next = 0;
  for (; next < 4 * kResident; ++next) policy->admit(candidate(next), full);
  EXPECT_LE(policy->metadata_bytes(), 2 * kResident);
  const auto remembered = [&](uint64_t ago, uint64_t count) {
    uint64_t found = 0;
    for (uint64_t key = next - ago; key < next - ago + count; ++key) {
      found += policy->admit(candidate(key), full).admitted() ? 1 : 0;
    }
    return static_cast<double>(found) / static_cast<double>(count);
  };
  EXPECT_GT(remembered(kResident / 10, 1000), 0.95);
  EXPECT_GT(remembered(kResident / 2, 1000), 0.70);
  EXPECT_LT(remembered(3 * kResident, 1000), 0.20);
}

TEST(SecondTouchPolicy, FollowsACacheThatGrowsWithoutForgetting) {
  const auto policy = admission_policy("second_touch", {.cache_size_bytes = uint64_t{1} << 30});
  Traffic traffic;
  for (uint64_t key = 0; key < 200; ++key) policy->admit(candidate(key), traffic);
  traffic = {.inserted = 100'000, .written_bytes = uint64_t{1} << 30, .resident_blocks = 100'000};
  for (uint64_t i = 0; i < 300; ++i) policy->admit(candidate(1 << 20), traffic);
  EXPECT_GT(policy->metadata_bytes(), 150'000u);
  for (uint64_t key = 0; key < 200; ++key) {
    EXPECT_TRUE(policy->admit(candidate(key), traffic).admitted()) << key;
  }
}

// A loop over more blocks than an empty cache would remember must not keep it empty.
TEST(SecondTouchPolicy, ALoopThatFitsTheCacheFillsIt) {
  constexpr uint64_t kLoop = 20'000;
  const auto policy =
      admission_policy("second_touch", {.cache_size_bytes = 2 * kLoop * kCandidateBytes});
  Traffic traffic;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t key = 0; key < kLoop; ++key) {
      ++traffic.lookups;
      if (!policy->admit(candidate(key), traffic).admitted()) continue;
      ++traffic.inserted;
      ++traffic.resident_blocks;
      traffic.written_bytes += kCandidateBytes;
    }
  }
  EXPECT_GT(traffic.inserted, kLoop * 8 / 10);
  EXPECT_LE(policy->metadata_bytes(), 2 * (2 * kLoop)) << "2 bytes a block that has room";
}

TEST(SecondTouchPolicy, ASmallOrUnknownCacheStillHasATable) {
  for (const uint64_t size_bytes : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    const auto policy = admission_policy("second_touch", {.cache_size_bytes = size_bytes});
    for (uint64_t key = 0; key < 200; ++key) policy->admit(candidate(key), {});
    for (uint64_t key = 100; key < 200; ++key) {
      EXPECT_TRUE(policy->admit(candidate(key), {}).admitted()) << size_bytes;
    }
  }
}

// ---- small_bypass

TEST(SmallBypassPolicy, RefusesWhileTheDatasetFitsIntoDram) {
  const auto policy = admission_policy("small_bypass(1GiB)");
  const auto verdict = [&](uint64_t size_bytes) {
    return policy->admit(candidate(1), {.dataset_size_bytes = size_bytes});
  };
  constexpr uint64_t kGiB = 1 << 30;
  EXPECT_EQ(verdict(1), Verdict::refuse(Reason::kSmallDataset));
  EXPECT_EQ(verdict(kGiB), Verdict::refuse(Reason::kSmallDataset));
  EXPECT_TRUE(verdict(kGiB + 1).admitted());
  EXPECT_EQ(verdict(kGiB - 1), Verdict::refuse(Reason::kSmallDataset)) << "nothing is latched";
  EXPECT_TRUE(verdict(0).admitted()) << "the size is not known";
}

class SmallBypassDirectory : public ::testing::Test {
 protected:
  SmallBypassDirectory() { fs::create_directories(path_ / "below"); }
  ~SmallBypassDirectory() override { fs::remove_all(path_); }

  void write(const std::string& name, size_t size_bytes) {
    std::ofstream(path_ / name) << std::string(size_bytes, 'x');
  }
  Verdict verdict(uint64_t now_ns) {
    if (policy_ == nullptr)
      policy_ = admission_policy("small_bypass(10000," + path_.string() + ")");
    return policy_->admit(candidate(1), {.dataset_size_bytes = 1 << 30, .now_ns = now_ns});
  }
  // The verdict after the scan that a block offered at `now_ns` starts. (A scan whose time has not
  // come is not started by later blocks of the same time either.)
  bool admits_soon(uint64_t now_ns, bool expected) {
    for (int i = 0; i < 10'000 && verdict(now_ns).admitted() != expected; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return verdict(now_ns).admitted();
  }

  const fs::path path_ = fs::path(::testing::TempDir()) /
                         ("small_bypass, with a comma+plus " + std::to_string(getpid()));
  std::unique_ptr<AdmissionPolicy> policy_;
};

TEST_F(SmallBypassDirectory, SumsTheFilesBelowIt) {
  EXPECT_FALSE(admits_soon(0, false)) << "an empty dataset is small";
  EXPECT_EQ(verdict(0), Verdict::refuse(Reason::kSmallDataset));
  write("a", 6000);
  write("below/b", 4001);
  EXPECT_TRUE(admits_soon(2 * kSecondNs, true));
  fs::remove(path_ / "a");
  EXPECT_FALSE(admits_soon(4 * kSecondNs, false));
}

TEST_F(SmallBypassDirectory, AdmitsUntilTheFirstScanIsOver) {
  EXPECT_TRUE(verdict(0).admitted()) << "no put waits for it";
}

TEST_F(SmallBypassDirectory, LooksNotMoreThanOnceASecond) {
  EXPECT_FALSE(admits_soon(kSecondNs, false));
  write("a", 20'000);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(verdict(kSecondNs + kSecondNs / 2).admitted());
  }
  EXPECT_TRUE(admits_soon(2 * kSecondNs, true));
}

TEST_F(SmallBypassDirectory, KeepsTheLastKnownSizeWhenTheDirectoryVanishes) {
  EXPECT_FALSE(admits_soon(0, false));
  fs::remove_all(path_);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(verdict((10 + i) * kSecondNs).admitted());
  }
}

TEST_F(SmallBypassDirectory, LinksAreNotFollowed) {
  fs::create_directory_symlink(path_, path_ / "below" / "loop");
  write("a", 6000);
  fs::create_symlink(path_ / "a", path_ / "below" / "again");
  EXPECT_FALSE(admits_soon(2 * kSecondNs, false)) << "6000 once, not twice";
}

TEST_F(SmallBypassDirectory, FilesOfCachesAreNoDataset) {
  const TempDir elsewhere;  // the name of a medium has no comma
  const auto file = open_medium("file:" + elsewhere.file("cache"),
                                {.size_bytes = 1 << 20, .max_size_bytes = 1 << 20}, system_clock());
  ASSERT_TRUE(file.ok()) << file.status();
  fs::rename(elsewhere.file("cache"), path_ / "cache");
  write("a", 100);
  EXPECT_FALSE(admits_soon(0, false));
  write("b", 20'000);
  EXPECT_TRUE(admits_soon(2 * kSecondNs, true));
}

}  // namespace
}  // namespace nvcache
