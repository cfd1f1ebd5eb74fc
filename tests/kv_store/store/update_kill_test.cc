// A kill between any two instructions of an update: the key has its old value or its new one. A
// process updates a key under ptrace, one instruction after the other; whenever the store's file
// has changed, a copy of it is opened as if the process had been killed there.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kv_store/kv_fixture.h"
#include "kv_store/medium/media.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::PageCacheMedium;

constexpr char kKey[] = "key";
const std::string kOld(40, 'o');
const std::string kNew(50, 'n');

KvConfig config_of(const std::string& path) {
  KvConfig config = test::small_config(Durability::kEach);
  config.medium = "file:" + path;
  config.survives = KvSurvives::kProcess;
  config.boot = [] { return uint64_t{1}; };
  config.sync_seconds = 0;
  config.clean_ahead = false;
  config.write_cache_bytes = 0;
  return config;
}

// Never returns.
[[noreturn]] void update_when_told(const std::string& path) {
  KvConfig config = config_of(path);
  auto medium = open_kv_medium(config);
  if (!medium.ok()) ::_exit(2);
  auto store = KvStoreImpl::make(std::move(config), *std::move(medium));
  if (!store.ok() || ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(3);
  ::raise(SIGSTOP);
  test::put_text(**store, kKey, kNew);
  ::_exit(0);
}

std::string value_after_kill(const KvConfig& config, ByteView file) {
  auto medium = std::make_unique<PageCacheMedium>(std::vector<std::byte>(file.begin(), file.end()));
  auto store = test::make_kv_in_page_cache(config, std::move(medium));
  if (!store.ok()) return store.status().to_string();
  return test::get_text(**store, kKey);
}

TEST(KvUpdateKill, LeavesTheOldValueOrTheNew) {
#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
  GTEST_SKIP() << "what takes one instruction there takes several here";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "what takes one instruction elsewhere takes several here";
#endif
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx") == 0) GTEST_SKIP() << "two words cannot be written at once";
#endif
  const TempDir dir;
  const KvConfig config = config_of(dir.file("kv"));
  {
    auto medium = open_kv_medium(config);
    ASSERT_TRUE(medium.ok()) << medium.status();
    auto store = KvStoreImpl::make(config, *std::move(medium));
    ASSERT_TRUE(store.ok()) << store.status();
    test::put_text(**store, kKey, kOld);
  }
  const int fd = ::open(dir.file("kv").c_str(), O_RDONLY | O_CLOEXEC);
  void* const map = ::mmap(nullptr, config.size_bytes, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  ASSERT_NE(map, MAP_FAILED);
  const ByteView file(static_cast<const std::byte*>(map), config.size_bytes);

  const pid_t child = ::fork();
  if (child == 0) update_when_told(dir.file("kv"));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) GTEST_SKIP() << "ptrace is not allowed";
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  std::vector<std::byte> seen(file.begin(), file.end());
  int changes = 0;
  int news = 0;
  while (WIFSTOPPED(status) && !HasFailure()) {
    ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (std::memcmp(seen.data(), file.data(), file.size()) == 0) continue;
    seen.assign(file.begin(), file.end());
    ++changes;
    const std::string value = value_after_kill(config, file);
    news += value == kNew;
    EXPECT_TRUE(value == kNew || (value == kOld && news == 0))
        << "change " << changes << ": " << value;
  }
  if (WIFSTOPPED(status)) ::kill(child, SIGKILL);
  ::munmap(map, config.size_bytes);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_GT(changes, 10);
  EXPECT_GT(news, 0);
}

}  // namespace
}  // namespace nvcache
