// Queues of reads where the system refuses io_uring, threads, or a read; in children; emulated.
#include "medium/read_queue.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/profiles.h"
#include "medium/thread_queue.h"
#include "support/failing_medium.h"
#include "support/forked_child.h"
#include "support/refused_calls.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::fail_with;
using test::ForkedChild;
using test::refuse_call;
using testing::HasSubstr;

constexpr uint64_t kUnit = 4096;
constexpr uint64_t kUnits = 64;
constexpr size_t kBatch = 32;

// A batch of reads, each of a unit that holds its number.
class Batch {
 public:
  Batch() {
    for (size_t i = 0; i < kBatch; ++i) {
      reads_[i].offset = (i * 7 % kUnits) * kUnit;
      reads_[i].into = {bytes_.get() + i * kUnit, kUnit};
      pointers_[i] = &reads_[i];
    }
  }

  std::span<QueuedRead* const> pointers() const { return pointers_; }
  std::array<QueuedRead, kBatch>& reads() { return reads_; }
  size_t right() const {
    return static_cast<size_t>(std::ranges::count_if(reads_, [](const QueuedRead& read) {
      return read.status.ok() && read.into[0] == std::byte(read.offset / kUnit) &&
             read.into[kUnit - 1] == read.into[0];
    }));
  }
  // Submits all and waits for them; returns how many came back right.
  size_t read_all(ReadQueue& queue) {
    if (queue.submit(pointers_) != kBatch) return 0;
    return take_all(queue);
  }
  size_t take_all(ReadQueue& queue) {
    std::array<QueuedRead*, kBatch> done{};
    while (queue.in_flight() > 0) {
      if (queue.complete(done, true) == 0) return 0;
    }
    return right();
  }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_{
      static_cast<std::byte*>(std::aligned_alloc(kUnit, kBatch* kUnit)), &std::free};
  std::array<QueuedRead, kBatch> reads_{};
  std::array<QueuedRead*, kBatch> pointers_{};
};

void fill(Medium& medium) {
  const std::unique_ptr<std::byte, void (*)(void*)> unit(
      static_cast<std::byte*>(std::aligned_alloc(kUnit, kUnit)), &std::free);
  for (uint64_t number = 0; number < kUnits; ++number) {
    std::fill_n(unit.get(), kUnit, std::byte(number));
    ASSERT_EQ(medium.write(number * kUnit, {unit.get(), kUnit}), ok_status());
  }
}

