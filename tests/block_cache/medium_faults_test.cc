// The cost of a medium's faults, by layout: which share of the puts is kept, how soon the medium is
// off, and how soon on when it is well. Ten seconds of a fault, 2000 puts of 16 KiB a second, on a
// clock that the test moves. Each test prints its row of docs/results/faults.md.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/virtual_clock.h"
#include "block_cache/region/geometry.h"
#include "support/block_cache_fixture.h"
#include "support/faulty_device.h"

namespace nvcache {
namespace {

using test::Fault;
using test::FaultyDevice;

constexpr uint64_t kFaultsGiB = uint64_t{1} << 30;
constexpr size_t kFaultsBlockBytes = 16 << 10;
constexpr uint64_t kPutNs = 500'000;
constexpr uint64_t kPutsASecond = 1'000'000'000 / kPutNs;

struct Layout {
  const char* name;
  const char* spec;
  FaultyDevice::Kind kind;
  uint64_t first_at;  // where the first block lies
  bool in_regions() const { return std::string(spec).find("regions") != std::string::npos; }
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

constexpr Layout kLayouts[] = {
    {"memory, in place", "&space=in_place", FaultyDevice::Kind::kMemory, 0},
    {"device, in place", "&space=in_place", FaultyDevice::Kind::kDevice, 0},
    {"device, in regions", "&space=regions", FaultyDevice::Kind::kDevice, 1 << 20},
};

// The fate of the puts and lookups while the fault lasted.
struct FaultOutcome {
  uint64_t offered = 0;
  uint64_t kept = 0;
  uint64_t refused = 0;
  uint64_t lookups = 0;
  uint64_t hits = 0;
  uint64_t off_puts = 0;                // that found the medium off
  std::optional<double> off_seconds{};  // after the fault
  std::optional<double> on_seconds{};   // after it was mended; none: it was on then
  uint64_t failed_writes = 0;
  uint64_t failed_writes_when_off = 0;  // until it was off
  uint64_t failed_reads_when_off = 0;

  double share(uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(offered);
  }
  uint64_t lost() const { return offered - kept - refused; }
};

class MediumFaults : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override { open(GetParam().spec); }

  // A cache on a medium that has `faults` from the start, with a second of puts in it.
  void open(const std::string& more, const std::vector<Fault>& faults = {}) {
    cache_.reset();
    auto device = std::make_unique<FaultyDevice>(8 * kFaultsGiB, GetParam().kind, clock_);
    device_ = device.get();
    device_->set(faults);
    cache_ = test::make_on("nvcache://?size=8GiB&admission=always&eviction=clock&shards=4" + more,
                           std::move(device), clock_);
    next_ = 0;
    run(kPutsASecond);
    cache_->drain();
    ASSERT_EQ(kept(0, next_), next_);
  }

  // One put, and now and then a lookup of a block from before. Waits for the cache's own threads
  // where time would not pass for them.
  void step(FaultOutcome* outcome) {
    clock_.wait_until_ns(clock_.now_ns() + kPutNs);
    Reason reason = put();
    for (int waits = 0; is_behind(reason) && waits < 5'000'000 && !slow_; ++waits) {
      std::this_thread::yield();
      reason = put();
    }
    ++next_;
    ++outcome->offered;
    outcome->refused += reason == Reason::kAdmitted ? 0 : 1;
    // One region fills, and the one before is written: a second of the clock is 40 ms of a core.
    constexpr uint64_t kMostPending = 17 << 20;
    for (int waits = 0; cache_->stats().pending_bytes > kMostPending && waits < 100'000; ++waits) {
      if (slow_) break;
      std::this_thread::yield();
    }
    for (int waits = 0; cache_->probing() && waits < 5'000'000 && !slow_; ++waits) {
      std::this_thread::yield();
    }
    outcome->off_puts += cache_->stats().failed;
    if (next_ % 16 != 0 || !looks_up_) return;
    const BlockKey key{1, next_ / 16 * 7 % kPutsASecond};
    const Lookup lookup = cache_->lookup(key);
    ++outcome->lookups;
    if (!lookup.hit()) return;
    ++outcome->hits;
    EXPECT_TRUE(test::holds(lookup.pin.bytes(), key, kFaultsBlockBytes));
  }
  Reason put() { return test::put(*cache_, {1, next_}, kFaultsBlockBytes).reason; }
  static bool is_behind(Reason reason) {
    return reason == Reason::kWriteQueueFull || reason == Reason::kNoSpace;
  }
  void run(uint64_t puts) {
    FaultOutcome ignored;
    for (uint64_t i = 0; i < puts; ++i) step(&ignored);
  }
  uint64_t kept(uint64_t first, uint64_t end) const {
    uint64_t count = 0;
    for (uint64_t i = first; i < end; ++i) count += cache_->contains({1, i}) ? 1 : 0;
    return count;
  }
  double seconds_since(uint64_t then_ns) const {
    return static_cast<double>(clock_.now_ns() - then_ns) / 1e9;
  }

