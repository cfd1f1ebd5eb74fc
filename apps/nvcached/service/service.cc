#include "apps/nvcached/service/service.h"

#include <algorithm>
#include <fstream>

#include "apps/nvcached/protocol/words.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache::server {
namespace {

constexpr size_t kMostAuthBytes = 65536;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Takes the same time wherever the texts differ, so that timing tells nothing of a password.
bool same_text(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? 0 : b[i % b.size()]));
  }
  return difference == 0;
}

// A zone holds two items of the largest size. Few pins leave all other zones to be cleaned.
uint64_t most_pins(const KvStats& stats) {
  constexpr uint64_t kZonesPerPin = 16;
  return stats.size_bytes / (2 * std::max<uint64_t>(stats.max_item_bytes, 1) * kZonesPerPin);
}

}  // namespace

Service::Service(KvStore& store, const Settings& settings, std::function<uint32_t()> now_s,
                 std::function<uint32_t()> wall_s, std::shared_ptr<KvEvictions> evictions)
    : settings_(settings),
      items_(store, settings.max_item_bytes, std::move(now_s), std::move(wall_s),
             settings.hint_bits),
      buffers_(settings.buffer_bytes, settings.buffer_bytes / 8),
      pins_(most_pins(store.stats())),
      watch_log_(static_cast<size_t>(settings.watcher_buffer_kib) << 10),
      evictions_(std::move(evictions)),
      start_s_(items_.now_s()),
      verbosity_(settings.verbosity),
      detail_(settings.detail) {}

std::unique_ptr<WatchLog::Watcher> Service::watch(uint32_t kinds) {
  auto watcher = watch_log_.watch(kinds);
  tell_evictions();
  return watcher;
}

void Service::tell_evictions() {
  if (evictions_ == nullptr) return;
  const bool wanted = watch_log_.wants(WatchLog::kEvictions);
  if (wanted != evictions_->wanted()) evictions_->want(wanted);
  if (!wanted) return;
  for (const KvEvicted& each : evictions_->take().items) {
    const ItemHints::Hint hint = items_.hints().find(each.key);
    const uint32_t now_s = items_.now_s();
    std::string key;
    append_uri_encoded(each.key, key);
    watch_log_.add(WatchLog::kEvictions,
                   fmt::format("type=eviction key={} fetch={} ttl={} la={} clsid=1 size={}", key,
                               hint.fetched ? "yes" : "no",
                               each.expires_s == 0 ? -1 : items_.seconds_left(each.expires_s),
                               hint.known && now_s > hint.last_s ? now_s - hint.last_s : 0,
                               Items::client_bytes(each.value_bytes)));
  }
}

std::vector<std::string> Service::new_warnings() {
  constexpr uint32_t kBetweenLooksS = 10;
  const uint32_t now_s = items_.now_s();
  if (now_s < warned_s_ + kBetweenLooksS) return {};
  warned_s_ = now_s;
  const KvStats stats = items_.kv().stats();
  std::vector<std::string> warnings;
  if (stats.file_lost != warned_of_file_) {
    warned_of_file_ = stats.file_lost;
    warnings.push_back(
        stats.file_lost
            ? fmt::format("the data file {} is not there any more: it was removed, renamed or "
                          "replaced. The server goes on, and its {} items end with it, unless that "
                          "file gets its name back. Otherwise restart it, to begin anew",
                          stats.file, stats.items)
            : fmt::format("the data file {} is there again", stats.file));
  }
  if (!warned_of_table_ && stats.table_evicted != 0 && stats.fitting_item_bytes != 0) {
    warned_of_table_ = true;
    warnings.push_back(fmt::format(
        "the table of items is full: {} small items, {} of keys and values in a store of {}, and "
        "each new one evicts another. The next start makes the table larger (item={}), unless "
        "--store names an item size",
        stats.items, format_bytes(stats.data_bytes), format_bytes(stats.size_bytes),
        stats.fitting_item_bytes));
  }
  return warnings;
}

Counters& Service::new_counters() {
  const MutexLock lock(mutex_);
  return counters_.emplace_back();
}

Totals Service::totals() const {
  const MutexLock lock(mutex_);
  Totals totals = totals_of_all();
  for (size_t i = 0; i < kCounts; ++i) {
    NVCACHE_ASSERT(totals[i] >= zero_[i]);
    totals[i] -= zero_[i];
  }
  return totals;
}

