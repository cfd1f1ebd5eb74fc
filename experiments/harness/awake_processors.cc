#include "experiments/harness/awake_processors.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/pause.h"
#include "base/text.h"

namespace nvcache {
namespace {

constexpr int kPausesBetweenLooks = 64;

}  // namespace

double process_cpu_seconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

AwakeProcessors::~AwakeProcessors() {
  stopping_.store(true, std::memory_order_relaxed);
  for (Thread& each : threads_) each.thread.join();
}

Status AwakeProcessors::start() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return internal_error(
        fmt::format("awake processors: sched_getaffinity: {}", std::strerror(errno)));
  }
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed)) continue;
    Thread& added = threads_.emplace_back();
    try {
      added.thread = std::thread([this, processor, &added] { run(processor, added.started); });
    } catch (const std::system_error& error) {
      threads_.pop_back();
      return resource_exhausted_error(fmt::format("awake processors: no thread: {}", error.what()));
    }
    added.handle = added.thread.native_handle();
    added.started.wait(-1);
    if (const int problem = added.started.load(); problem != 0) {
      return internal_error(
          fmt::format("awake processors: processor {}: {}", processor, std::strerror(problem)));
    }
  }
  return ok_status();
}

double AwakeProcessors::cpu_seconds() const {
  double sum = 0;
  for (const Thread& each : threads_) {
    clockid_t clock = 0;
    timespec used = {};
    if (::pthread_getcpuclockid(each.handle, &clock) != 0) continue;
    if (::clock_gettime(clock, &used) != 0) continue;
    sum += static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }
  return sum;
}

// A thread that cannot get the lowest priority ends at once: it would take time from the
// threads that are measured.
void AwakeProcessors::run(int processor, std::atomic<int>& started) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  const sched_param none = {};
  const bool ready = ::sched_setscheduler(0, SCHED_IDLE, &none) == 0 &&
                     ::sched_setaffinity(0, sizeof(one), &one) == 0;
  started.store(ready ? 0 : errno);
  started.notify_one();
  while (ready && !stopping_.load(std::memory_order_relaxed)) {
    for (int i = 0; i < kPausesBetweenLooks; ++i) pause_core();
  }
}

}  // namespace nvcache
