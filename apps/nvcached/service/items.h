// memcached's operations on items, over a KvStore: expiry times, appending, counting, stale
// values. All protocols translate their requests to these.
//
// A stored value is the client's bytes followed by one byte of marks, so that "stale" survives
// whatever the value survives. Times are Unix seconds, as on the store's clock.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "apps/nvcached/service/item_hints.h"
#include "nvcache/kv_store.h"

namespace nvcache::server {

enum class StoreMode : uint8_t { kSet, kAdd, kReplace, kAppend, kPrepend };

enum class ItemStatus : uint8_t {
  kOk,
  kNotFound,   // the key is not there
  kExists,     // the value has another cas
  kNotStored,  // add: the key is there; replace, append, prepend: it is not
  kTooLarge,
  kNoMemory,
  kMediumFailed,
  kNotNumeric,
};

struct Found {
  KvItem item;
  std::string_view value;
  bool stale = false;

  explicit operator bool() const { return static_cast<bool>(item); }
};

// The facts of an item that a dump tells.
struct ItemSummary {
  size_t value_bytes = 0;
  uint32_t expires_s = 0;
  uint64_t cas = 0;
};

struct StoreRequest {
  StoreMode mode = StoreMode::kSet;
  uint32_t flags = 0;
  uint32_t expires_s = 0;
  bool compare = false;     // replace only the value with this cas; not with kAdd
  uint64_t cas = 0;         // of no value: 0
  bool invalidate = false;  // with compare: with an older cas, store the value as stale
};

struct ArithmeticRequest {
  bool down = false;
  uint64_t delta = 1;
  bool compare = false;
  uint64_t cas = 0;
  bool create = false;  // if the key is missing, store `initial`, which expires at this time
  uint64_t initial = 0;
  uint32_t create_expires_s = 0;
  bool set_expiry = false;
  uint32_t expires_s = 0;
};

struct ItemResult {
  ItemStatus status = ItemStatus::kOk;
  uint64_t cas = 0;
  uint64_t number = 0;         // arithmetic: the new value
  uint32_t expires_s = 0;      // arithmetic
  uint32_t old_expires_s = 0;  // arithmetic: the same of the value before, 0 if there was none
  bool created = false;
};

class Items {
 public:
  // memcached counts these against -I for each item, in addition to key and value.
  static constexpr size_t kItemOverheadBytes = 50;

  // `now_s`: the clock that the store goes by. `wall_s`: what the wall clock says, which is what
  // clients go by: it may be set at any time.
  Items(KvStore& store, uint64_t max_item_bytes, std::function<uint32_t()> now_s,
        std::function<uint32_t()> wall_s, unsigned hint_bits);

  uint32_t now_s() const { return now_s_.load(std::memory_order_relaxed); }
  // Reads the time. Called once a second, so that requests need not.
  void tick() { now_s_.store(clock_(), std::memory_order_relaxed); }

  // The second of the store's clock from which an item is expired: 0 is never, a negative `exptime`
  // is at once, one of up to 30 days counts from now, and others are times of the wall clock, as it
  // is set now. Clocks of seconds are up to one late, so one is added to what counts from now: an
  // item never lives shorter than asked, and at most a second longer.
  uint32_t expiry(int64_t exptime) const;
  // The same without the second that is added.
  uint32_t due_s(int64_t exptime) const;
  // Whole seconds that an item with this expiry is certain to live. Negative: it has expired.
  int64_t seconds_left(uint32_t expires_s) const { return int64_t{expires_s} - 1 - clock_(); }
  // A second of the store's clock, by the wall clock.
  int64_t wall_s(uint32_t store_s) const { return int64_t{store_s} - clock_() + wall_(); }
  uint32_t wall_s() const { return wall_(); }
  bool fits(size_t key_bytes, uint64_t value_bytes) const {
    return key_bytes + value_bytes + kItemOverheadBytes <= max_item_bytes_;
  }

  // A value from before a long absence (KvItem::outdated) is a miss,
  Found get(std::string_view key, bool counts = true);
  // or stale, for requests whose answers can say so.
  Found get_or_stale(std::string_view key, bool counts = true);
  ItemResult store(std::string_view key, std::string_view value, const StoreRequest& request);
  // A counter stays the same item: stale, won and fetched if it was so before.
  ItemResult arithmetic(std::string_view key, const ArithmeticRequest& request);
  ItemStatus erase(std::string_view key, uint64_t cas = 0);
  // `counts`: as fetched.
  ItemStatus touch(std::string_view key, uint32_t expires_s, bool counts = true);
  // Gives the value a new cas and marks it stale.
  ItemResult invalidate(std::string_view key, bool compare, uint64_t cas, bool set_expiry,
                        uint32_t expires_s);
  [[nodiscard]] Status clear() { return store_.clear(); }

  // Visits like KvStore::visit(). Counts nothing as fetched.
  uint64_t visit(uint64_t cursor,
                 const std::function<void(std::string_view key, const ItemSummary&)>& visitor);

  // Returns how many bytes of a value in the store a client sent.
  static uint64_t client_bytes(uint64_t value_bytes);

  ItemHints& hints() { return hints_; }
  KvStore& kv() { return store_; }

 private:
  KvResult put(std::string_view key, std::string_view value, uint32_t flags, uint32_t expires_s,
               KvCondition condition, bool stale = false,
               ItemHints::Kept kept = ItemHints::kNothing);
  ItemResult store_compared(std::string_view key, std::string_view value,
                            const StoreRequest& request);
  ItemResult concatenate(std::string_view key, std::string_view value, const StoreRequest& request);

  void note(KvOutcome outcome);

  KvStore& store_;
  const uint64_t max_item_bytes_;
  const std::function<uint32_t()> clock_;
  const std::function<uint32_t()> wall_;
  std::atomic<uint32_t> now_s_{0};
  std::atomic<bool> told_of_failure_{false};
  ItemHints hints_;
};

}  // namespace nvcache::server
