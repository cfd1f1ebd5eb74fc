#include "apps/nvcached/service/watch_log.h"

#include <chrono>
#include <utility>

#include "apps/nvcached/protocol/words.h"
#include "base/assert.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

struct KindName {
  std::string_view word;
  WatchLog::Kind kind;
};
constexpr KindName kKindNames[] = {{"fetchers", WatchLog::kFetchers},
                                   {"mutations", WatchLog::kMutations},
                                   {"deletions", WatchLog::kDeletions},
                                   {"evictions", WatchLog::kEvictions},
                                   {"connevents", WatchLog::kConnections}};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

void append_uri_encoded(std::string_view key, std::string& out) {
  for (const char c : key) {
    if (is_plain(c)) {
      out.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

std::optional<uint32_t> WatchLog::parse_kinds(std::string_view words) {
  uint32_t kinds = 0;
  for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
    uint32_t kind = 0;
    for (const KindName& each : kKindNames) {
      if (each.word == word) kind = each.kind;
    }
    if (kind == 0) return std::nullopt;
    kinds |= kind;
  }
  return kinds == 0 ? uint32_t{kFetchers} : kinds;
}

std::unique_ptr<WatchLog::Watcher> WatchLog::watch(uint32_t kinds) {
  std::unique_ptr<Watcher> watcher(new Watcher(*this, kinds));
  const MutexLock lock(mutex_);
  if (watchers_.size() >= kMostWatchers) return nullptr;
  watchers_.push_back(watcher.get());
  count_wanted();
  return watcher;
}

WatchLog::Watcher::~Watcher() {
  const MutexLock lock(log_.mutex_);
  const size_t erased = std::erase(log_.watchers_, this);
  NVCACHE_ASSERT(erased <= 1);  // 0: there were too many already
  log_.count_wanted();
}

void WatchLog::count_wanted() {
  uint32_t wanted = 0;
  for (const Watcher* each : watchers_) wanted |= each->kinds_;
  wanted_.store(wanted, std::memory_order_relaxed);
}

void WatchLog::add(Kind kind, std::string_view text) {
  using std::chrono::microseconds;
  const auto now_us =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const MutexLock lock(mutex_);
  const std::string line = fmt::format("ts={}.{:06} gid={} {}\n", now_us / 1'000'000,
                                       now_us % 1'000'000, ++lines_, text);
  for (Watcher* each : watchers_) {
    if ((each->kinds_ & kind) == 0) continue;
    std::string skipped;
    if (each->skipped_ > 0) skipped = fmt::format("skipped={}\n", each->skipped_);
    if (each->lines_.size() + skipped.size() + line.size() > buffer_bytes_) {
      ++each->skipped_;
      skipped_lines_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    each->lines_ += skipped;
    each->lines_ += line;
    each->skipped_ = 0;
  }
}

std::string WatchLog::Watcher::take() {
  const MutexLock lock(log_.mutex_);
  return std::exchange(lines_, {});
}

size_t WatchLog::watchers() const {
  const MutexLock lock(mutex_);
  return watchers_.size();
}

}  // namespace nvcache::server
