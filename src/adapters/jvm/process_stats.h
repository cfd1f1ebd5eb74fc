// The statistics of all caches that the preloaded library made in this process, in a file: as one
// cache, written at an interval and when the process exits. A program that ends by System.exit
// closes no cache, and one that is killed leaves what the last interval wrote.
//
//   NVCACHE_STATS_JSON, NVCACHE_STATS_PROMETHEUS   where to; `%p` in a path is the process's id,
//                                                  which is appended where there is none
//   NVCACHE_STATS_SECONDS                          the interval (10)
//
// Lower tiers are opened when the first block goes there. If that fails, a line on stderr says why,
// once: at the next interval, when the cache closes, or when the process exits.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/background_thread.h"
#include "base/mutex.h"
#include "nvcache/tiered_cache.h"
#include "tiered_cache/stats_sum.h"

namespace nvcache::jvm {

// Thread-safe. Its lock is held while statistics are gathered and written, so that a cache that
// closes waits until no thread asks it.
class ProcessStats {
 public:
  // Never destroyed: threads may outlive static objects.
  static ProcessStats& of_this_process();

  ProcessStats();

  // A cache that lives until remove(), which keeps its counters.
  void add(TieredCache* cache);
  void remove(TieredCache* cache);

  // Writes the files that are wanted. A failure is told on stderr, once.
  void write();

 private:
  void tell_problem(const TieredStats& stats) NVCACHE_REQUIRES(mutex_);

  const std::string json_path_;  // empty: none
  const std::string prometheus_path_;
  Mutex mutex_;
  std::set<TieredCache*> open_ NVCACHE_GUARDED_BY(mutex_);
  StatsSum closed_ NVCACHE_GUARDED_BY(mutex_);
  bool complained_ NVCACHE_GUARDED_BY(mutex_) = false;  // of a file
  bool told_ NVCACHE_GUARDED_BY(mutex_) = false;        // the problem of a tier
  BackgroundThread thread_;
};

// `path` with the process's id.
std::string path_of_process(const std::string& path, int64_t process);

}  // namespace nvcache::jvm
