// Preloaded into a program: it gets as many threads as NVCACHE_TEST_THREADS says, as under a limit
// on tasks.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {
std::atomic<int> started{0};
}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  const char* most = std::getenv("NVCACHE_TEST_THREADS");
  if (most != nullptr && ++started > std::atoi(most)) return EAGAIN;
  using Real = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return reinterpret_cast<Real>(dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run,
                                                                    argument);
}
