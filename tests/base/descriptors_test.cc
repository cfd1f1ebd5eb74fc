// No descriptor is 0, 1 or 2, whichever of these a process has closed.
#include "base/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "gtest/gtest.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

constexpr int kSubsets = 8;

bool is_open_place(int place) { return fcntl(place, F_GETFD) != -1; }

// Runs `work` in a child that has the places of a set of 0 to 2 closed. The number of the first
// check that failed, or 0.
int in_child(int subset, const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (int place = 0; place < 3; ++place) {
      if ((subset & 1 << place) != 0) close(place);
    }
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return WEXITSTATUS(status);
}

// 0, or the number of a place that is not closed any more.
int changed_place(int subset) {
  for (int place = 0; place < 3; ++place) {
    if ((subset & 1 << place) != 0 && is_open_place(place)) return 100 + place;
  }
  return 0;
}

using Maker = std::pair<const char*, std::function<std::vector<int>()>>;

std::vector<Maker> makers(const std::string& folder) {
  const auto pair_of = [] {
    int ends[2] = {-1, -1};
    return make_pipe(ends) ? std::vector{ends[0], ends[1]} : std::vector<int>();
  };
  sigset_t none;
  sigemptyset(&none);
  return {
      {"file",
       [=] { return std::vector{open_file((folder + "/f").c_str(), O_RDWR | O_CREAT, 0600)}; }},
      {"folder", [=] { return std::vector{dirfd(open_folder(folder.c_str()))}; }},
      {"memory", [] { return std::vector{make_memory_file("test")}; }},
      {"temporary",
       [=] {
         std::string path = folder + "/XXXXXX";
         return std::vector{make_temporary_file(path.data())};
       }},
      {"socket", [] { return std::vector{make_socket(AF_UNIX, SOCK_STREAM, 0)}; }},
      {"counter", [] { return std::vector{make_event_counter(EFD_NONBLOCK)}; }},
      {"signals", [=] { return std::vector{make_signal_reader(none)}; }},
      {"pipe", pair_of},
  };
}

TEST(Descriptors, NoneIsOfTheStandardStreams) {
  const TempDir folder;
  for (const auto& [name, make] : makers(folder.path())) {
    for (int subset = 0; subset < kSubsets; ++subset) {
      EXPECT_EQ(in_child(subset,
                         [&] {
                           for (int i = 0; i < 4; ++i) {
                             const std::vector<int> made = make();
                             if (made.empty()) return 1;
                             for (const int each : made) {
                               if (each < 3) return 2;
                               if ((fcntl(each, F_GETFD) & FD_CLOEXEC) == 0) return 3;
                             }
                           }
                           return changed_place(subset);
                         }),
                0)
          << name << ", closed: " << subset;
    }
  }
}

TEST(Descriptors, SmallFilesLeaveThePlacesAsTheyWere) {
  const TempDir folder;
  const std::string path = folder.path() + "/text";
  for (int subset = 0; subset < kSubsets; ++subset) {
    EXPECT_EQ(in_child(subset,
                       [&] {
                         if (replace_file(path, "one\n") != 0) return 1;
                         if (append_to_file(path, "two\n") != 0) return 2;
                         if (read_file(path) != "one\ntwo\n") return 3;
                         const auto names = names_in_folder(folder.path());
                         if (!names || *names != std::vector<std::string>{"text"}) return 4;
                         return changed_place(subset);
                       }),
              0)
        << subset;
  }
  EXPECT_EQ(read_file(path, 5), "one\nt");
  EXPECT_EQ(read_file(folder.path() + "/none"), std::nullopt);
  EXPECT_EQ(names_in_folder(folder.path() + "/none"), std::nullopt);
  EXPECT_EQ(append_to_file(folder.path() + "/none/file", "text"), ENOENT);
  EXPECT_EQ(replace_file(folder.path() + "/none/file", "text"), ENOENT);
}

TEST(Descriptors, ErrorsAreThoseOfTheCall) {
  for (int subset = 0; subset < kSubsets; ++subset) {
    EXPECT_EQ(in_child(subset,
                       [&] {
                         if (open_file("/no/such/file", O_RDONLY) != -1 || errno != ENOENT)
                           return 1;
                         if (open_folder("/dev/null") != nullptr || errno != ENOTDIR) return 2;
                         if (make_socket(-1, SOCK_STREAM, 0) != -1 || errno == 0) return 3;
                         return changed_place(subset);
                       }),
              0)
        << subset;
  }
}

