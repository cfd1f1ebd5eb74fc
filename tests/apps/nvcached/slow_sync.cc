// Preloaded into nvcached: as long as the file that NVCACHE_TEST_HOLD_SYNCS names is there, the
// process's first thread waits in its syncs of files, and says so by a file NAME.reached. Other
// threads sync in the background at times of their own, and would say so too early.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void wait() {
  const char* held = std::getenv("NVCACHE_TEST_HOLD_SYNCS");
  if (held == nullptr || gettid() != getpid() || access(held, F_OK) != 0) return;
  const int fd = open((held + std::string(".reached")).c_str(), O_WRONLY | O_CREAT, 0600);
  if (fd >= 0) close(fd);
  while (access(held, F_OK) == 0) usleep(1000);
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
