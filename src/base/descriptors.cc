#include "base/descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/test_hooks.h"

namespace nvcache {
namespace {

constexpr int kFirst = STDERR_FILENO + 1;

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

// Moves a descriptor out of 0 to 2. -1, and it is closed, if there is no room for it.
int moved_up(int descriptor) {
  if (descriptor < 0 || descriptor >= kFirst || test_hooks.keep_low_descriptors) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  const int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

// ---- The placeholders. One set for all threads: the first that comes makes them, the last that
// goes closes them.

// The process of the thread that is inside, or 0.
std::atomic<pid_t> inside{0};
int holders = 0;  // guarded by `inside`, as are the two that follow
bool held[kFirst] = {};
struct stat placeholder = {};  // what they are open on

// Waits for as long as it takes: a thread that went on without would open its file in a place that
// is free. It sleeps, as the other thread may be one of a lower priority.
void wait_a_moment(int waited) {
  constexpr int kYields = 100;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 50'000};
  if (waited < kYields) {
    sched_yield();
  } else {
    nanosleep(&kPause, nullptr);
  }
}

void enter() {
  const pid_t self = getpid();
  for (int waited = 0;; ++waited) {
    pid_t other = 0;
    if (inside.compare_exchange_strong(other, self, std::memory_order_acquire)) return;
    // That thread was left in another process, by a fork of which no handler was told.
    if (other != self && inside.compare_exchange_strong(other, self, std::memory_order_acquire)) {
      return;
    }
    wait_a_moment(waited);
  }
}

void leave() { inside.store(0, std::memory_order_release); }

void hold_places() {
  for (;;) {
    const int made = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (made < 0) return;
    if (made >= kFirst) {
      close(made);
      return;
    }
    held[made] = fstat(made, &placeholder) == 0;
  }
}

// The host may have put a stream of its own into the place, by dup2().
bool is_placeholder(int place) {
  struct stat found {};
  const int flags = fcntl(place, F_GETFL);
  return flags != -1 && (flags & O_PATH) != 0 && fstat(place, &found) == 0 &&
         found.st_dev == placeholder.st_dev && found.st_ino == placeholder.st_ino;
}

void give_up_places() {
  for (int place = 0; place < kFirst; ++place) {
    if (held[place] && is_placeholder(place)) close(place);
    held[place] = false;
  }
}

// In a child, whose only thread is none of the holders.
void forget_holders() {
  give_up_places();
  holders = 0;
  leave();
}

// ---- What children do not get: the descriptors, and 0.

std::atomic<int> kept[kMostKept];

void change_kept(int from, int to) {
  for (std::atomic<int>& each : kept) {
    int expected = from;
    if (each.compare_exchange_strong(expected, to)) return;
  }
}

void exchange_kept() {
  const int none = moved_up(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::atomic<int>& each : kept) {
    const int descriptor = each.exchange(0);
    if (descriptor == 0) continue;
    if (none < 0 || dup3(none, descriptor, O_CLOEXEC) < 0) close(descriptor);
  }
  if (none >= 0) close(none);
}

void begin_child() {
  forget_holders();
  exchange_kept();
}

[[maybe_unused]] const int begins_children = pthread_atfork(nullptr, nullptr, begin_child);

}  // namespace

StandardPlacesHeld::StandardPlacesHeld() {
  const int error = errno;
  enter();
  if (holders++ == 0 && !test_hooks.keep_low_descriptors &&
      !(is_open(STDIN_FILENO) && is_open(STDOUT_FILENO) && is_open(STDERR_FILENO))) {
    hold_places();
  }
  leave();
  errno = error;
}

StandardPlacesHeld::~StandardPlacesHeld() {
  const int error = errno;
  enter();
  if (holders > 0 && --holders == 0) give_up_places();
  leave();
  errno = error;
}

int open_file(const char* path, int flags, mode_t mode) {
  const StandardPlacesHeld held_places;
  return moved_up(::open(path, flags | O_CLOEXEC, mode));
}

DIR* open_folder(const char* path) {
  const int descriptor = open_file(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  DIR* const folder = ::fdopendir(descriptor);
  if (folder == nullptr) {
    const int error = errno;
    close(descriptor);
    errno = error;
  }
  return folder;
}

int make_memory_file(const char* name) {
  const StandardPlacesHeld held_places;
  return moved_up(::memfd_create(name, MFD_CLOEXEC));
}

int make_temporary_file(char* path) {
  const StandardPlacesHeld held_places;
  return moved_up(::mkostemp(path, O_CLOEXEC));
}

int copy_descriptor(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst); }

int make_socket(int family, int type, int protocol) {
  return moved_up(::socket(family, type | SOCK_CLOEXEC, protocol));
}

int accept_nonblocking(int listener, sockaddr* from, socklen_t* from_bytes) {
  return moved_up(::accept4(listener, from, from_bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int make_event_counter(int flags) { return moved_up(::eventfd(0, flags | EFD_CLOEXEC)); }

int make_signal_reader(const sigset_t& signals) {
  return moved_up(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool make_pipe(int (&ends)[2]) {
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  ends[0] = moved_up(ends[0]);
  const int error = errno;
  ends[1] = moved_up(ends[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  const int worse = ends[0] < 0 ? error : errno;
  for (const int end : ends) {
    if (end >= 0) close(end);
  }
  errno = worse;
  return false;
}

void keep_from_children(int descriptor) { change_kept(0, descriptor); }

void forget_kept(int descriptor) { change_kept(descriptor, 0); }

void close_kept(int descriptor) {
  forget_kept(descriptor);
  close(descriptor);
}

void put_descriptor(int descriptor, int place) { (void)::dup2(descriptor, place); }

bool fill_standard_streams() {
  for (int place = 0; place < kFirst; ++place) {
    if (is_open(place) || test_hooks.keep_low_descriptors) continue;
    // The lowest that is free: `place`.
    if (::open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY) != place) return false;
  }
  return true;
}

}  // namespace nvcache