Totals Service::totals_since_start() const {
  const MutexLock lock(mutex_);
  return totals_of_all();
}

void Service::reset_totals() {
  const MutexLock lock(mutex_);
  zero_ = totals_of_all();
  prefixes_.clear();
}

Totals Service::totals_of_all() const {
  Totals totals{};
  for (const Counters& counters : counters_) counters.add_to(totals);
  return totals;
}

LatencyTable Service::latencies() const {
  const MutexLock lock(mutex_);
  LatencyTable table{};
  for (const Counters& counters : counters_) counters.add_to(table);
  return table;
}

PrefixTotals Service::prefix_samples() const {
  const MutexLock lock(mutex_);
  PrefixTotals totals;
  for (const Counters& counters : counters_) counters.add_to(totals);
  return totals;
}

void Service::tick() {
  items_.tick();
  tell_evictions();
  uint32_t due = flush_at_s_.load(std::memory_order_relaxed);
  if (due == 0 || items_.now_s() < due) return;
  if (!flush_at_s_.compare_exchange_strong(due, 0) || items_.clear().ok()) return;
  // Tried again at the next tick, unless a client asked for another flush meanwhile.
  uint32_t none = 0;
  flush_at_s_.compare_exchange_strong(none, due);
}

Status Service::flush_at(int64_t exptime) {
  const uint32_t due = exptime > 0 ? items_.due_s(exptime) : 0;
  if (due > items_.now_s()) {
    flush_at_s_.store(due);
    return ok_status();
  }
  flush_at_s_.store(0);
  return items_.clear();
}

Status Service::load_auth_file() {
  if (!needs_auth()) return ok_status();
  std::ifstream file(settings_.auth_file, std::ios::binary);
  if (!file) return invalid_argument("auth file {} cannot be read", settings_.auth_file);
  std::map<std::string, std::string, std::less<>> passwords;
  size_t bytes = 0;
  for (std::string line; std::getline(file, line);) {
    bytes += line.size() + 1;
    if (bytes > kMostAuthBytes) {
      return invalid_argument("auth file {} is larger than {} bytes", settings_.auth_file,
                              kMostAuthBytes);
    }
    if (bytes == line.size() + 1 && line.starts_with(kByteOrderMark)) {
      line.erase(0, kByteOrderMark.size());
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
      return invalid_argument("auth file {}: a line is not user:password", settings_.auth_file);
    }
    passwords[line.substr(0, colon)] = line.substr(colon + 1);
  }
  if (passwords.empty()) return invalid_argument("auth file {} names no user", settings_.auth_file);
  const MutexLock lock(mutex_);
  passwords_ = std::move(passwords);
  return ok_status();
}

bool Service::authenticate(std::string_view user, std::string_view password) const {
  const MutexLock lock(mutex_);
  bool good = false;
  for (const auto& [name, secret] : passwords_) {
    // Both are compared, whichever differs.
    const bool right_user = same_text(user, name);
    const bool right_password = same_text(password, secret);
    good = (right_user && right_password) || good;
  }
  return good;
}

void Service::count_detail(std::string_view key, KeyUse use) {
  const std::string_view prefix = prefix_of(key);
  if (prefix.empty()) return;
  const MutexLock lock(mutex_);
  auto found = prefixes_.find(prefix);
  if (found == prefixes_.end()) {
    if (prefixes_.size() >= kMostPrefixes) return;
    found = prefixes_.emplace(std::string(prefix), DetailCounts()).first;
  }
  DetailCounts& counts = found->second;
  counts.gets += use == KeyUse::kHit || use == KeyUse::kMiss;
  counts.hits += use == KeyUse::kHit;
  counts.sets += use == KeyUse::kSet;
  counts.deletes += use == KeyUse::kDelete;
}

std::string Service::dump_detail() const {
  std::string text;
  const MutexLock lock(mutex_);
  for (const auto& [prefix, counts] : prefixes_) {
    text += fmt::format("PREFIX {} get {} hit {} set {} del {}\r\n", one_word(prefix), counts.gets,
                        counts.hits, counts.sets, counts.deletes);
  }
  return text;
}

}  // namespace nvcache::server
