#include "experiments/nvmcached/crash.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include "apps/command/interrupt.h"
#include "base/text.h"
#include "kv_store/store/store.h"
#include "medium/check.h"

namespace nvcache::nvmcached {
namespace {

constexpr uint32_t kMostWarmWindows = 40;
constexpr double kStable = 0.002;  // of all GETs, between two windows
constexpr uint64_t kGoneVersion = 0;
constexpr uint64_t kNothing = ~uint64_t{0};
constexpr size_t kRemembered = 1 << 20;  // puts

// Memory that outlives the store on it, as persistent memory does.
class LastingMemory final : public Medium {
 public:
  explicit LastingMemory(MutableBytes bytes) : bytes_(bytes) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t offset, MutableBytes into) override {
    Status status = check_range(traits_.name, offset, into.size(), bytes_.size());
    if (status.ok()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return status;
  }
  Status write(uint64_t offset, ByteView from) override {
    Status status = check_range(traits_.name, offset, from.size(), bytes_.size());
    if (status.ok()) std::memcpy(bytes_.data() + offset, from.data(), from.size());
    return status;
  }
  ByteView direct() const override { return bytes_; }
  Status resize(uint64_t size_bytes) override {
    return check_resize(traits_.name, size_bytes, size_bytes == bytes_.size() ? size_bytes : 0);
  }

 private:
  const MutableBytes bytes_;
  const Traits traits_{.name = "memory",
                       .reads = Reads::kInPlaceChecked,
                       .persistent = true,
                       .flush_granularity_bytes = 64};
};

// Aligned as stores want it.
class Image {
 public:
  explicit Image(uint64_t size_bytes) : words_(size_bytes / 8 + 8), size_bytes_(size_bytes) {}
  std::byte* data() {
    return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(words_.data()) + 63) / 64 *
                                        64);
  }
  MutableBytes bytes() { return {data(), size_bytes_}; }
  void copy_from(Image& other) { std::memcpy(data(), other.data(), size_bytes_); }

 private:
  std::vector<uint64_t> words_;
  uint64_t size_bytes_;
};

class CrashRun {
 public:
  CrashRun(const Kind& kind, const Trace& trace, const CrashPlan& plan, Progress& progress)
      : kind_(kind),
        trace_(trace),
        plan_(plan),
        progress_(progress),
        stream_(trace, trace.keys_in(plan.cache_bytes), plan.seed),
        versions_(stream_.keys(), kGoneVersion),
        values_(trace.value_most_bytes),
        key_(trace.key_bytes, '0'),
        live_(whole_bytes()) {}

  StatusOr<CrashResult> run() {
    result_.keys = stream_.keys();
    auto store = open(live_);
    if (!store.ok()) return store.status();
    if (Status status = warm_up(**store); !status.ok()) return status;

    Image image(whole_bytes());
    image.copy_from(live_);
    const std::vector<bool> had = census(**store);
    count_items(had);
    drop_newest(**store, image);
    store->reset();

    Image looked_at(whole_bytes());
    looked_at.copy_from(image);
    if (Status status = count_losses(looked_at, had); !status.ok()) return status;
    if (Status status = go_on(image); !status.ok()) return status;
    if (wrong_ > 0) {
      return data_loss_error(
          fmt::format("{} {}: {} values were found that are older than the last, or deleted",
                      trace_.name, kind_.name, wrong_));
    }
    return result_;
  }

 private:
  uint64_t whole_bytes() const { return plan_.cache_bytes / 4096 * 4096; }

  StatusOr<std::unique_ptr<KvStoreImpl>> open(Image& image) {
    auto config = store_config(kind_.durability, whole_bytes(), trace_);
    if (!config.ok()) return config.status();
    if (plan_.write_cache_bytes) config->write_cache_bytes = *plan_.write_cache_bytes;
    KvMedium medium;
    medium.medium = std::make_unique<LastingMemory>(image.bytes());
    return KvStoreImpl::make(*std::move(config), std::move(medium));
  }

  std::string_view key_text(uint64_t key) {
    write_key(key, trace_.key_bytes, key_.data());
    return key_;
  }

  // True on a hit.
  bool get(KvStore& store, uint64_t key) {
    const KvItem item = store.get(key_text(key));
    if (!item) return false;
    const bool known = key < versions_.size() && versions_[key] != kGoneVersion;
    wrong_ += !known || !Values::is(item.value(), key, versions_[key]);
    return true;
  }

  void set(KvStore& store, uint64_t key, uint32_t value_bytes) {
    const uint32_t version = ++next_version_;
    const KvResult done = store.put(key_text(key), values_.make(key, version, value_bytes), {}, {});
    if (done.outcome != KvOutcome::kDone) return;  // the old value stays
    versions_[key] = version;
    newest_.push_back(key);
    if (newest_.size() > kRemembered) newest_.pop_front();
  }

  void refill(KvStore& store, const Request& request) {
    const uint64_t key = missed_ == kNothing ? request.key : missed_;
    missed_ = kNothing;
    set(store, key, trace_.value_bytes(key));
  }

