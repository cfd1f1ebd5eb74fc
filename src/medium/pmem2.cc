#include "medium/pmem2.h"

#include <dlfcn.h>

#include "base/descriptors.h"
#include "base/mutex.h"
#include "base/text.h"

namespace nvcache {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

StatusOr<Pmem2> Pmem2::load(const char* file) {
  const StandardPlacesHeld held;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return failed_precondition_error(fmt::format(
        "the file lies on persistent memory (DAX), and libpmem2, which writes that back, cannot be "
        "loaded: {}. Install the package libpmem2, or use a file elsewhere",
        dlerror()));
  }
  Pmem2 found;
  const bool whole = find(library, "pmem2_config_new", &found.config_new) &&
                     find(library, "pmem2_config_delete", &found.config_delete) &&
                     find(library, "pmem2_config_set_required_store_granularity",
                          &found.config_set_required_store_granularity) &&
                     find(library, "pmem2_source_from_fd", &found.source_from_fd) &&
                     find(library, "pmem2_source_delete", &found.source_delete) &&
                     find(library, "pmem2_map_new", &found.map_new) &&
                     find(library, "pmem2_map_delete", &found.map_delete) &&
                     find(library, "pmem2_map_get_address", &found.map_get_address) &&
                     find(library, "pmem2_get_flush_fn", &found.get_flush_fn) &&
                     find(library, "pmem2_get_drain_fn", &found.get_drain_fn);
  if (whole) return found;
  dlclose(library);
  return failed_precondition_error(
      fmt::format("{} is not libpmem2 of version 1: functions are missing", file));
}

StatusOr<const Pmem2*> Pmem2::get() {
  static Mutex mutex;
  static Pmem2 pmem2;
  const MutexLock lock(mutex);
  if (pmem2.map_new == nullptr) {
    const StatusOr<Pmem2> loaded = load("libpmem2.so.1");
    if (!loaded.ok()) return loaded.status();
    pmem2 = *loaded;
  }
  return &pmem2;
}

}  // namespace nvcache
