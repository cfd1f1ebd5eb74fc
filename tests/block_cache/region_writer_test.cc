// RegionWriter by itself: places far out on a vast medium, the order of the writes of a region and
// how many are in flight, and regions that many threads append to.
#include "block_cache/region/region_writer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/prng.h"
#include "block_cache/index/entry.h"
#include "block_cache/region/aligned_io.h"
#include "gtest/gtest.h"
#include "support/power_loss_medium.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

// As large as the test says; keeps what is written, by pieces.
class SparseMedium final : public Medium {
 public:
  explicit SparseMedium(uint64_t size_bytes) : size_bytes_(size_bytes) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t offset, MutableBytes into) override {
    MutexLock lock(mutex_);
    auto piece = pieces_.upper_bound(offset);
    if (piece == pieces_.begin()) return data_loss_error("never written");
    --piece;
    const uint64_t within = offset - piece->first;
    if (within + into.size() > piece->second.size()) return data_loss_error("never written");
    std::memcpy(into.data(), piece->second.data() + within, into.size());
    return ok_status();
  }
  Status write(uint64_t offset, ByteView from) override {
    if (offset + from.size() > size_bytes_) return out_of_range_error("past the end");
    MutexLock lock(mutex_);
    pieces_[offset].assign(from.begin(), from.end());
    return ok_status();
  }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  const uint64_t size_bytes_;
  const Traits traits_{.name = "sparse"};
  Mutex mutex_;
  std::map<uint64_t, std::vector<std::byte>> pieces_ NVCACHE_GUARDED_BY(mutex_);
};

TEST(RegionWriter, PlacesReadsAndFreesBlocksFarOut) {
  constexpr uint64_t kTiB = uint64_t{1} << 40;
  for (const uint64_t at_bytes : {kTiB, 2 * kTiB, 8 * kTiB, 15 * kTiB}) {
    Geometry geometry{.grain_bytes = 64, .unit_bytes = 4096, .region_bytes = 16 << 20};
    while (EntryWord::max_space_bytes(geometry.grain_bytes) < 16 * kTiB) geometry.grain_bytes *= 2;
    SparseMedium medium(16 * kTiB);
    const uint32_t regions = geometry.regions_in(medium.size_bytes());
    RegionTable table({.regions = regions, .limit = regions});
    const auto first = static_cast<uint32_t>(at_bytes / geometry.region_bytes);
    while (table.free_regions() > regions - first) (void)table.take_free();
    const uint32_t free_regions = table.free_regions();
    RegionWriter writer({.geometry = geometry, .nonce = 1}, medium, table,
                        {.wants_room = [] {},
                         .wrote = [](uint64_t, const Status&) {},
                         .lost = [](uint32_t, std::span<const BlockRecord>) {}});
    ASSERT_TRUE(writer.start());
    RegionWriter::Spot spot;
    ASSERT_EQ(writer.append(5000, &spot), Reason::kAdmitted);
    std::fill_n(spot.bytes, 5000, std::byte{0x5a});
    spot.record->size_bytes = 5000;
    writer.finish(spot);
    writer.drain();
    EXPECT_GE(geometry.region_of(spot.place), first);
    const uint64_t offset = Geometry::kHeadBytes + spot.place * uint64_t{geometry.grain_bytes};
    EXPECT_GE(offset, at_bytes);
    std::vector<std::byte> read(5000);
    EXPECT_TRUE(medium.read(offset, read).ok());
    EXPECT_TRUE(std::ranges::all_of(read, [](std::byte b) { return b == std::byte{0x5a}; }));
    // The entry keeps the place.
    const EntryWord word = EntryWord::make(EntryWord::kLive, 3, 5000, spot.place);
    EXPECT_EQ(word.offset_grains(), spot.place);
    EXPECT_EQ(word.size_bytes(), 5000u);
    EXPECT_EQ(word.pins(), 3u);
    // Emptied, it is free again.
    const std::optional<uint32_t> region = table.take_to_empty(/*only_without_blocks=*/false);
    ASSERT_TRUE(region);
    table.remove(*region, geometry.offset_in_region(spot.place),
                 (5000 + geometry.grain_bytes - 1) / geometry.grain_bytes);
    EXPECT_EQ(table.free_regions(), free_regions - 1);
    table.let_go(*region);
    EXPECT_EQ(table.free_regions(), free_regions);
    EXPECT_EQ(table.used_grains(), 0u);
  }
}

