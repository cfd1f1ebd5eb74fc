// `watch`: clients that are told what all others do, a line an event, in memcached's format
// (its doc/protocol.txt). Each watcher has a buffer of a fixed size (-o watcher_logbuf_size); lines
// that do not fit are skipped and counted, so that a slow watcher keeps no thread waiting.
//
// Thread-safe. Without a watcher an event costs one relaxed load. With one, all
// events of the server meet in one mutex.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace nvcache::server {

class WatchLog {
 public:
  enum Kind : uint32_t {
    kFetchers = 1,
    kMutations = 2,
    kDeletions = 4,
    kEvictions = 8,
    kConnections = 16,
  };
  static constexpr size_t kMostWatchers = 20;  // as in memcached

  // One client that watches. Ends with the object. Must not outlive the log.
  class Watcher {
   public:
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    // The lines since the last call.
    std::string take();

   private:
    friend class WatchLog;
    Watcher(WatchLog& log, uint32_t kinds) : log_(log), kinds_(kinds) {}

    WatchLog& log_;
    const uint32_t kinds_;
    std::string lines_;     // under the log's mutex
    uint64_t skipped_ = 0;  // under the log's mutex: lines since the last one that fitted
  };

  explicit WatchLog(size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  // The kinds that these words name, fetchers if there is none; nothing if a word names none.
  static std::optional<uint32_t> parse_kinds(std::string_view words);

  // Null if there are too many.
  std::unique_ptr<Watcher> watch(uint32_t kinds);

  bool wants(Kind kind) const { return (wanted_.load(std::memory_order_relaxed) & kind) != 0; }
  // Adds a line to each watcher of the kind. `text` is all behind time and number.
  void add(Kind kind, std::string_view text);

  size_t watchers() const;
  uint64_t skipped_lines() const { return skipped_lines_.load(std::memory_order_relaxed); }

 private:
  void count_wanted() NVCACHE_REQUIRES(mutex_);

  const size_t buffer_bytes_;
  std::atomic<uint32_t> wanted_{0};
  std::atomic<uint64_t> skipped_lines_{0};
  mutable Mutex mutex_;
  uint64_t lines_ NVCACHE_GUARDED_BY(mutex_) = 0;
  std::vector<Watcher*> watchers_ NVCACHE_GUARDED_BY(mutex_);
};

// The key as watchers and dumps show it: all but letters, digits and "-._~" as %XX.
void append_uri_encoded(std::string_view key, std::string& out);

}  // namespace nvcache::server
