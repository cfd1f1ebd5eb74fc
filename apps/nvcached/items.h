// memcached's operations on items, over a KvStore: expiry times, appending, counting,
// values that became stale. Both protocols are translated to these.
//
// A stored value is the client's bytes and one byte of marks behind them, so that "stale"
// survives what the value survives. Times are Unix seconds, the store's clock.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "apps/nvcached/traces.h"
#include "nvcache/kv_store.h"

namespace nvcache::server {

// Bytes received, of which the one after the last may be written too.
using Received = std::span<char>;

enum class StoreMode : uint8_t { kSet, kAdd, kReplace, kAppend, kPrepend };

enum class ItemStatus : uint8_t {
  kOk,
  kNotFound,   // a condition on a value of a key that is not there
  kExists,     // it has another cas
  kNotStored,  // add: it is there; replace, append, prepend: it is not
  kTooLarge,
  kNoMemory,
  kNotNumeric,
};

struct Found {
  KvItem item;
  std::string_view value;
  bool stale = false;

  explicit operator bool() const { return static_cast<bool>(item); }
};

struct StoreRequest {
  StoreMode mode = StoreMode::kSet;
  uint32_t flags = 0;
  uint32_t expires_s = 0;
  bool compare = false;  // only in place of the value with this cas
  uint64_t cas = 0;
  bool invalidate = false;  // with compare: an older cas stores a value that is stale
};

struct ArithmeticRequest {
  bool down = false;
  uint64_t delta = 1;
  bool compare = false;
  uint64_t cas = 0;
  bool create = false;  // where there is none: `initial`, which expires at this time
  uint64_t initial = 0;
  uint32_t create_expires_s = 0;
  bool set_expiry = false;
  uint32_t expires_s = 0;
};

struct ItemResult {
  ItemStatus status = ItemStatus::kOk;
  uint64_t cas = 0;
  uint64_t number = 0;     // arithmetic: the new value
  uint32_t expires_s = 0;  // arithmetic
  bool created = false;
};

class Items {
 public:
  // What an item costs beside key and value, as memcached counts it against -I.
  static constexpr size_t kItemOverheadBytes = 50;

  Items(KvStore& store, uint64_t max_item_bytes, std::function<uint32_t()> now_s,
        unsigned trace_bits);

  uint32_t now_s() const { return now_s_.load(std::memory_order_relaxed); }
  // The time is read once a second, not for each request.
  void tick() { now_s_.store(clock_(), std::memory_order_relaxed); }

  // A client's expiry: 0 never, negative at once, up to 30 days from now, else Unix time.
  uint32_t expiry(int64_t exptime) const;
  bool fits(size_t key_bytes, uint64_t value_bytes) const {
    return key_bytes + value_bytes + kItemOverheadBytes <= max_item_bytes_;
  }

  Found get(std::string_view key, bool counts = true);
  ItemResult store(std::string_view key, Received value, const StoreRequest& request);
  ItemResult arithmetic(std::string_view key, const ArithmeticRequest& request);
  ItemStatus erase(std::string_view key, uint64_t cas = 0);
  bool touch(std::string_view key, uint32_t expires_s);
  // Gives the value a new cas and marks it stale.
  ItemResult invalidate(std::string_view key, bool compare, uint64_t cas, bool set_expiry,
                        uint32_t expires_s);
  [[nodiscard]] absl::Status clear() { return store_.clear(); }

  Traces& traces() { return traces_; }
  KvStore& kv() { return store_; }

 private:
  KvResult put(std::string_view key, Received value, uint32_t flags, uint32_t expires_s,
               KvCondition condition, bool stale = false);
  ItemResult store_compared(std::string_view key, Received value, const StoreRequest& request);
  ItemResult concatenate(std::string_view key, Received value, const StoreRequest& request);

  KvStore& store_;
  const uint64_t max_item_bytes_;
  const std::function<uint32_t()> clock_;
  std::atomic<uint32_t> now_s_{0};
  Traces traces_;
};

}  // namespace nvcache::server