// Holds writes of whole pieces back until so many are in flight, and notes when each begins and
// ends.
class GatedMedium final : public Medium {
 public:
  struct Event {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool begins = false;
    bool zeros_at_the_end = false;  // its last 64 bytes
  };

  GatedMedium(uint64_t size_bytes, uint32_t gate) : size_bytes_(size_bytes), gate_(gate) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t, MutableBytes) override { return unimplemented_error("read"); }
  Status resize(uint64_t) override { return ok_status(); }
  Status write(uint64_t offset, ByteView from) override {
    const bool zeros = std::ranges::all_of(from.last(RegionFooter::kBytes),
                                           [](std::byte b) { return b == std::byte{0}; });
    MutexLock lock(mutex_);
    events_.push_back({offset, from.size(), true, zeros});
    most_ = std::max(most_, ++in_flight_);
    if (offset == fails_at_) failed_ = true;
    changed_.notify_all();
    // A writer that has fewer in flight goes on after a while, and the test fails.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (from.size() == RegionWriter::kPieceBytes && most_ < gate_ && !failed_) {
      if (!changed_.wait_until(mutex_, deadline)) break;
    }
    --in_flight_;
    events_.push_back({offset, from.size(), false, zeros});
    return offset == fails_at_ ? data_loss_error("Input/output error") : ok_status();
  }
  void fail_at(uint64_t offset) {
    MutexLock lock(mutex_);
    fails_at_ = offset;
  }
  uint32_t most_in_flight() const {
    MutexLock lock(mutex_);
    return most_;
  }
  std::vector<Event> events() const {
    MutexLock lock(mutex_);
    return events_;
  }

 private:
  const uint64_t size_bytes_;
  const uint32_t gate_;
  const Traits traits_{.name = "gated"};
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Event> events_ NVCACHE_GUARDED_BY(mutex_);
  uint32_t in_flight_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t most_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t fails_at_ NVCACHE_GUARDED_BY(mutex_) = ~uint64_t{0};
  bool failed_ NVCACHE_GUARDED_BY(mutex_) = false;
};

// A writer of regions of 8 MiB on a gated medium.
struct GatedWriter {
  static constexpr uint64_t kRegionBytes = 8 << 20;
  const Geometry geometry{.grain_bytes = 64, .unit_bytes = 4096, .region_bytes = kRegionBytes};
  GatedMedium medium;
  RegionTable table{{.regions = 4, .limit = 4}};
  std::atomic<uint32_t> asked{0};
  std::atomic<uint32_t> emptied{0};
  std::atomic<uint32_t> lost{0};
  RegionWriter writer;

  explicit GatedWriter(uint32_t gate)
      : medium(geometry.region_at(4), gate),
        writer({.geometry = geometry, .nonce = 1}, medium, table,
               {.wants_room = [this] { make_room(); },
                .wrote = [](uint64_t, const Status&) {},
                .lost = [this](uint32_t, std::span<const BlockRecord>) { ++lost; }}) {}
  void make_room() {
    ++asked;
    const auto region = table.take_to_empty(/*only_without_blocks=*/false);
    if (!region) return;
    table.let_go(*region);
    ++emptied;
  }
  void put(uint32_t blocks, uint32_t size_bytes) {
    for (uint32_t i = 0; i < blocks; ++i) {
      RegionWriter::Spot spot;
      ASSERT_EQ(writer.append(size_bytes, &spot), Reason::kAdmitted);
      std::fill_n(spot.bytes, size_bytes, std::byte{0x5a});
      spot.record->size_bytes = size_bytes;
      writer.finish(spot);
    }
  }
};