  // Ten seconds of what `begin` sets, and then until the medium is on again, for a minute at most.
  template <typename Begin>
  FaultOutcome suffer(const char* fault, Begin&& begin) {
    FaultOutcome outcome;
    const uint64_t first = next_;
    const uint64_t begun_ns = clock_.now_ns();
    begin();
    while (next_ < first + 10 * kPutsASecond) {
      step(&outcome);
      if (outcome.off_puts != 1 || outcome.off_seconds) continue;
      outcome.off_seconds = seconds_since(begun_ns);
      outcome.failed_writes_when_off = device_->failed_writes();
      outcome.failed_reads_when_off = device_->failed_reads();
    }
    outcome.failed_writes = device_->failed_writes();
    const uint64_t end = next_;
    // Mended right after a probe, where it is off: the worst moment.
    FaultOutcome ignored;
    const bool is_off = cache_->stats().failed != 0;
    const uint64_t probes = failures();
    for (uint64_t i = 0; is_off && failures() == probes && i < 2 * kPutsASecond; ++i) {
      step(&ignored);
    }
    device_->heal();
    const uint64_t healed_ns = clock_.now_ns();
    while (cache_->stats().failed != 0 && seconds_since(healed_ns) < 60) step(&ignored);
    if (is_off) outcome.on_seconds = seconds_since(healed_ns);
    cache_->drain();
    outcome.kept = kept(first, end);
    print(fault, outcome);
    return outcome;
  }
  uint64_t failures() const { return device_->failed_writes() + device_->failed_reads(); }
  // After a fault that ends, all is as it was.
  void expect_well() {
    slow_ = false;
    const uint64_t first = next_;
    run(2 * kPutsASecond);
    cache_->drain();
    EXPECT_EQ(kept(first, next_), next_ - first);
    EXPECT_EQ(cache_->stats().failed, 0u);
  }
  static void print(const char* fault, const FaultOutcome& outcome) {
    const auto seconds = [](bool any, double value) {
      char text[32] = "-";
      if (any) std::snprintf(text, sizeof text, "%.1f s", value);
      return std::string(text);
    };
    const double off_for = static_cast<double>(outcome.off_puts) / kPutsASecond;
    std::printf("| %s | %s | %.1f%% | %.1f%% | %.1f%% | %.0f%% | %s | %s | %s |\n", fault,
                GetParam().name, 100 * outcome.share(outcome.kept),
                100 * outcome.share(outcome.refused), 100 * outcome.share(outcome.lost()),
                100.0 * static_cast<double>(outcome.hits) / static_cast<double>(outcome.lookups),
                seconds(outcome.off_seconds.has_value(), outcome.off_seconds.value_or(0)).c_str(),
                seconds(outcome.off_puts != 0, off_for).c_str(),
                seconds(outcome.on_seconds.has_value(), outcome.on_seconds.value_or(0)).c_str());
    std::fflush(stdout);
  }
  // A little behind the last block that is there.
  uint64_t ahead() const { return GetParam().first_at + 2 * kPutsASecond * kFaultsBlockBytes; }

