#include "base/cache_files.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/never_destroyed.h"

namespace nvcache {
namespace {

using Identity = std::pair<dev_t, ino_t>;

struct CacheFiles {
  Mutex mutex;
  std::vector<Identity> files NVCACHE_GUARDED_BY(mutex);
};

CacheFiles& cache_files() {
  static NeverDestroyed<CacheFiles> files;
  return *files;
}

}  // namespace

void note_cache_file(int fd) noexcept try {
  struct stat found {};
  if (fstat(fd, &found) != 0) return;
  CacheFiles& all = cache_files();
  MutexLock lock(all.mutex);
  all.files.emplace_back(found.st_dev, found.st_ino);
} catch (const std::bad_alloc&) {
}

void forget_cache_file(int fd) noexcept {
  struct stat found {};
  if (fstat(fd, &found) != 0) return;
  CacheFiles& all = cache_files();
  MutexLock lock(all.mutex);
  const auto at =
      std::find(all.files.begin(), all.files.end(), Identity(found.st_dev, found.st_ino));
  if (at != all.files.end()) all.files.erase(at);
}

bool is_cache_file(const struct stat& file) {
  CacheFiles& all = cache_files();
  MutexLock lock(all.mutex);
  return std::find(all.files.begin(), all.files.end(), Identity(file.st_dev, file.st_ino)) !=
         all.files.end();
}

}  // namespace nvcache
