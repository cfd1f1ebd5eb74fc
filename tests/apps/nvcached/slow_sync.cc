// Preloaded into nvcached: syncs of files take as long as NVCACHE_TEST_SYNC_MS says.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void wait() {
  const char* given = std::getenv("NVCACHE_TEST_SYNC_MS");
  if (given != nullptr) usleep(static_cast<useconds_t>(std::atoi(given)) * 1000);
}

}  // namespace

extern "C" int fdatasync(int fd) {
  wait();
  using Real = int (*)(int);
  return reinterpret_cast<Real>(dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

extern "C" int msync(void* at, size_t bytes, int flags) {
  wait();
  using Real = int (*)(void*, size_t, int);
  return reinterpret_cast<Real>(dlsym(RTLD_NEXT, "msync"))(at, bytes, flags);
}