TEST(RegionWriter, SeveralWritesAreInFlightAndTheIndexComesLast) {
  constexpr uint32_t kBlockBytes = 100'000;
  // A region that is full, and one with a gap before its index.
  for (const uint32_t blocks : {83u, 60u}) {
    GatedWriter gated(RegionWriter::Options().threads);
    ASSERT_TRUE(gated.writer.start());
    gated.put(blocks, kBlockBytes);
    gated.writer.drain();
    EXPECT_EQ(gated.medium.most_in_flight(), RegionWriter::Options().threads);
    const std::vector<GatedMedium::Event> events = gated.medium.events();
    ASSERT_GT(events.size(), 8u);
    const auto reaches_the_end = [&](const GatedMedium::Event& event) {
      return event.offset + event.bytes == gated.geometry.region_at(1);
    };
    EXPECT_TRUE(reaches_the_end(events[0]) && events[0].zeros_at_the_end);
    EXPECT_TRUE(reaches_the_end(events[1]) && !events[1].begins) << "before any other begins";
    const size_t last = events.size() - 2;
    EXPECT_TRUE(reaches_the_end(events[last]) && events[last].begins) << "all others have ended";
    EXPECT_FALSE(events[last].zeros_at_the_end);
    std::vector<std::pair<uint64_t, uint64_t>> pieces;
    for (const auto& event : events) {
      if (event.begins) pieces.emplace_back(event.offset, event.offset + event.bytes);
    }
    std::ranges::sort(pieces);
    uint64_t covered = gated.geometry.region_at(0);
    const uint64_t data_end = covered + uint64_t{blocks} * kBlockBytes;
    for (const auto& [begin, end] : pieces) {
      if (begin <= covered) covered = std::max(covered, end);
    }
    EXPECT_GE(covered, data_end);
    EXPECT_EQ(gated.lost, 0u);
    EXPECT_EQ(gated.table.free_regions(), 3u);
  }
}

