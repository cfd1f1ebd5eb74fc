// A child that the process forks keeps no medium from its parent or from others, and changes
// nothing of it.
#include "support/forked_child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/file_steps.h"
#include "medium/kept_file.h"
#include "medium/table.h"
#include "support/loop_device.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::ForkedChild;
using testing::HasSubstr;

constexpr uint64_t kForkSizeBytes = 4 << 20;

StatusOr<std::unique_ptr<Medium>> open_again(const std::string& spec) {
  return open_medium(
      spec, {.size_bytes = kForkSizeBytes, .max_size_bytes = kForkSizeBytes, .keep_file = true},
      system_clock());
}

struct Page {
  std::unique_ptr<std::byte, void (*)(void*)> bytes{
      static_cast<std::byte*>(std::aligned_alloc(4096, 4096)), &std::free};
  explicit Page(int fill) { std::fill_n(bytes.get(), 4096, std::byte(fill)); }
  MutableBytes span() const { return {bytes.get(), 4096}; }
};

// The parent closes and opens again while a child lives; the child closes its copy, too.
void expect_no_harm_by_a_child(const std::string& spec) {
  auto medium = open_again(spec);
  ASSERT_TRUE(medium.ok()) << medium.status();
  const Page ours(1);
  ASSERT_TRUE((*medium)->write(0, ours.span()).ok());
  ForkedChild child([&] {
    const Page theirs(2);
    const bool wrote = (*medium)->write(0, theirs.span()).ok();
    medium->reset();
    return wrote ? 1 : 0;
  });
  ASSERT_TRUE(child.wait_until_done());
  EXPECT_FALSE(open_again(spec).ok()) << "the parent has it still";
  const Page found(0);
  EXPECT_TRUE((*medium)->read(0, found.span()).ok());
  EXPECT_EQ(found.bytes.get()[0], std::byte{1});
  medium->reset();
  const auto again = open_again(spec);
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(child.end(), 0);
}

// The process that opened it is killed while its child lives.
void expect_free_after_a_kill(const std::string& spec) {
  int grandchild[2];
  ASSERT_EQ(pipe(grandchild), 0);
  int begun[2];
  ASSERT_EQ(pipe(begun), 0);
  ForkedChild parent([&] {
    auto medium = open_again(spec);
    if (!medium.ok()) return 1;
    (void)medium->release();
    char byte = 0;
    if (fork() == 0) {
      (void)!write(begun[1], &byte, 1);
      close(grandchild[1]);
      _exit(read(grandchild[0], &byte, 1) == 0 ? 0 : 1);
    }
    // Until it runs, it has what its parent had.
    return read(begun[0], &byte, 1) == 1 ? 0 : 1;
  });
  close(begun[0]);
  close(begun[1]);
  ASSERT_TRUE(parent.wait_until_done());
  EXPECT_FALSE(open_again(spec).ok());
  EXPECT_EQ(parent.kill_it(), -SIGKILL);
  const auto opened = open_again(spec);
  EXPECT_TRUE(opened.ok()) << opened.status();
  close(grandchild[1]);
  close(grandchild[0]);
}

TEST(ForkedChildOfAMedium, KeepsNoFile) {
  const TempDir folder(TempDir::on_disk());
  for (const char* io : {"", ",io=direct"}) {
    SCOPED_TRACE(io);
    expect_no_harm_by_a_child("file:" + folder.file("blocks") + io);
    expect_free_after_a_kill("file:" + folder.file("blocks") + io);
  }
}

TEST(ForkedChildOfAMedium, KeepsNoDevice) {
  const test::LoopDevice device(uint64_t{8} << 20);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  expect_no_harm_by_a_child("nvme:" + device.path());
  expect_free_after_a_kill("nvme:" + device.path());
}

TEST(ForkedChildOfAMedium, RemovesNoFileOfItsParent) {
  const TempDir folder;
  const MediumOptions cold{.size_bytes = kForkSizeBytes, .max_size_bytes = kForkSizeBytes};
  auto medium = open_medium("file:" + folder.file("blocks"), cold, system_clock());
  ASSERT_TRUE(medium.ok()) << medium.status();
  ForkedChild child([&] {
    medium->reset();
    return 0;
  });
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder.file("blocks")));
  EXPECT_FALSE(open_medium("file:" + folder.file("blocks"), cold, system_clock()).ok());
  medium->reset();
  EXPECT_FALSE(std::filesystem::exists(folder.file("blocks")));
}

// It is mapped, and the child has the mapping.
TEST(ForkedChildOfAMedium, KeepsNoFileOfAStoreThatIsClosed) {
  const TempDir folder;
  const auto open = [&] {
    return KeptFile::open(folder.file("store"), kForkSizeBytes, KeptFile::Power::kAuto);
  };
  auto file = open();
  ASSERT_TRUE(file.ok()) << file.status();
  ForkedChild child([] { return 0; });
  ASSERT_TRUE(child.wait_until_done());
  file->reset();
  file = open();
  EXPECT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(child.end(), 0);
}

// The files of a killed process go after its memory, which takes a while.
TEST(ForkedChildOfAMedium, AFileOfAKilledProcessIsWaitedFor) {
  const TempDir folder;
  const std::string path = folder.file("store");
  for (int round = 0; round < 3; ++round) {
    ForkedChild holder([&] {
      const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (!lock_file(fd, path, "store").ok()) return 1;
      constexpr size_t kLarge = size_t{512} << 20;
      (void)mmap(nullptr, kLarge, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);
      return 0;
    });
    ASSERT_TRUE(holder.wait_until_done());
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    const Status living = lock_file(fd, path, "store");
    EXPECT_THAT(std::string(living.message()),
                HasSubstr("process " + std::to_string(holder.pid())));
    kill(holder.pid(), SIGKILL);
    const Status killed = lock_file(fd, path, "store");
    EXPECT_TRUE(killed.ok()) << killed;
    close(fd);
    EXPECT_EQ(holder.end(), -SIGKILL);
  }
}

}  // namespace
}  // namespace nvcache