  VirtualClock clock_;
  FaultyDevice* device_ = nullptr;
  std::unique_ptr<BlockCacheImpl> cache_;
  uint64_t next_ = 0;  // key
  bool slow_ = false;
  bool looks_up_ = true;
};

TEST_P(MediumFaults, OneBadPageCostsTheBlocksThatAreOnIt) {
  const FaultOutcome outcome = suffer("one bad 4 KiB", [&] {
    device_->set({{.where = {ahead(), 4096}}});
  });
  EXPECT_GT(outcome.failed_writes, 0u) << "it was met";
  EXPECT_EQ(outcome.off_puts, 0u);
  EXPECT_EQ(outcome.hits, outcome.lookups);
  EXPECT_LE(outcome.lost() + outcome.refused, GetParam().in_regions() ? 1024u : 1u);
  expect_well();
}

TEST_P(MediumFaults, ABadGigabyteIsSteppedOver) {
  const FaultOutcome outcome = suffer("a bad gigabyte of 8", [&] {
    device_->set({{.where = {ahead(), kFaultsGiB}}});
  });
  EXPECT_GE(outcome.failed_writes, 5u) << "it was met";
  EXPECT_EQ(outcome.hits, outcome.lookups);
  EXPECT_GE(outcome.share(outcome.kept), GetParam().in_regions() ? 0.4 : 0.8);
  EXPECT_LE(outcome.share(outcome.lost()), 0.2);
  expect_well();
}

TEST_P(MediumFaults, AMediumThatTakesNoWriteIsOffAndStillRead) {
  const FaultOutcome outcome =
      suffer("all writes", [&] { device_->set({{.of = Fault::Of::kWrites}}); });
  ASSERT_TRUE(outcome.off_seconds && outcome.on_seconds);
  EXPECT_LE(outcome.failed_writes_when_off, 16u + 2u) << "two may be under way";
  EXPECT_EQ(outcome.hits, outcome.lookups);
  EXPECT_LE(outcome.share(outcome.lost()), 0.2);
  EXPECT_LE(*outcome.on_seconds, 2.0);
  expect_well();
}

TEST_P(MediumFaults, AMediumThatCannotBeReadIsOff) {
  const FaultOutcome outcome =
      suffer("all reads", [&] { device_->set({{.of = Fault::Of::kReads}}); });
  ASSERT_TRUE(outcome.off_seconds && outcome.on_seconds);
  EXPECT_EQ(outcome.failed_reads_when_off, 16u);
  EXPECT_EQ(outcome.hits, 0u);
  EXPECT_LE(*outcome.on_seconds, 2.0);
  expect_well();
}

// All that comes is puts of other blocks, which read nothing.
TEST_P(MediumFaults, AMediumThatCouldNotBeReadIsOnAgainThoughNobodyReads) {
  device_->set({{.of = Fault::Of::kReads}});
  run(kPutsASecond);
  ASSERT_EQ(cache_->stats().failed, 1u);
  looks_up_ = false;
  run(kPutsASecond);
  ASSERT_EQ(cache_->stats().failed, 1u);
  device_->heal();
  const uint64_t healed_ns = clock_.now_ns();
  while (cache_->stats().failed != 0 && seconds_since(healed_ns) < 60) run(1);
  EXPECT_LE(seconds_since(healed_ns), 2.0);
  looks_up_ = true;
  expect_well();
}

TEST_P(MediumFaults, AMediumThatIsSlowIsNotOff) {
  const FaultOutcome outcome = suffer("slow by 100 times", [&] {
    slow_ = true;
    device_->slow_down(100 * 20'000, 100 * 5'000);
  });
  EXPECT_EQ(outcome.off_puts, 0u);
  EXPECT_EQ(outcome.lost(), 0u);
  EXPECT_EQ(outcome.hits, outcome.lookups);
  EXPECT_GT(outcome.kept, 0u);
  expect_well();
}

TEST_P(MediumFaults, AMediumWithoutSpaceForHolesIsOffAndStillRead) {
  const FaultOutcome outcome =
      suffer("no space for holes", [&] { device_->set({{.of = Fault::Of::kWritesOfHoles}}); });
  ASSERT_TRUE(outcome.off_seconds && outcome.on_seconds);
  EXPECT_EQ(outcome.hits, outcome.lookups);
  EXPECT_LE(outcome.share(outcome.lost()), 0.2);
  EXPECT_LE(*outcome.on_seconds, 2.0);
  expect_well();
}

class SuperblockFaults : public MediumFaults {};

// The superblock is written as a cache opens and closes, here to a medium that refuses one copy.
TEST_P(SuperblockFaults, OneBadCopyCostsNothing) {
  for (const uint64_t copy : {uint64_t{0}, Geometry::kCopyBytes}) {
    const std::vector<Fault> faults = {{.where = {copy, 4096}}};
    open(GetParam().spec + std::string("&restart=warm&format=yes"), faults);
    EXPECT_GT(device_->failed_writes(), 0u) << "it was met";
    const FaultOutcome outcome =
        suffer(copy == 0 ? "the first copy of the superblock" : "the second copy of the superblock",
               [] {});
    EXPECT_EQ(outcome.kept, outcome.offered);
    EXPECT_EQ(outcome.hits, outcome.lookups);
    EXPECT_EQ(outcome.off_puts, 0u);
    expect_well();
  }
}

INSTANTIATE_TEST_SUITE_P(Regions, SuperblockFaults, testing::Values(kLayouts[2]),
                         [](const auto&) { return std::string("device"); });

INSTANTIATE_TEST_SUITE_P(Layouts, MediumFaults, testing::ValuesIn(kLayouts),
                         [](const auto& layout) {
                           std::string name = layout.param.name;
                           std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
                           return name;
                         });

}  // namespace
}  // namespace nvcache