// Who is asked while no region is sealed finds none, and is asked again: else puts would be refused
// until the next one asks.
TEST(RegionWriter, AsksForRoomAgainWhenARegionIsSealed) {
  GatedWriter gated(0);
  gated.put(2 * 83 + 1, 100'000);  // the third region of four is open, and nothing is written yet
  EXPECT_EQ(gated.asked, 1u);
  EXPECT_EQ(gated.emptied, 0u);
  ASSERT_TRUE(gated.writer.start());
  gated.writer.drain();
  EXPECT_GE(gated.emptied, 1u);
}

// The region that is kept back for blocks in use gets the buffer that new blocks had last.
TEST(RegionWriter, NewBlocksDoNotFillTheRegionOfBlocksInUse) {
  const Geometry geometry{.grain_bytes = 64, .unit_bytes = 4096, .region_bytes = 128 << 10};
  SparseMedium medium(geometry.region_at(3));
  RegionTable table({.regions = 3, .limit = 3});
  RegionWriter writer({.geometry = geometry, .nonce = 1}, medium, table,
                      {.wants_room = [] {},
                       .wrote = [](uint64_t, const Status&) {},
                       .lost = [](uint32_t, std::span<const BlockRecord>) {}});
  ASSERT_TRUE(writer.start());
  const auto append = [&](RegionWriter::For use) -> std::optional<uint32_t> {
    RegionWriter::Spot spot;
    if (writer.append(5000, &spot, use) != Reason::kAdmitted) return std::nullopt;
    spot.record->size_bytes = 5000;
    writer.finish(spot);
    return geometry.region_of(spot.place);
  };
  while (table.free_regions() > 1) {
    ASSERT_TRUE(append(RegionWriter::For::kNewBlock));
    writer.drain();
  }
  const std::optional<uint32_t> kept = append(RegionWriter::For::kKeptBlock);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(append(RegionWriter::For::kNewBlock));
  for (int block = 0; block < 20; ++block) {
    EXPECT_EQ(append(RegionWriter::For::kKeptBlock), kept) << block;
  }
}

TEST(RegionWriter, AWriteThatFailsBesideOthersLosesItsRegionOnce) {
  for (uint64_t piece = 0; piece < 8; ++piece) {
    GatedWriter gated(RegionWriter::Options().threads);
    gated.medium.fail_at(gated.geometry.region_at(0) + piece * RegionWriter::kPieceBytes);
    ASSERT_TRUE(gated.writer.start());
    gated.put(83, 100'000);
    gated.writer.drain();
    EXPECT_EQ(gated.lost, 1u) << piece;
    EXPECT_EQ(gated.table.take_to_empty(/*only_without_blocks=*/false), std::nullopt);
    for (const auto& event : gated.medium.events()) {
      EXPECT_TRUE(event.offset + event.bytes != gated.geometry.region_at(1) ||
                  event.zeros_at_the_end || piece == 7)
          << "no index is written";
    }
  }
}

// Threads append to small regions, which are emptied and opened again all the time: each region
// that is sealed is whole, and each block is where its record says.
TEST(RegionWriter, EveryRegionIsWholeWhoeverAppends) {
  constexpr Geometry kSmall{.grain_bytes = 64, .unit_bytes = 512, .region_bytes = 8 << 10};
  constexpr uint32_t kRegions = 64;
  constexpr uint64_t kThreads = 4;
  PowerLossMedium medium(kSmall.region_at(kRegions), 512);
  RegionTable table({.regions = kRegions, .limit = kRegions});
  RegionWriter writer({.geometry = kSmall, .nonce = 9, .buffers = 6}, medium, table,
                      {.wants_room = [] {},
                       .wrote = [](uint64_t, const Status&) {},
                       .lost = [](uint32_t, std::span<const BlockRecord>) { FAIL(); }});
  ASSERT_TRUE(writer.start());
  std::atomic<uint64_t> appended{0};
  std::atomic<uint64_t> found{0};
  std::atomic<bool> failed{false};
  const auto append = [&](uint64_t thread) {
    Prng random(test_seed() + thread);
    for (uint64_t i = 0; i < 20'000; ++i) {
      const auto size_bytes = static_cast<uint32_t>(1 + random.below(700));
      const auto use =
          random.below(4) == 0 ? RegionWriter::For::kKeptBlock : RegionWriter::For::kNewBlock;
      RegionWriter::Spot spot;
      while (writer.append(size_bytes, &spot, use) != Reason::kAdmitted) {
        if (failed) return;
        std::this_thread::yield();
      }
      const BlockKey key{thread, i};
      std::fill_n(spot.bytes, size_bytes, static_cast<std::byte>(i));
      spot.record->key = key;
      spot.record->size_bytes = size_bytes;
      spot.record->checksum = checksum_block(key, {spot.bytes, size_bytes});
      writer.finish(spot);
      appended.fetch_add(1);
    }
  };
  const auto check_and_empty = [&](uint32_t region) {
    AlignedBytes memory(kSmall.region_bytes, kSmall.unit_bytes);
    const MutableBytes bytes = memory.span();
    ASSERT_TRUE(medium.read(kSmall.region_at(region), bytes).ok());
    const auto footer =
        RegionFooter::decode_of(kSmall, 9, region, ByteView(bytes).last(RegionFooter::kBytes));
    ASSERT_TRUE(footer);
    std::vector<BlockRecord> records(footer->count);
    std::memcpy(records.data(),
                bytes.data() + bytes.size() - RegionFooter::tail_bytes(footer->count),
                footer->count * sizeof(BlockRecord));
    ASSERT_TRUE(is_whole(kSmall, 9, *footer, records));
    for (const BlockRecord& record : records) {
      const ByteView block =
          ByteView(bytes).subspan(uint64_t{record.offset_grains} * 64, record.size_bytes);
      ASSERT_EQ(checksum_block(record.key, block), record.checksum);
      table.remove(region, record.offset_grains, (record.size_bytes + 63) / 64);
    }
    found.fetch_add(footer->count);
    table.let_go(region);
  };
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) threads.emplace_back(append, t);
  while (found < kThreads * 20'000 && !failed) {
    if (const auto region = table.take_to_empty(false)) {
      check_and_empty(*region);
      failed = testing::Test::HasFatalFailure();
    } else {
      if (appended == kThreads * 20'000) writer.drain();
      std::this_thread::yield();
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, appended);
  EXPECT_EQ(table.used_grains(), 0u);
}

}  // namespace
}  // namespace nvcache
