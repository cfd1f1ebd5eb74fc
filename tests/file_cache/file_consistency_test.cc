// A block cache beside concurrent reads and writes of files. With a fault in it, this test must
// fail: see the negative controls in tests/CMakeLists.txt.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "file_cache/file_block_cache.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

constexpr uint64_t kSector = ExtentMap::kUnitBytes;

// A file of sectors that hold their version. Writers take turns, as an engine's do
// on one range; readers do not. A sector that is read is never older than what the
// last finished write of it left.
class Sectors {
 public:
  static constexpr uint64_t kCount = 512;

  Sectors(CachedFile& file, uint64_t seed) : file_(file), seed_(seed) {}

  void run(int thread, int operations) {
    Prng random(seed_ * 1000 + static_cast<uint64_t>(thread));
    for (int i = 0; i < operations && !wrong_; ++i) {
      // Few different extents, of all geometries: so that reads are served.
      const uint64_t first = random.below(60) * 8 + (random.below(4) == 0 ? random.below(8) : 0);
      const uint64_t count = std::min(1 + random.below(3) * 8, kCount - first);
      random.below(4) == 0 ? write(first, count) : read(first, count);
    }
  }
  std::string wrong() {
    const std::lock_guard lock(report_);
    return what_;
  }

 private:
  void write(uint64_t first, uint64_t count) {
    const std::lock_guard lock(writing_);
    const uint64_t version = ++version_;
    const FileRange range{first * kSector, count * kSector};
    const bool was_cached = file_.begin_write(range);
    for (uint64_t i = first; i < first + count; ++i) disk_[i].store(version);
    file_.end_write(range, sectors_from_disk(first, count), was_cached);
    for (uint64_t i = first; i < first + count; ++i) finished_[i].store(version);
  }

  void read(uint64_t first, uint64_t count) {
    std::vector<uint64_t> oldest(count);
    for (uint64_t i = 0; i < count; ++i) oldest[i] = finished_[first + i].load();
    std::vector<std::byte> block(count * kSector);
    ReadTicket ticket;
    const bool served = file_.read(first * kSector, block, &ticket);
    if (!served) {
      block = sectors_from_disk(first, count);
      file_.offer(first * kSector, block, ticket);
    }
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t version = 0;
      std::memcpy(&version, block.data() + i * kSector, sizeof version);
      if (version >= oldest[i]) continue;
      const std::lock_guard lock(report_);
      what_ = fmt::format("sector {} of {}+{}: version {} after {} was finished (seed {})",
                          first + i, first, count, version, oldest[i], seed_);
      wrong_ = true;
    }
  }

  std::vector<std::byte> sectors_from_disk(uint64_t first, uint64_t count) {
    std::vector<std::byte> block(count * kSector);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t version = disk_[first + i].load();
      std::memcpy(block.data() + i * kSector, &version, sizeof version);
    }
    return block;
  }

  CachedFile& file_;
  const uint64_t seed_;
  std::vector<std::atomic<uint64_t>> disk_ = std::vector<std::atomic<uint64_t>>(kCount);
  std::vector<std::atomic<uint64_t>> finished_ = std::vector<std::atomic<uint64_t>>(kCount);
  uint64_t version_ = 0;
  std::mutex writing_;
  std::mutex report_;
  std::string what_;
  std::atomic<bool> wrong_{false};
};

TEST(FileBlockCacheConsistency, UnderConcurrentOverlappingReadsAndWrites) {
  for (const char* medium : {"dram", "emulated:dram"}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const std::shared_ptr<BlockCache> cache = test::open(fmt::format(
          "nvcache://?size=128KiB&medium={}&verify=always&admission=always&eviction=clock",
          medium));
      FileBlockCache files(cache);
      const auto file = files.open("a", {.size_bytes = Sectors::kCount * kSector});
      Sectors sectors(*file, seed);
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { sectors.run(i, 5000); });
      for (std::thread& thread : threads) thread.join();
      ASSERT_EQ(sectors.wrong(), "");
      EXPECT_GT(files.stats()[FileCount::kServedReads], 100u);
      EXPECT_GT(files.stats()[FileCount::kInvalidated], 100u);
      EXPECT_GT(cache->stats().evictions, 0u);
    }
  }
}

}  // namespace
}  // namespace nvcache
