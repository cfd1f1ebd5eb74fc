// Makes a long start polite: it ends within a second of SIGTERM or SIGINT, and systemd hears that
// it goes on. Its thread lives as long as the object.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "nvcache/status.h"

namespace nvcache::server {

class LongStart {
 public:
  LongStart();
  ~LongStart();
  LongStart(const LongStart&) = delete;
  LongStart& operator=(const LongStart&) = delete;

  // All threads must block SIGTERM and SIGINT. RESOURCE_EXHAUSTED: the system has no thread for it.
  [[nodiscard]] Status begin();
  // How far it is: systemd gets it every five seconds.
  void tell(std::string status);
  // A signal came. The loader that sees it gives up; if none does, the process ends half a second
  // later.
  bool must_end() const { return must_end_.load(std::memory_order_relaxed); }

 private:
  void watch();

  const int signals_;
  const int stop_;
  std::atomic<bool> must_end_{false};
  Mutex mutex_;
  std::string status_ NVCACHE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace nvcache::server
