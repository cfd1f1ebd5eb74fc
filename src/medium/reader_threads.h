// A few threads that read a medium for its queues, where the system has no io_uring for us: as
// many reads go on side by side as there are threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/background_thread.h"
#include "base/mutex.h"
#include "medium/medium.h"
#include "medium/read_queue.h"
#include "nvcache/status.h"

namespace nvcache {

// Gets reads back from the threads, on them.
class ReadJobOwner {
 public:
  virtual ~ReadJobOwner() = default;
  virtual void job_done(struct ReadJob& job) noexcept = 0;
};

// A read that is handed to the threads. Its owner keeps it in place until it is back.
struct ReadJob {
  QueuedRead* read = nullptr;
  ReadJobOwner* owner = nullptr;
  ReadJob* next = nullptr;  // in a list
  uint16_t slot = 0;        // the owner's
};

// Jobs in the order in which they were added. Caller-locked.
struct ReadJobs {
  ReadJob* first = nullptr;
  ReadJob* last = nullptr;
  size_t count = 0;

  void append(ReadJob& job);
  void append(const ReadJobs& more);
  ReadJob* take_first();  // null if there is none
};

// Thread-safe. Threads start with the first job, and sleep without one. Destroy it when all jobs
// are done.
class ReaderThreads {
 public:
  static constexpr size_t kThreads = 12;

  explicit ReaderThreads(Medium& medium) : medium_(medium) {}
  ~ReaderThreads();
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;

  // Hands over jobs. False, and it keeps none, if the process may have no thread.
  [[nodiscard]] bool add(const ReadJobs& jobs);

  // Reads in the calling thread.
  Status read(const QueuedRead& read) noexcept;

 private:
  size_t start();  // how many run
  bool read_one();

  Medium& medium_;
  Mutex mutex_;
  ReadJobs waiting_ NVCACHE_GUARDED_BY(mutex_);
  Mutex start_mutex_;
  std::atomic<size_t> running_{0};
  std::array<std::unique_ptr<BackgroundThread>, kThreads> threads_;  // the first running_ stay
};

}  // namespace nvcache
