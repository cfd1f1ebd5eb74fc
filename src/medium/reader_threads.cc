#include "medium/reader_threads.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/no_memory.h"

namespace nvcache {

void ReadJobs::append(ReadJob& job) {
  job.next = nullptr;
  append({.first = &job, .last = &job, .count = 1});
}

void ReadJobs::append(const ReadJobs& more) {
  if (more.count == 0) return;
  (first == nullptr ? first : last->next) = more.first;
  last = more.last;
  count += more.count;
}

ReadJob* ReadJobs::take_first() {
  ReadJob* const job = first;
  if (job == nullptr) return nullptr;
  first = job->next;
  --count;
  return job;
}

ReaderThreads::~ReaderThreads() {
  for (auto& thread : threads_) thread.reset();
}

bool ReaderThreads::add(const ReadJobs& jobs) {
  const size_t running = start();
  if (running == 0) return false;
  {
    MutexLock lock(mutex_);
    waiting_.append(jobs);
  }
  for (size_t at = 0; at < std::min(jobs.count, running); ++at) threads_[at]->wake();
  return true;
}

size_t ReaderThreads::start() {
  const size_t running = running_.load(std::memory_order_acquire);
  if (running > 0) return running;
  MutexLock lock(start_mutex_);
  size_t count = running_.load(std::memory_order_relaxed);
  if (count > 0) return count;
  for (auto& thread : threads_) {
    try {
      thread = std::make_unique<BackgroundThread>(
          BackgroundThread::Work{.name = "nvcache-read", .round = [this] { return read_one(); }});
    } catch (const std::exception&) {  // no memory
      break;
    }
    if (!thread->start()) break;
    ++count;
  }
  running_.store(count, std::memory_order_release);
  return count;
}

bool ReaderThreads::read_one() {
  ReadJob* job = nullptr;
  {
    MutexLock lock(mutex_);
    job = waiting_.take_first();
  }
  if (job == nullptr) return false;
  job->read->status = read(*job->read);
  job->owner->job_done(*job);
  return true;
}

Status ReaderThreads::read(const QueuedRead& read) noexcept {
  try {
    return medium_.read(read.offset, read.into);
  } catch (const std::exception&) {  // no memory for the message of an error
    return no_memory_status("reading a medium");
  }
}

}  // namespace nvcache
