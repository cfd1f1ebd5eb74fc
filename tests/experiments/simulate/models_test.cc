// The parts that a simulation is made of, each by itself.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "experiments/simulate/event_clock.h"
#include "experiments/simulate/keys.h"
#include "experiments/simulate/lru_list.h"
#include "experiments/simulate/main_memory.h"
#include "experiments/simulate/phantom_medium.h"
#include "experiments/simulate/scheduler.h"
#include "experiments/simulate/storage.h"
#include "gtest/gtest.h"
#include "support/test_seed.h"

namespace nvcache::simulate {
namespace {

Task note_at(Scheduler& time, uint64_t when_ns, uint32_t number, std::vector<uint32_t>& order) {
  co_await time.busy_until(when_ns);
  order.push_back(number);
}

TEST(SimulateScheduler, TheEarliestComesFirstAndOfEqualTimesTheFirstThatWaited) {
  Scheduler time(100);
  std::vector<uint32_t> order;
  std::vector<Task> tasks;
  for (const auto& [when_ns, number] : {std::pair(5, 1), {3, 2}, {5, 3}, {3, 4}}) {
    tasks.push_back(
        note_at(time, static_cast<uint64_t>(when_ns), static_cast<uint32_t>(number), order));
  }
  for (const Task& task : tasks) time.start(task);
  while (time.step(5)) {
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 4})) << "before the end";
  while (time.step(6)) {
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 4, 1, 3}));
  EXPECT_EQ(time.now_ns(), 5u);
}

Task compute(Scheduler& time, Scheduler::Parked& lot, std::vector<uint64_t>& ends_ns) {
  co_await time.busy_until(time.now_ns() + 10);
  co_await time.idle_until(time.now_ns() + 100);
  co_await time.busy_until(time.now_ns() + 10);
  ends_ns.push_back(time.now_ns());
  co_await lot.park();
}

TEST(SimulateScheduler, TasksShareCoresAndLeaveThemWhileTheyAreIdle) {
  const std::vector<std::vector<uint64_t>> expected_ns = {
      {120, 130, 140}, {120, 120, 130}, {120, 120, 120}};
  for (uint32_t cores = 1; cores <= 3; ++cores) {
    Scheduler time(cores);
    Scheduler::Parked lot(time);
    std::vector<uint64_t> ends_ns;
    std::vector<Task> tasks;
    for (int i = 0; i < 3; ++i) tasks.push_back(compute(time, lot, ends_ns));
    for (const Task& task : tasks) time.start(task);
    while (time.step(1000)) {
    }
    EXPECT_EQ(ends_ns, expected_ns[cores - 1]) << cores;
  }
}

Task compute_on(Scheduler& time, bool yields, std::vector<uint64_t>& steps) {
  steps.push_back(0);
  const size_t own = steps.size() - 1;
  for (;;) {
    co_await time.busy_until(time.now_ns() + 10);
    ++steps[own];
    if (yields) co_await time.yield();
  }
}

TEST(SimulateScheduler, WhoHandsItsCoreOnSharesItEvenly) {
  for (const bool yields : {false, true}) {
    Scheduler time(2);
    std::vector<uint64_t> steps;
    std::vector<Task> tasks;
    for (int i = 0; i < 6; ++i) tasks.push_back(compute_on(time, yields, steps));
    for (const Task& task : tasks) time.start(task);
    while (time.step(6001)) {
    }
    if (yields) {
      EXPECT_EQ(steps, std::vector<uint64_t>(6, 200));
    } else {
      EXPECT_EQ(steps, (std::vector<uint64_t>{600, 600})) << "the others never begin";
    }
  }
}

Task sleep_and_note(Scheduler::Parked& lot, Scheduler& time, std::vector<uint64_t>& woken_ns) {
  co_await lot.park();
  woken_ns.push_back(time.now_ns());
}

Task wake_at(Scheduler::Parked& lot, Scheduler& time, uint64_t when_ns) {
  co_await time.busy_until(when_ns);
  lot.wake_one();
  lot.wake_one();
}

TEST(SimulateScheduler, WhoIsParkedIsWoken) {
  Scheduler time(10);
  Scheduler::Parked lot(time);
  std::vector<uint64_t> woken_ns;
  std::vector<Task> tasks;
  tasks.push_back(sleep_and_note(lot, time, woken_ns));
  tasks.push_back(wake_at(lot, time, 70));
  for (const Task& task : tasks) time.start(task);
  while (time.step(1000)) {
  }
  EXPECT_EQ(woken_ns, std::vector<uint64_t>{70});
}

