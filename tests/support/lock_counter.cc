#include "support/lock_counter.h"

#include <dlfcn.h>
#include <pthread.h>

namespace nvcache::test {
namespace {

constinit thread_local uint64_t locks = 0;

using Lock = int (*)(pthread_mutex_t*);

Lock next(const char* name) { return reinterpret_cast<Lock>(dlsym(RTLD_NEXT, name)); }

}  // namespace

uint64_t locks_of_this_thread() { return locks; }

}  // namespace nvcache::test

// Without a guard of its own: initialising a static variable may lock.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static constinit nvcache::test::Lock lock = nullptr;
  nvcache::test::Lock known = __atomic_load_n(&lock, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = nvcache::test::next("pthread_mutex_lock");
    __atomic_store_n(&lock, known, __ATOMIC_RELAXED);
  }
  ++nvcache::test::locks;
  return known(mutex);
}

extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static constinit nvcache::test::Lock lock = nullptr;
  nvcache::test::Lock known = __atomic_load_n(&lock, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = nvcache::test::next("pthread_mutex_trylock");
    __atomic_store_n(&lock, known, __ATOMIC_RELAXED);
  }
  const int result = known(mutex);
  if (result == 0) ++nvcache::test::locks;
  return result;
}
