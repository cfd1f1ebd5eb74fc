#include "adapters/jvm/process_stats.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/files.h"
#include "base/never_destroyed.h"
#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"

namespace nvcache::jvm {
namespace {

constexpr double kDefaultSeconds = 10;

std::string path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? "" : path_of_process(value, getpid());
}

double interval_seconds() {
  const char* const value = std::getenv("NVCACHE_STATS_SECONDS");
  if (value == nullptr || *value == '\0') return kDefaultSeconds;
  const auto seconds = parse_number("NVCACHE_STATS_SECONDS", value, 0.1, 86400);
  if (seconds.ok()) return *seconds;
  std::fprintf(stderr, "nvcache: %s; it is %g\n", std::string(seconds.status().message()).c_str(),
               kDefaultSeconds);
  return kDefaultSeconds;
}

}  // namespace

std::string path_of_process(const std::string& path, int64_t process) {
  const std::string number = fmt::format("{}", process);
  size_t at = path.find("%p");
  if (at == std::string::npos) return fmt::format("{}.{}", path, number);
  std::string named = path;
  for (; at != std::string::npos; at = named.find("%p", at + number.size())) {
    named.replace(at, 2, number);
  }
  return named;
}

ProcessStats& ProcessStats::of_this_process() {
  static NeverDestroyed<ProcessStats> stats;
  return *stats;
}

ProcessStats::ProcessStats()
    : json_path_(path_in("NVCACHE_STATS_JSON")),
      prometheus_path_(path_in("NVCACHE_STATS_PROMETHEUS")),
      thread_({.name = "nvcache-stats", .interval_seconds = interval_seconds(), .round = [this] {
                 return write(), false;
               }}) {}

void ProcessStats::add(TieredCache* cache) {
  const MutexLock lock(mutex_);
  open_.insert(cache);
  if (json_path_.empty() && prometheus_path_.empty()) return;
  if (!thread_.started()) (void)thread_.start();  // else they are written at the exit alone
}

void ProcessStats::remove(TieredCache* cache) {
  const MutexLock lock(mutex_);
  open_.erase(cache);
  const TieredStats stats = cache->stats();
  tell_problem(stats);
  closed_.add_closed(stats);
}

void ProcessStats::tell_problem(const TieredStats& stats) {
  for (size_t i = 0; i < stats.tiers.size() && !told_; ++i) {
    const TierStats& tier = stats.tiers[i];
    if (tier.problem.empty()) continue;
    told_ = true;
    std::fprintf(stderr, "nvcache: tier %zu is off: %s\n", i, tier.problem.c_str());
  }
}

void ProcessStats::write() {
  const MutexLock lock(mutex_);
  StatsSum all = closed_;
  for (const TieredCache* const cache : open_) all.add(cache->stats());
  const TieredStats sum = all.total();
  tell_problem(sum);
  if (sum.lookups == 0) return;  // most programs make caches that they never use
  const auto write_one = [](const std::string& path, const auto& text_of) {
    return path.empty() ? 0 : replace_file(path, text_of());
  };
  const int json = write_one(json_path_, [&] { return sum.to_json() + "\n"; });
  const int text = write_one(prometheus_path_, [&] { return sum.to_prometheus(); });
  if ((json != 0 || text != 0) && !complained_) {
    std::fprintf(stderr, "nvcache: cannot write %s: %s\n",
                 (json != 0 ? json_path_ : prometheus_path_).c_str(),
                 std::generic_category().message(json != 0 ? json : text).c_str());
  }
  complained_ = json != 0 || text != 0;
}

}  // namespace nvcache::jvm
