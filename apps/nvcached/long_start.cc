#include "apps/nvcached/long_start.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <utility>

#include "apps/nvcached/systemd.h"
#include "base/descriptors.h"
#include "base/print.h"
#include "base/start_thread.h"
#include "fmt/format.h"

namespace nvcache::server {
namespace {

constexpr int kTellEveryMs = 5000;
constexpr int kGiveUpWithinMs = 500;
constexpr uint64_t kMoreTimeUs = 60'000'000;  // from systemd, each time

int signals_that_end() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&ends, signal);
  return make_signal_reader(ends);
}

}  // namespace

LongStart::LongStart() : signals_(signals_that_end()), stop_(make_event_counter(0)) {}

Status LongStart::begin() {
  return start_thread(&thread_, [this] { watch(); });
}

LongStart::~LongStart() {
  const uint64_t one = 1;
  (void)!write(stop_, &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  close(signals_);
  close(stop_);
}

void LongStart::tell(std::string status) {
  const MutexLock lock(mutex_);
  status_ = std::move(status);
}

void LongStart::watch() {
  pollfd both[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                   {.fd = signals_, .events = POLLIN, .revents = 0}};
  for (;;) {
    (void)poll(both, 2, kTellEveryMs);
    if ((both[0].revents & POLLIN) != 0) return;
    if ((both[1].revents & POLLIN) != 0) break;
    std::string status;
    {
      const MutexLock lock(mutex_);
      status = status_;
    }
    notify_systemd(fmt::format("EXTEND_TIMEOUT_USEC={}\nSTATUS={}", kMoreTimeUs, status));
  }
  must_end_ = true;
  if (poll(both, 1, kGiveUpWithinMs) == 1) return;
  // In a call that takes long, such as a sync. A store that is only copied is whole at any time.
  print_to(stderr, "nvcached: ended while it started\n");
  _exit(0);
}

}  // namespace nvcache::server
