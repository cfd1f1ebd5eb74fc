// Tells an object that it is in a child, forked from the process that made it. There it has none of
// its threads, its locks may be held by them for ever, and its media are its parent's: it waits for
// nothing then, and leaves what lies on media, and the locks of files, alone.
//
// Thread-safe. A check costs a load. Children of vfork() and clone() alone are not seen.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvcache {

class HomeProcess {
 public:
  HomeProcess() : made_in_(forks()) {}
  // The caller is in the process that made this object.
  bool is_here() const { return made_in_ == forks(); }

 private:
  static uint32_t forks() { return forks_.load(std::memory_order_relaxed); }  // before threads
  static void count_fork();

  static std::atomic<uint32_t> forks_;  // that led to this process
  static const int counts_;             // registers count_fork()
  uint32_t made_in_;
};

}  // namespace nvcache
