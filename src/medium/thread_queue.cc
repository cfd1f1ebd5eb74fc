#include "medium/thread_queue.h"

#include <utility>

namespace nvcache {

void ThreadQueue::begin(Slot slot, QueuedRead& read) {
  ReadJob& job = jobs_[slot];
  job = {.read = &read, .owner = this, .slot = slot};
  begun_.append(job);
}

void ThreadQueue::begin_no_more() {
  ReadJobs jobs = std::exchange(begun_, {});
  if (threads_.add(jobs)) return;
  while (const ReadJob* const job = jobs.take_first()) {
    finish(job->slot, threads_.read(*job->read));
  }
}

void ThreadQueue::reap(bool wait) {
  ReadJobs back;
  {
    MutexLock lock(mutex_);
    while (wait && back_.count == 0) comes_back_.wait(mutex_);
    back = std::exchange(back_, {});
  }
  while (const ReadJob* const job = back.take_first()) {
    finish(job->slot, std::move(job->read->status));
  }
}

// Wakes under the lock: whoever waits may destroy this right after it has it.
void ThreadQueue::job_done(ReadJob& job) noexcept {
  MutexLock lock(mutex_);
  back_.append(job);
  comes_back_.notify_one();
}

}  // namespace nvcache
