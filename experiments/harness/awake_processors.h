// The processors while something is measured: their time, and threads that keep them from halting.
//
// A virtual processor that halts gives up the host's processor, and wakes up tens of microseconds
// late. A thread that sleeps for a disk, real or emulated, then also waits for the host's
// scheduler, and longer the less there is to do. One thread on each processor that runs only when
// no other thread would (SCHED_IDLE) prevents that. It takes no time from other threads of this
// machine, but it may slow programs that share the core or the host.
#pragma once

#include <pthread.h>

#include <atomic>
#include <list>
#include <thread>

#include "nvcache/status.h"

namespace nvcache {

// User and system time of all threads of the process. Thread-safe; costs a system call.
double process_cpu_seconds();

// Caller-locked.
class AwakeProcessors {
 public:
  AwakeProcessors() = default;
  ~AwakeProcessors();  // lets them halt again
  AwakeProcessors(const AwakeProcessors&) = delete;
  AwakeProcessors& operator=(const AwakeProcessors&) = delete;

  // One thread for each processor that this process may use. An error if the kernel refuses
  // one; the threads before it keep running.
  [[nodiscard]] Status start();

  // Processor time of these threads. Subtract it from the process's.
  double cpu_seconds() const;

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
