// The figures of a metered medium about its accesses, in virtual time.
#include <gtest/gtest.h>

#include <vector>

#include "base/virtual_clock.h"
#include "medium/metered.h"

namespace nvcache {
namespace {

// A medium of which each access takes what the test says.
class SlowMedium final : public Medium {
 public:
  SlowMedium(VirtualClock& clock, const uint64_t& access_ns)
      : clock_(clock), access_ns_(access_ns) {}

  uint64_t size_bytes() const override { return 1 << 20; }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t, MutableBytes) override { return take(); }
  [[nodiscard]] Status write(uint64_t, ByteView) override { return take(); }
  [[nodiscard]] Status on_direct_read(Extent) override { return take(); }
  [[nodiscard]] Status resize(uint64_t) override { return ok_status(); }

 private:
  Status take() {
    clock_.wait_until_ns(clock_.now_ns() + access_ns_);
    return ok_status();
  }

  VirtualClock& clock_;
  const uint64_t& access_ns_;
  const Traits traits_;
};

TEST(MeteredMedium, TellsTheMeanOfItsReadsAndWrites) {
  VirtualClock clock;
  uint64_t access_ns = 1000;
  MeteredMedium medium(std::make_unique<SlowMedium>(clock, access_ns), clock);
  EXPECT_EQ(medium.read_ns(), 0u);
  EXPECT_EQ(medium.write_kib_ns(), 0u);
  std::vector<std::byte> block(4096);
  const auto read_all = [&] {
    for (uint64_t at = 0; at < 1 << 20; at += 4096) {
      ASSERT_TRUE(medium.read(at, MutableBytes(block)).ok());
    }
  };
  read_all();
  EXPECT_EQ(medium.read_ns(), 1000u);
  ASSERT_TRUE(medium.write(0, block).ok());
  EXPECT_EQ(medium.write_kib_ns(), 250u);
  access_ns = 3000;
  for (int i = 0; i < 40; ++i) read_all();
  EXPECT_NEAR(static_cast<double>(medium.read_ns()), 3000, 30);
  access_ns = 500;
  for (int i = 0; i < 40; ++i) {
    for (uint64_t at = 0; at < 1 << 20; at += 4096) {
      ASSERT_TRUE(medium.on_direct_read({at, 4096}).ok());
    }
  }
  EXPECT_NEAR(static_cast<double>(medium.read_ns()), 500, 20);
}

// Small writes are sampled by their place; large ones all count.
TEST(MeteredMedium, CountsEachLargeWriteAndSomeSmallOnes) {
  VirtualClock clock;
  uint64_t access_ns = 16'000;
  MeteredMedium medium(std::make_unique<SlowMedium>(clock, access_ns), clock);
  const std::vector<std::byte> large(16 << 10);
  ASSERT_TRUE(medium.write(4096, large).ok());
  EXPECT_EQ(medium.write_kib_ns(), 1000u);
  const std::vector<std::byte> small(1024);
  access_ns = 3000;
  for (int round = 0; round < 10; ++round) {
    for (uint64_t at = 0; at < 1 << 20; at += 4096) ASSERT_TRUE(medium.write(at, small).ok());
  }
  EXPECT_NEAR(static_cast<double>(medium.write_kib_ns()), 3000, 60);
}

TEST(MeanTime, AStallCountsForLittle) {
  MeanTime mean;
  EXPECT_EQ(mean.ns(), 0u);
  for (int i = 0; i < 100; ++i) mean.add(1000);
  EXPECT_EQ(mean.ns(), 1000u);
  mean.add(1'000'000'000);
  EXPECT_LE(mean.ns(), 1000u + 8000 / 16);
  for (int i = 0; i < 200; ++i) mean.add(2000);
  EXPECT_NEAR(static_cast<double>(mean.ns()), 2000, 20);
  mean.add(0);
  for (int i = 0; i < 1000; ++i) mean.add(0);
  EXPECT_EQ(mean.ns(), 1u) << "known, and nothing";
}

}  // namespace
}  // namespace nvcache
