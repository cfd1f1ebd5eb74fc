// A queue whose reads are done by threads.
#pragma once

#include <array>

#include "base/mutex.h"
#include "medium/read_queue.h"
#include "medium/reader_threads.h"

namespace nvcache {

// Caller-locked, as every queue; its jobs come back on the threads.
class ThreadQueue final : public ReadQueue, private ReadJobOwner {
 public:
  // `threads` must outlive it.
  explicit ThreadQueue(ReaderThreads& threads) : threads_(threads) {}

 private:
  void begin(Slot slot, QueuedRead& read) override;
  void begin_no_more() override;
  void reap(bool wait) override;
  void job_done(ReadJob& job) noexcept override;

  ReaderThreads& threads_;
  std::array<ReadJob, kDepth> jobs_{};  // by slot
  ReadJobs begun_;                      // of this submit()
  Mutex mutex_;
  CondVar comes_back_;
  ReadJobs back_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache
