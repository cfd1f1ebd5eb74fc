// Keeps processors from halting while something is measured.
//
// A virtual processor that halts is taken off the host's, and wakes up tens of microseconds
// late: whoever sleeps for a disk, or for one that is modelled, is charged with the host's
// scheduler, and the more the less there is to do. A thread on each processor that runs
// only while nobody else would (SCHED_IDLE) prevents that. It takes no processor from
// a thread of this machine, but may slow whoever shares the core or the host with it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <list>
#include <thread>

#include "absl/status/status.h"

namespace nvcache {

// User and system time of the whole process, all its threads.
double process_cpu_seconds();

// Caller-locked.
class AwakeProcessors {
 public:
  AwakeProcessors() = default;
  ~AwakeProcessors();  // lets them halt again
  AwakeProcessors(const AwakeProcessors&) = delete;
  AwakeProcessors& operator=(const AwakeProcessors&) = delete;

  // One thread for each processor that this process may use. An error if the kernel refuses
  // one; those before it run on.
  [[nodiscard]] absl::Status start();

  // What the threads have used: to be taken off the process's.
  double cpu_seconds() const;
  size_t processors() const { return threads_.size(); }

 private:
  struct Thread {
    std::thread thread;
    pthread_t handle = {};
    std::atomic<int> started{-1};  // -1: not yet; 0: at the lowest priority; else errno
  };
  void run(int processor, std::atomic<int>& started);

  std::atomic<bool> stopping_{false};
  std::list<Thread> threads_;
};

}  // namespace nvcache