  StatusOr<double> window(KvStore& store, const char* what) {
    uint64_t gets = 0, misses = 0;
    for (uint64_t i = 0; i < plan_.window; ++i) {
      const Request request = stream_.next();
      switch (request.kind) {
        case Request::kGet:
          ++gets;
          if (!get(store, request.key)) {
            ++misses;
            if (request.key < versions_.size()) missed_ = request.key;
          }
          break;
        case Request::kSet:
          refill(store, request);
          break;
        case Request::kDelete:
          (void)store.erase(key_text(request.key), 0);
          if (request.key < versions_.size()) versions_[request.key] = kGoneVersion;
          break;
      }
    }
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    progress_.update(fmt::format("{} {}: {}", trace_.name, kind_.name, what));
    return gets == 0 ? 0 : static_cast<double>(misses) / static_cast<double>(gets);
  }

  // Until the hit ratio is stable; the last windows are those before the crash.
  Status warm_up(KvStore& store) {
    for (uint64_t i = 0; i < stream_.keys(); ++i) {
      const uint64_t key = stream_.loaded().in_order(i);
      if (stream_.loaded().contains(key)) set(store, key, trace_.value_bytes(key));
    }
    for (result_.warm_windows = 0; result_.warm_windows < kMostWarmWindows;) {
      auto misses = window(store, "warming up");
      if (!misses.ok()) return misses.status();
      ++result_.warm_windows;
      result_.before.push_back(*misses);
      if (result_.before.size() > plan_.windows_before) {
        result_.before.erase(result_.before.begin());
        const auto [low, high] = std::minmax_element(result_.before.begin(), result_.before.end());
        if (*high - *low <= kStable) break;
      }
    }
    return ok_status();
  }

  // An item counts with its share of the table. Items in the write cache are lost as they
  // are, and do not count.
  void drop_newest(KvStore& store, Image& image) {
    uint64_t dropped_bytes = 0;
    const auto limit =
        static_cast<uint64_t>(static_cast<double>(result_.stored_bytes) * plan_.drop_share);
    for (auto each = newest_.rbegin(); each != newest_.rend(); ++each) {
      const uint64_t key = *each;
      const KvItem item = store.get(key_text(key));
      if (!item) continue;
      const std::byte* at = item.value().data();
      if (at < live_.data() || at >= live_.data() + whole_bytes()) continue;
      std::byte* const value = image.data() + (at - live_.data());
      std::byte* const front = value - trace_.key_bytes - kKvItemHeaderBytes;
      if (*(front + kKvItemHeaderBytes) == std::byte{0}) continue;  // dropped already
      dropped_bytes += kv_item_bytes(trace_.key_bytes, item.value().size()) + kTableBytesPerItem;
      if (dropped_bytes > limit) return;
      std::memset(front, 0, kKvItemHeaderBytes + trace_.key_bytes + item.value().size());
      ++result_.items_dropped;
    }
  }

  std::vector<bool> census(KvStore& store) {
    std::vector<bool> found(versions_.size());
    for (uint64_t key = 0; key < found.size(); ++key) found[key] = get(store, key);
    return found;
  }

  void count_items(const std::vector<bool>& had) {
    for (uint64_t key = 0; key < had.size(); ++key) {
      if (!had[key]) continue;
      const uint32_t value_bytes = trace_.value_bytes(key);
      ++result_.items_before;
      result_.bytes_before += trace_.key_bytes + value_bytes;
      result_.stored_bytes += kv_item_bytes(trace_.key_bytes, value_bytes) + kTableBytesPerItem;
    }
  }

  Status count_losses(Image& image, const std::vector<bool>& had) {
    auto store = open(image);
    if (!store.ok()) return store.status();
    const std::vector<bool> has = census(**store);
    for (uint64_t key = 0; key < had.size(); ++key) {
      if (!had[key] || has[key]) continue;
      ++result_.items_lost;
      result_.bytes_lost += trace_.key_bytes + trace_.value_bytes(key);
    }
    return ok_status();
  }

  Status go_on(Image& image) {
    auto store = open(image);
    if (!store.ok()) return store.status();
    result_.open_seconds = (*store)->stats().recovery_seconds;
    for (uint32_t i = 0; i < plan_.windows_after; ++i) {
      auto misses = window(**store, "after the crash");
      if (!misses.ok()) return misses.status();
      result_.after.push_back(*misses);
    }
    return ok_status();
  }

  const Kind& kind_;
  const Trace& trace_;
  const CrashPlan& plan_;
  Progress& progress_;
  RequestStream stream_;
  std::vector<uint32_t> versions_;  // of the value stored last; 0: none, or deleted
  uint64_t missed_ = kNothing;      // the key that was missed last, since the last SET
  Values values_;
  std::string key_;
  Image live_;
  uint32_t next_version_ = 0;
  std::deque<uint64_t> newest_;  // keys, the one stored last at the end
  uint64_t wrong_ = 0;
  CrashResult result_;
};

}  // namespace

double CrashResult::rise() const {
  if (before.empty() || after.empty()) return 0;
  const double usual =
      std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(before.size());
  return *std::max_element(after.begin(), after.end()) - usual;
}

StatusOr<CrashResult> run_crash(const Kind& kind, const Trace& trace, const CrashPlan& plan,
                                Progress& progress) {
  return CrashRun(kind, trace, plan, progress).run();
}

}  // namespace nvcache::nvmcached