class ReadQueueOfAFile : public testing::Test {
 protected:
  // Null, with a message, if that fails.
  std::unique_ptr<Medium> open(const std::string& options = "") {
    auto opened = open_medium("file:" + file() + ",io=direct" + options,
                              {.size_bytes = kUnits * kUnit}, system_clock());
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::string file() const { return folder_.file("blocks"); }
  // In a child, where the call is refused; its exit code is what `work` returns, or 77 if this
  // system cannot refuse calls.
  int in_child(long call, uint32_t action, const std::function<int()>& work) {
    ForkedChild child([&] { return refuse_call(call, action) ? work() : 77; });
    (void)child.wait_until_done();
    return child.end();
  }

  const TempDir folder_{TempDir::on_disk()};
};

TEST_F(ReadQueueOfAFile, HasTheWayThatWasAskedFor) {
  EXPECT_EQ(open(",async=off")->traits().async, AsyncReads::kOff);
  EXPECT_EQ(open(",async=off")->take_read_queue(), nullptr);
  EXPECT_EQ(open(",async=threads")->traits().async, AsyncReads::kThreads);
  for (const char* options : {"", ",async=ring"}) {
    const auto medium = open(options);
    // Threads are for a system without io_uring, and then it is said why.
    EXPECT_EQ(medium->traits().async == AsyncReads::kRing, medium->traits().no_ring.empty());
    EXPECT_NE(medium->traits().async, AsyncReads::kOff);
  }
}

TEST_F(ReadQueueOfAFile, IsTakenAgainOnceItIsGivenBack) {
  const auto medium = open();
  TakenReadQueue first = medium->take_read_queue();
  const TakenReadQueue second = medium->take_read_queue();
  const ReadQueue* const kept = first.get();
  EXPECT_NE(second.get(), kept);
  first.reset();
  EXPECT_EQ(medium->take_read_queue().get(), kept);
}

TEST_F(ReadQueueOfAFile, UsesThreadsWhereTheSystemRefusesIoUring) {
  for (const int error : {EPERM, ENOSYS, ENOMEM}) {
    const int code = in_child(SYS_io_uring_setup, fail_with(error), [&] {
      const auto medium = open();
      if (medium->traits().async != AsyncReads::kThreads) return 1;
      if (medium->traits().no_ring.empty()) return 2;
      fill(*medium);
      Batch batch;
      return batch.read_all(*medium->take_read_queue()) == kBatch ? 0 : 3;
    });
    if (code == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_EQ(code, 0) << std::strerror(error);
  }
}

TEST_F(ReadQueueOfAFile, AsksForNoRingWhereASandboxWouldKillIt) {
  if (open()->traits().async != AsyncReads::kRing) GTEST_SKIP() << "no io_uring here";
  const auto reads_all = [this](const std::string& options) {
    return in_child(SYS_io_uring_setup, SECCOMP_RET_KILL_PROCESS, [&] {
      const auto medium = open(options);
      fill(*medium);
      Batch batch;
      return batch.read_all(*medium->take_read_queue()) == kBatch ? 0 : 3;
    });
  };
  const int code = reads_all(",async=threads");
  if (code == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(reads_all(",async=ring"), -SIGSYS) << "the control: this sandbox does kill";
}

// The kernel takes no more of what is submitted, or does not let anybody wait.
TEST_F(ReadQueueOfAFile, ReadsByItselfWhatTheKernelRefuses) {
  if (open()->traits().async != AsyncReads::kRing) GTEST_SKIP() << "no io_uring here";
  for (const bool submitted_before : {false, true}) {
    SCOPED_TRACE(submitted_before);
    const std::function<int()> work = [&] {
      const auto medium = open();
      fill(*medium);
      TakenReadQueue queue = medium->take_read_queue();
      Batch batch;
      if (submitted_before && queue->submit(batch.pointers()) != kBatch) return 1;
      if (!refuse_call(SYS_io_uring_enter, fail_with(EACCES))) return 77;
      const size_t right = submitted_before ? batch.take_all(*queue) : batch.read_all(*queue);
      if (right != kBatch) return 2;
      Batch next;
      if (next.read_all(*queue) != kBatch || queue->is_sound()) return 3;
      queue.reset();
      return medium->take_read_queue()->is_sound() ? 0 : 4;  // that one was not kept
    };
    ForkedChild child(work);
    (void)child.wait_until_done();
    const int code = child.end();
    if (code == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_EQ(code, 0);
  }
}

TEST_F(ReadQueueOfAFile, ReadsByItselfWhereThereIsNoThread) {
  const int code = in_child(SYS_clone3, fail_with(EAGAIN), [&] {
    if (!refuse_call(SYS_clone, fail_with(EAGAIN))) return 77;
    const auto medium = open(",async=threads");
    fill(*medium);
    Batch batch;
    return batch.read_all(*medium->take_read_queue()) == kBatch ? 0 : 3;
  });
  if (code == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(code, 0);
}

TEST_F(ReadQueueOfAFile, NamesTheFileThatSomebodyCutShort) {
  for (const char* options : {"", ",async=threads"}) {
    const auto medium = open(options);
    fill(*medium);
    std::filesystem::resize_file(file(), kUnits / 2 * kUnit);
    Batch batch;
    batch.read_all(*medium->take_read_queue());
    for (const QueuedRead& read : batch.reads()) {
      EXPECT_EQ(read.status.ok(), read.offset < kUnits / 2 * kUnit) << read.status;
      if (read.status.ok()) continue;
      EXPECT_TRUE(is_unavailable(read.status)) << read.status;
      EXPECT_THAT(std::string(read.status.message()), HasSubstr(file()));
    }
  }
}

// A child has neither the ring nor the threads: it waits for nothing, and its parent gets all.
TEST_F(ReadQueueOfAFile, EndsInAChildWithoutAWait) {
  for (const char* options : {"", ",async=threads"}) {
    SCOPED_TRACE(options);
    const auto medium = open(options);
    fill(*medium);
    TakenReadQueue queue = medium->take_read_queue();
    Batch batch;
    ASSERT_EQ(queue->submit(batch.pointers()), kBatch);
    ForkedChild child([&] {
      std::array<QueuedRead*, kBatch> done{};
      if (queue->complete(done, true) != kBatch) return 1;
      for (const QueuedRead* read : done) {
        if (!is_unavailable(read->status)) return 2;
      }
      Batch next;
      if (next.read_all(*queue) != 0) return 3;
      queue.reset();
      return 0;
    });
    EXPECT_EQ(batch.take_all(*queue), kBatch);
    EXPECT_TRUE(child.wait_until_done());
    EXPECT_EQ(child.end(), 0);
    Batch next;
    EXPECT_EQ(next.read_all(*queue), kBatch);
  }
}

TEST(ReadQueueOfThreads, GivesFailuresBack) {
  VirtualClock clock;
  auto dram = open_medium("dram", {.size_bytes = kUnits * kUnit}, clock);
  ASSERT_TRUE(dram.ok());
  FailingMedium medium(*std::move(dram));
  fill(medium);
  ReaderThreads threads(medium);
  ThreadQueue queue(threads);
  medium.fail_reads(data_loss_error("a bad sector"), 20);
  Batch batch;
  EXPECT_EQ(batch.read_all(queue), 20u);
  medium.heal();
  EXPECT_EQ(batch.read_all(queue), kBatch);
}

// 32 reads at once take the latency of one, and the time in which their bytes go through the pipe.
TEST(ReadQueueOfAnEmulatedMedium, OverlapsReadsAsTheModelDoes) {
  VirtualClock clock;
  auto medium = open_medium("emulated:flash", {.size_bytes = kUnits * kUnit}, clock);
  ASSERT_TRUE(medium.ok()) << medium.status();
  fill(**medium);
  const auto run = [&](auto&& work) {
    clock.wait_until_ns(clock.now_ns() + 1'000'000'000);  // no write is felt any more
    const uint64_t begin_ns = clock.now_ns();
    work();
    return clock.now_ns() - begin_ns;
  };
  Batch batch;
  const uint64_t one_ns =
      run([&] { EXPECT_EQ((*medium)->read(0, batch.reads()[0].into), ok_status()); });
  TakenReadQueue queue = (*medium)->take_read_queue();
  const uint64_t all_ns = run([&] { EXPECT_EQ(batch.read_all(*queue), kBatch); });
  const Profile& flash = *find_profile("flash");
  const double pipe_ns = kUnit / flash.curve[0].read_gb_s;
  EXPECT_GE(static_cast<double>(all_ns), std::max<double>(one_ns, kBatch * pipe_ns) - kBatch);
  EXPECT_LE(static_cast<double>(all_ns), static_cast<double>(one_ns) + kBatch * pipe_ns + kBatch);
  EXPECT_LT(all_ns, kBatch * one_ns / 4) << "one after the other they would take that";
}

}  // namespace
}  // namespace nvcache