// While one lives, this process has no stdout and no stderr.
class OutputClosed {
 public:
  OutputClosed() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      kept_[i] = copy_descriptor(i + 1);
      close(i + 1);
    }
  }
  ~OutputClosed() {
    for (int i = 0; i < 2; ++i) {
      dup2(kept_[i], i + 1);
      close(kept_[i]);
    }
  }
  OutputClosed(const OutputClosed&) = delete;
  OutputClosed& operator=(const OutputClosed&) = delete;

 private:
  int kept_[2] = {-1, -1};
};

// A host prints to a closed stream all the time, while files are opened and closed by two threads.
TEST(Descriptors, NoMessageReachesAFileThatIsBeingOpened) {
  const TempDir folder;
  const std::string path = folder.path() + "/data";
  std::atomic<int> written{0};
  std::atomic<int> low{0};
  int changed = 0;
  {
    const OutputClosed closed;
    std::atomic<bool> done{false};
    std::thread host([&] {
      while (!done) {
        // A message that a file takes and a pipe does not: UndefinedBehaviorSanitizer tries
        // addresses by pipes of its own, which may have the two places. Not by pwrite():
        // ThreadSanitizer calls it a race to use what another thread opens.
        if (syscall(SYS_pwrite64, STDERR_FILENO, "lost", 4, 0) > 0) ++written;
      }
    });
    const auto open_and_close = [&] {
      for (int i = 0; i < 3000 && low == 0; ++i) {
        const int file = open_file(path.c_str(), O_RDWR | O_CREAT, 0600);
        if (file < 3) ++low;
        close(file);
      }
    };
    std::thread other(open_and_close);
    open_and_close();
    other.join();
    done = true;
    host.join();
    changed = changed_place(6);
  }
  EXPECT_EQ(low, 0);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(changed, 0);
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_size, 0);
}

// The thread that has the places stays in the parent.
TEST(Descriptors, AForkWhileAnotherThreadOpensLeavesThePlacesAsTheyWere) {
  const auto fork_beside_a_holder = [] {
    std::atomic<bool> holds{false};
    std::atomic<bool> done{false};
    std::thread holder([&] {
      const StandardPlacesHeld held;
      holds = true;
      while (!done) std::this_thread::yield();
    });
    while (!holds) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
      if (changed_place(7) != 0) _exit(changed_place(7));
      const int file = open_file("/dev/null", O_RDONLY);
      if (file < 3) _exit(1);
      _exit(changed_place(7));
    }
    done = true;
    holder.join();
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 2;
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(in_child(7, fork_beside_a_holder), 0);
}

TEST(Descriptors, AStreamThatTheHostOpensAnewStays) {
  const TempDir folder;
  EXPECT_EQ(in_child(/*subset=*/7,
                     [&] {
                       const int log =
                           open_file((folder.path() + "/log").c_str(), O_RDWR | O_CREAT, 0600);
                       {
                         const StandardPlacesHeld held;
                         if (dup2(log, STDERR_FILENO) != STDERR_FILENO) return 1;
                       }
                       if (write(STDERR_FILENO, "kept", 4) != 4) return 2;
                       return changed_place(3);
                     }),
            0);
  EXPECT_EQ(read_file(folder.path() + "/log"), "kept");
}

TEST(Descriptors, AProgramFillsItsStandardStreams) {
  for (int subset = 0; subset < kSubsets; ++subset) {
    EXPECT_EQ(in_child(subset,
                       [&] {
                         if (!fill_standard_streams()) return 1;
                         for (int place = 0; place < 3; ++place) {
                           if (!is_open_place(place)) return 2;
                           if ((fcntl(place, F_GETFD) & FD_CLOEXEC) != 0) return 3;
                         }
                         if (open("/dev/null", O_RDONLY) < 3) return 4;
                         // As before: who writes results learns that they are lost.
                         const bool closed = (subset & 2) != 0;
                         if (closed && write(STDOUT_FILENO, "x", 1) != -1) return 5;
                         return 0;
                       }),
              0)
        << subset;
  }
}

}  // namespace
}  // namespace nvcache
