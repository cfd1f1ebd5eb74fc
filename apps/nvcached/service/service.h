// The parts of a server that all its connections share: the items, the settings, the counters of
// each thread, a flush that is due later, and statistics by key prefix. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nvcached/options/settings.h"
#include "apps/nvcached/service/budget.h"
#include "apps/nvcached/service/counters.h"
#include "apps/nvcached/service/items.h"
#include "apps/nvcached/service/watch_log.h"
#include "base/mutex.h"

namespace nvcache::server {

// Numbers of connections. The thread that accepts them keeps these.
struct ConnectionGauges {
  std::atomic<uint64_t> current{0};
  std::atomic<uint64_t> total{0};
  std::atomic<uint64_t> rejected{0};
};

using StatVisitor = std::function<void(std::string_view name, std::string_view value)>;

class Service {
 public:
  // `now_s`, `wall_s`: see Items. `evictions`: where the store puts what it evicts, for `watch
  // evictions`; may be null.
  Service(KvStore& store, const Settings& settings, std::function<uint32_t()> now_s,
          std::function<uint32_t()> wall_s, std::shared_ptr<KvEvictions> evictions = nullptr);

  const Settings& settings() const { return settings_; }
  Items& items() { return items_; }
  ConnectionGauges& connections() { return connections_; }
  Budget& buffers() { return buffers_; }  // bytes
  // Values that answers sent in part keep pinned: at most one for every 16 zones of the store.
  Budget& pins() { return pins_; }

  WatchLog& watch_log() { return watch_log_; }
  // Null if there are too many watchers.
  std::unique_ptr<WatchLog::Watcher> watch(uint32_t kinds);
  // Tells the watchers what the store has evicted since the last call.
  void tell_evictions();
  // Lines for the log that an operator should read, each when its reason arises. Looks every ten
  // seconds.
  std::vector<std::string> new_warnings();

  // Counters of a new thread; they live as long as the service.
  Counters& new_counters();
  // Since the start or the last reset.
  Totals totals() const;
  // No client resets these.
  Totals totals_since_start() const;
  void reset_totals();
  // By samples, since the start; no client resets them either.
  LatencyTable latencies() const;
  PrefixTotals prefix_samples() const;

  // Called once a second: reads the time and does what is due.
  void tick();
  // Flushes at once if `exptime` is 0 or less; otherwise when this time comes. DATA_LOSS if the
  // medium fails.
  [[nodiscard]] Status flush_at(int64_t exptime);

  int verbosity() const { return verbosity_.load(std::memory_order_relaxed); }
  void set_verbosity(int level) { verbosity_.store(level, std::memory_order_relaxed); }

  // Clients must first send a user and password of the file, which holds lines of "user:password":
  // text clients by a set, binary clients by SASL.
  [[nodiscard]] Status load_auth_file();
  bool needs_auth() const { return !settings_.auth_file.empty(); }
  // Compares with every user of the file, so that timing tells nothing.
  bool authenticate(std::string_view user, std::string_view password) const;

  // Notes the prefix of a key that is a sample.
  void sample_prefix(std::string_view key, KeyUse use, Counters& counters) const {
    counters.prefixes().add(prefix_of(key), use);
  }

  // Statistics by prefix of the key, counted while `stats detail on` holds.
  bool detail() const { return detail_.load(std::memory_order_relaxed); }
  void set_detail(bool on) { detail_.store(on, std::memory_order_relaxed); }
  void count_detail(std::string_view key, KeyUse use);
  std::string dump_detail() const;

  // The server calls it when it has read certificates.
  void note_certificates() { certificates_s_ = items_.now_s(); }
  uint64_t certificate_age_s() const {
    const uint32_t read_s = certificates_s_;
    return read_s == 0 ? 0 : items_.now_s() - read_s;
  }
  uint64_t uptime_s() const { return items_.now_s() - start_s_; }

  // The server sets these before the first request. Empty functions are not called.
  std::function<void()> on_shutdown_command;
  std::function<Status()> on_refresh_certs;  // empty without TLS
  std::function<void(const StatVisitor&)> visit_connections;

 private:
  struct DetailCounts {
    uint64_t gets = 0, hits = 0, sets = 0, deletes = 0;
  };
  static constexpr size_t kMostPrefixes = 65536;

  Totals totals_of_all() const NVCACHE_REQUIRES(mutex_);
  // The part before the delimiter (-D); empty if there is none.
  std::string_view prefix_of(std::string_view key) const {
    const size_t end = key.find(settings_.prefix_delimiter);
    return end == std::string_view::npos ? std::string_view() : key.substr(0, end);
  }

  const Settings settings_;
  Items items_;
  ConnectionGauges connections_;
  Budget buffers_;
  Budget pins_;
  WatchLog watch_log_;
  const std::shared_ptr<KvEvictions> evictions_;
  const uint32_t start_s_;
  std::atomic<int> verbosity_;
  std::atomic<bool> detail_;
  std::atomic<uint32_t> flush_at_s_{0};
  std::atomic<uint32_t> certificates_s_{0};
  uint32_t warned_s_ = 0;  // new_warnings()'s: when it looked last
  bool warned_of_table_ = false;
  bool warned_of_file_ = false;

  mutable Mutex mutex_;
  std::deque<Counters> counters_ NVCACHE_GUARDED_BY(mutex_);
  Totals zero_ NVCACHE_GUARDED_BY(mutex_){};
  std::map<std::string, DetailCounts, std::less<>> prefixes_ NVCACHE_GUARDED_BY(mutex_);
  std::map<std::string, std::string, std::less<>> passwords_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache::server
