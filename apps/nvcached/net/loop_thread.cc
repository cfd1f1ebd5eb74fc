#include "apps/nvcached/net/loop_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/assert.h"
#include "base/descriptors.h"
#include "base/start_thread.h"

namespace nvcache::server {

LoopThread::~LoopThread() {
  stop();
  if (wake_event_ != nullptr) event_free(wake_event_);
  if (base_ != nullptr) event_base_free(base_);
  if (wake_fd_ >= 0) close(wake_fd_);
}

bool LoopThread::create() {
  NVCACHE_ASSERT(base_ == nullptr && wake_fd_ < 0);
  base_ = event_base_new();
  wake_fd_ = make_event_counter(EFD_NONBLOCK);
  if (base_ == nullptr || wake_fd_ < 0) return false;
  wake_event_ = event_new(base_, wake_fd_, EV_READ | EV_PERSIST, on_event, this);
  return wake_event_ != nullptr && event_add(wake_event_, nullptr) == 0;
}

Status LoopThread::start() {
  NVCACHE_ASSERT(wake_event_ != nullptr && !thread_.joinable());
  return start_thread(&thread_, [this] {
    pthread_setname_np(pthread_self(), name_);
    event_base_dispatch(base_);
  });
}

void LoopThread::wake() {
  NVCACHE_ASSERT_SLOW(wake_fd_ >= 0);
  const uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof one);
}

void LoopThread::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake();
  thread_.join();
}

void LoopThread::on_event(int fd, short, void* self) {
  auto& loop = *static_cast<LoopThread*>(self);
  uint64_t count;
  (void)!read(fd, &count, sizeof count);
  if (loop.stopping_) {
    event_base_loopbreak(loop.base_);
  } else if (loop.on_wake_) {
    loop.on_wake_();
  }
}

}  // namespace nvcache::server