TEST(SimulateLruList, TheColdestIsTheOneThatWasTouchedLongestAgo) {
  LruList list(10);
  EXPECT_EQ(list.coldest(), LruList::kNone);
  for (const uint32_t item : {3u, 7u, 1u, 3u}) list.touch(item);
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.coldest(), 7u);
  list.remove(7);
  list.remove(7);
  EXPECT_FALSE(list.contains(7));
  EXPECT_EQ(list.coldest(), 1u);
  list.remove(1);
  EXPECT_EQ(list.coldest(), 3u);
  list.remove(3);
  EXPECT_EQ(list.size(), 0u);
}

Task read_on(Storage& storage, Scheduler& time, bool writes_too) {
  for (;;) {
    const uint64_t now_ns = time.now_ns();
    if (writes_too && storage.backlog_ns(now_ns) < 1'000'000) storage.write(now_ns, 28 << 10);
    co_await time.idle_until(storage.read(now_ns, 28 << 10));
  }
}

// Closed loops of readers and a stream of writes: neither gets more than the disk has, together or
// alone, and the disk is busy all the time.
TEST(SimulateStorage, ItsBandwidthIsTheLimit) {
  const StorageRow row = *find_row(kStorages, "p4800x");
  for (const bool writes_too : {false, true}) {
    Storage storage(row);
    constexpr uint32_t kReaders = 64;
    Scheduler time(kReaders);
    std::vector<Task> tasks;
    for (uint32_t i = 0; i < kReaders; ++i) tasks.push_back(read_on(storage, time, writes_too));
    for (const Task& task : tasks) time.start(task);
    while (time.step(1'000'000'000)) {
    }
    const double busy = static_cast<double>(storage.read_bytes()) / row.read_gb_s +
                        static_cast<double>(storage.written_bytes()) / row.write_gb_s;
    EXPECT_LT(busy / 1e9, 1.01) << writes_too;
    EXPECT_GT(busy / 1e9, 0.97) << writes_too;
    if (writes_too) {
      EXPECT_GT(static_cast<double>(storage.written_bytes()), 0.5e9);
    }
  }
}

TEST(SimulateStorage, SmallOperationsAreLimitedByTheirNumber) {
  Storage storage(*find_row(kStorages, "network"));
  uint64_t done_ns = 0;
  for (int i = 0; i < 16'000; ++i) done_ns = storage.read(0, 512);
  EXPECT_EQ(done_ns, 1'000'000'000u);
}

TEST(SimulateStorage, ALoneReadTakesLatencyAndTransfer) {
  Storage storage(*find_row(kStorages, "p4800x"));
  EXPECT_EQ(storage.read(1000, 25'000), 1000u + 10'000 + 10'000);
}

TEST(SimulateStorage, ReadsWaitForTheirDieAndBehindWrites) {
  const StorageRow row = *find_row(kStorages, "flash");
  Storage storage(row);
  constexpr uint64_t kTransferNs = (16 << 10) / 16 * 10;
  EXPECT_EQ(storage.read(1000, 16 << 10), 1000 + kTransferNs + 85'000);
  // More than there are dies: some of them wait.
  std::vector<uint64_t> took_ns;
  for (uint32_t i = 0; i < 100; ++i)
    took_ns.push_back(storage.read(1'000'000, 16 << 10) - 1'000'000);
  std::sort(took_ns.begin(), took_ns.end());
  EXPECT_GT(took_ns.back(), 2 * took_ns.front());
  // A read may be behind a page that is being written: 34 of them take what 1 GB/s allows.
  uint64_t longest_ns = 0;
  for (uint64_t i = 0; i < 34; ++i) storage.write(1'000'000'000, 16 << 10);
  for (uint64_t i = 0; i < 34; ++i) {
    longest_ns = std::max(longest_ns, storage.read(1'000'000'000, 16 << 10) - 1'000'000'000);
  }
  EXPECT_GT(longest_ns, 500'000u);
}

Result counted(const MainMemory& memory) {
  Result result;
  memory.count(&result);
  return result;
}

// 4 pages of the NVRAM for each of the DRAM. Which frames meet in the DRAM depends on the seed, so
// all that is asked is what holds for each of them.
TEST(SimulateMemoryMode, GroupsThatShareASetPushEachOtherOut) {
  const uint64_t dram_bytes = 64 * 4096;
  const Places places{.pages = 32, .blocks = 0};
  const auto memory =
      make_memory_mode(dram_bytes, 4 * dram_bytes, *find_profile("optane"), places, test_seed());
  const Part part{Kind::kPage, 3, 5, 1};
  EXPECT_GT(memory->load(1000, part), 1000u) << "the first access misses";
  EXPECT_EQ(memory->load(2000, part), 2000u) << "the second hits";
  EXPECT_EQ(counted(*memory).line_lookups, 2u);
  EXPECT_EQ(counted(*memory).line_hits, 1u);
  EXPECT_EQ(counted(*memory).nvram_read_bytes, kGroupBytes);
  // 32 pages of 31 groups are 992, and the DRAM holds 256: whatever is loaded pushes others out.
  uint64_t now_ns = 10'000;
  for (int round = 0; round < 2; ++round) {
    for (uint32_t page = 0; page < places.pages; ++page) {
      now_ns = memory->load(now_ns, {Kind::kPage, page, 0, 0});
    }
  }
  EXPECT_EQ(counted(*memory).nvram_written_bytes, 0u) << "nothing was stored to";
  const uint64_t hits = counted(*memory).line_hits;
  EXPECT_LT(hits, 2u + 2 * 256) << "not more than the DRAM holds";
  for (uint32_t page = 0; page < places.pages; ++page) {
    now_ns = memory->store(now_ns, {Kind::kPage, page, 0, 0});
  }
  const Result stored = counted(*memory);
  EXPECT_GE(stored.nvram_written_bytes, (992 - 256) * kGroupBytes - 32 * kGroupBytes);
  EXPECT_EQ(stored.line_lookups * kGroupBytes,
            stored.line_hits * kGroupBytes + stored.nvram_read_bytes);
}

TEST(SimulateMemoryMode, WhereTheDramIsAsLargeAllIsHitTheSecondTime) {
  const uint64_t bytes = 1 << 20;
  const Places places{.pages = 20, .blocks = 10};
  const auto memory = make_memory_mode(bytes, bytes, *find_profile("optane"), places, test_seed());
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < 20; ++i) memory->store(1, {Kind::kPage, i, 0, 0});
    for (uint32_t i = 0; i < 10; ++i) memory->store(1, {Kind::kBlock, i, 0, 0});
  }
  const Result result = counted(*memory);
  EXPECT_EQ(result.line_lookups, 2 * result.line_hits);
  EXPECT_EQ(result.nvram_written_bytes, 0u);
}

TEST(SimulatePhantom, KeepsNoBytesAndSaysSo) {
  EventClock clock;
  auto medium = PhantomMedium::open(uint64_t{1} << 34, *find_profile("optane"), clock);
  ASSERT_TRUE(medium.ok()) << medium.status();
  const std::vector<std::byte> block(28 << 10);
  ASSERT_TRUE((*medium)->write(0, block).ok());
  const uint64_t written_ns = clock.now_ns();
  EXPECT_GT(written_ns, 10'000u) << "28 KiB at 2 GB/s";
  ASSERT_TRUE((*medium)->on_direct_read({0, 28 << 10}).ok());
  EXPECT_GT(clock.now_ns(), written_ns);
  std::vector<std::byte> into(16);
  const Status read = (*medium)->read(0, into);
  EXPECT_TRUE(is_unimplemented(read));
  EXPECT_NE(read.message().find("holds no data"), std::string::npos);
  EXPECT_EQ((*medium)->write(uint64_t{1} << 34, block).code(), StatusCode::kOutOfRange);
}

TEST(SimulatePhantom, KeepsTheLabelsOfBlocksAndWritesAreOwedOnDemand) {
  EventClock clock;
  constexpr uint64_t kBytes = 16 << 10;
  auto medium = PhantomMedium::open(uint64_t{1} << 30, *find_profile("optane"), clock, kBytes);
  ASSERT_TRUE(medium.ok()) << medium.status();
  (*medium)->owe_writes();
  std::vector<std::byte> block(kBytes);
  // Anywhere, one beside the other.
  for (uint64_t label = 1; label <= 100; ++label) {
    std::memcpy(block.data(), &label, sizeof(label));
    ASSERT_TRUE((*medium)->write(256 + label * kBytes, block).ok());
  }
  EXPECT_EQ(clock.now_ns(), 0u);
  EXPECT_EQ((*medium)->take_owed_bytes(), 100 * kBytes);
  EXPECT_EQ((*medium)->take_owed_bytes(), 0u);
  for (uint64_t label = 1; label <= 100; ++label) {
    EXPECT_EQ((*medium)->label_of((*medium)->direct().subspan(256 + label * kBytes, kBytes)),
              label);
  }
  EXPECT_EQ((*medium)->written_bytes(), 0u);
  (*medium)->write_aside(kBytes);
  EXPECT_GT(clock.now_ns(), 5'000u);
  EXPECT_EQ((*medium)->written_bytes(), kBytes);
}

// The share of accesses that the hottest tenth of the pages gets is that of the whole dataset.
TEST(SimulateKeys, ScaleKeepsTheShareOfTheHottestPages) {
  constexpr uint32_t kPages = 16'000;
  const auto hottest_share = [](std::string_view workload, uint32_t scale) {
    Keys keys(*find_row(kWorkloads, workload), kPages / scale, scale);
    Prng prng(test_seed());
    std::vector<uint32_t> uses(kPages / scale);
    const size_t draws = uses.size() * 100;  // few would make pages look hot by chance
    for (size_t i = 0; i < draws; ++i) ++uses[keys.next(prng).page];
    std::sort(uses.begin(), uses.end(), std::greater<>());
    double hot = 0;
    for (size_t i = 0; i < uses.size() / 10; ++i) hot += uses[i];
    return hot / static_cast<double>(draws);
  };
  const double whole = hottest_share("c", 1);
  EXPECT_NEAR(hottest_share("c", 8), whole, 0.03);
  EXPECT_GT(whole, 0.3);
}

// wtperf's pareto=20: most accesses go to the first fifth.
TEST(SimulateKeys, ParetoPrefersTheFirstPages) {
  Keys keys(*find_row(kWorkloads, "500m-btree-50r50u"), 1000, 1);
  Prng prng(test_seed());
  uint32_t first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t page = keys.next(prng).page;
    ASSERT_LT(page, 1000u);
    if (page < 200) ++first;
  }
  EXPECT_GT(first, 7000u);
}

TEST(SimulateKeys, InsertsSplitPagesOneByOne) {
  const WorkloadRow& workload = *find_row(kWorkloads, "d");
  Keys keys(workload, 100, 1);
  Prng prng(test_seed());
  std::set<uint32_t> made;
  uint32_t inserts = 0;
  while (keys.pages() < keys.most_pages()) {
    const PageOperation op = keys.next(prng);
    ASSERT_LT(op.page, keys.most_pages());
    if (op.type == OpType::kInsert) ++inserts;
    if (op.splits) {
      EXPECT_TRUE(made.insert(op.new_page).second);
    }
  }
  EXPECT_EQ(made.size(), 100u);
  EXPECT_EQ(inserts, 100 * workload.records_per_page);
  for (int i = 0; i < 10'000; ++i) EXPECT_LT(keys.next(prng).page, keys.pages());
}

// A search for each row, in jumps: as many passes as rows lie between two searches.
TEST(SimulateKeys, AScanHasEachRowOnceAndComesBackToAPageInTheNextPass) {
  const WorkloadRow& workload = *find_row(kWorkloads, "evict-btree-scan");
  const Keys keys(workload, 100, 1);
  const uint32_t rows_per_page = workload.records_per_page;
  ASSERT_EQ(keys.scanned_rows(), 28u * rows_per_page) << "0.4 / 1.4 of the pages";
  std::vector<uint32_t> searches(100);
  for (uint64_t i = 0; i < keys.scanned_rows(); ++i) {
    const PageOperation op = keys.scanned(i);
    ASSERT_LT(op.page, 100u);
    ASSERT_LT(op.part, kRecordParts);
    ++searches[op.page];
  }
  for (uint32_t page = 0; page < 100; ++page) {
    EXPECT_EQ(searches[page], page < 72 ? 0 : rows_per_page) << page;
  }
  // 4200 rows: passes of 5 rows, 1000 rows apart each. The first 200 are of 5, the others of 4.
  for (const uint64_t i : {0u, 1u, 4u}) {
    EXPECT_EQ(keys.scanned(i).page, 72 + i * 1000 / rows_per_page);
    EXPECT_EQ(keys.scanned(i + 5).page, 72 + (i * 1000 + 1) / rows_per_page);
  }
  EXPECT_EQ(keys.scanned(200 * 5 + 4).page, 72 + 201 / rows_per_page) << "the 202nd pass";
}

TEST(SimulateKeys, AppendedRecordsFillPagesInOrderAndScannedOnesAreLeftAlone) {
  const WorkloadRow& workload = *find_row(kWorkloads, "evict-btree-scan");
  Keys keys(workload, 100, 1);
  Prng prng(test_seed());
  for (uint32_t i = 0; i < 10 * workload.records_per_page; ++i) {
    const PageOperation op = keys.next(OpType::kInsert, prng);
    EXPECT_EQ(op.page, 100 + i / workload.records_per_page);
    EXPECT_EQ(op.splits, i % workload.records_per_page == 0);
    EXPECT_TRUE(!op.splits || op.new_page == op.page);
  }
  std::set<uint32_t> pages;
  for (int i = 0; i < 10'000; ++i) pages.insert(keys.next(prng).page);
  EXPECT_EQ(pages.size(), 72u + 10);
  EXPECT_EQ(pages.lower_bound(72), pages.find(100)) << "72 to 99 are the scanned ones";
  while (keys.pages() < keys.most_pages()) keys.next(OpType::kInsert, prng);
  for (int i = 0; i < 10'000; ++i) ASSERT_LT(keys.next(OpType::kInsert, prng).page, 200u);
}

}  // namespace
}  // namespace nvcache::simulate
