// Counts the mutexes that a thread locks: pthread_mutex_lock() of the test binary that links
// lock_counter.cc, which std::mutex calls, and so all that base/mutex.h locks. The library is the
// one that is released. Not for sanitizers, which bring a pthread_mutex_lock() of their own.
//
// The way back from a wait on a condition variable is not counted. Thread-safe.
#pragma once

#include <cstdint>

namespace nvcache::test {

// How many mutexes the calling thread has locked since it began.
uint64_t locks_of_this_thread();

}  // namespace nvcache::test
