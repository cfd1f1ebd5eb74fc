#include "apps/nvcached/service/items.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "apps/nvcached/protocol/words.h"
#include "base/assert.h"
#include "base/print.h"

namespace nvcache::server {
namespace {

constexpr int64_t kRelativeUpToS = int64_t{60} * 60 * 24 * 30;
constexpr uint32_t kLongAgoS = 1;
constexpr char kStale = 1;
constexpr size_t kMarkBytes = 1;

ItemStatus status_of(KvOutcome outcome) {
  switch (outcome) {
    case KvOutcome::kDone:
      return ItemStatus::kOk;
    case KvOutcome::kNotFound:
      return ItemStatus::kNotFound;
    case KvOutcome::kExists:
      return ItemStatus::kExists;
    case KvOutcome::kTooLarge:
      return ItemStatus::kTooLarge;
    case KvOutcome::kNoSpace:
      return ItemStatus::kNoMemory;
    case KvOutcome::kMediumFailed:
      return ItemStatus::kMediumFailed;
  }
  return ItemStatus::kNoMemory;
}

ItemResult result_of(const KvResult& result) { return {status_of(result.outcome), result.cas}; }

// A number as memcached finds it in a value: blanks may stand before it, and anything behind it
// that begins with a blank.
bool parse_counter(std::string_view text, uint64_t& number) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return parse_u64(text.substr(0, text.find_first_of(kBlanks)), number);
}

}  // namespace

Items::Items(KvStore& store, uint64_t max_item_bytes, std::function<uint32_t()> now_s,
             std::function<uint32_t()> wall_s, unsigned hint_bits)
    : store_(store),
      max_item_bytes_(max_item_bytes),
      clock_(std::move(now_s)),
      wall_(std::move(wall_s)),
      hints_(hint_bits) {
  tick();
}

uint64_t Items::client_bytes(uint64_t value_bytes) {
  return value_bytes < kMarkBytes ? 0 : value_bytes - kMarkBytes;
}

uint32_t Items::due_s(int64_t exptime) const {
  if (exptime == 0) return 0;
  if (exptime < 0) return kLongAgoS;
  if (exptime <= kRelativeUpToS) return clock_() + static_cast<uint32_t>(exptime);
  const int64_t left_s = exptime - wall_();
  return left_s <= 0
             ? kLongAgoS
             : clock_() + static_cast<uint32_t>(std::min<int64_t>(left_s, UINT32_MAX - clock_()));
}

uint32_t Items::expiry(int64_t exptime) const {
  return due_s(exptime) + (exptime > 0 && exptime <= kRelativeUpToS ? 1 : 0);
}

// Says once on standard error what every answer says from now on.
void Items::note(KvOutcome outcome) {
  if (outcome != KvOutcome::kMediumFailed || told_of_failure_.exchange(true)) return;
  print_to(stderr,
           "nvcached: the medium failed: changes are refused until a restart, lookups go on\n");
}

Found Items::get(std::string_view key, bool counts) {
  Found found = get_or_stale(key, counts);
  return found.item.outdated ? Found() : std::move(found);
}

Found Items::get_or_stale(std::string_view key, bool counts) {
  Found found;
  if (counts) hints_.prefetch(key);
  found.item = store_.get(key);
  if (!found.item) return found;
  const ByteView bytes = found.item.value();
  // Every value has its marks. A value without them was written by another program.
  const size_t size = client_bytes(bytes.size());
  found.value = {reinterpret_cast<const char*>(bytes.data()), size};
  found.stale = found.item.outdated ||
                (size < bytes.size() && (static_cast<char>(bytes[size]) & kStale) != 0);
  if (counts) hints_.fetched(key, now_s());
  return found;
}

uint64_t Items::visit(
    uint64_t cursor, const std::function<void(std::string_view key, const ItemSummary&)>& visitor) {
  return store_.visit(cursor, [&](std::string_view key, const KvItem& item) {
    if (item.outdated) return;
    visitor(key, {.value_bytes = client_bytes(item.value().size()),
                  .expires_s = item.meta.expires_s,
                  .cas = item.meta.cas});
  });
}

KvResult Items::put(std::string_view key, std::string_view value, uint32_t flags,
                    uint32_t expires_s, KvCondition condition, bool stale, ItemHints::Kept kept) {
  hints_.prefetch(key);
  KvMeta meta;
  meta.flags = flags;
  meta.expires_s = expires_s;
  meta.marks = static_cast<uint8_t>(stale ? kStale : 0);
  const KvResult result = store_.put(key, std::as_bytes(std::span(value)), meta, condition);
  note(result.outcome);
  if (result.outcome == KvOutcome::kDone) hints_.stored(key, now_s(), kept);
  return result;
}

ItemResult Items::store(std::string_view key, std::string_view value, const StoreRequest& request) {
  if (request.mode == StoreMode::kAppend || request.mode == StoreMode::kPrepend) {
    return concatenate(key, value, request);
  }
  if (request.compare && request.mode != StoreMode::kAdd) {
    return store_compared(key, value, request);
  }
  KvCondition condition;
  if (request.mode == StoreMode::kAdd) condition.kind = KvCondition::kIfAbsent;
  if (request.mode == StoreMode::kReplace) condition.kind = KvCondition::kIfPresent;
  ItemResult result = result_of(put(key, value, request.flags, request.expires_s, condition));
  if (result.status == ItemStatus::kExists || result.status == ItemStatus::kNotFound) {
    result.status = ItemStatus::kNotStored;
  }
  // If the value cannot be stored, the older one must not be read any more.
  if (request.mode == StoreMode::kSet && result.status != ItemStatus::kOk) {
    (void)store_.erase(key);
  }
  return result;
}

ItemResult Items::store_compared(std::string_view key, std::string_view value,
                                 const StoreRequest& request) {
  const KvResult first =
      put(key, value, request.flags, request.expires_s, {KvCondition::kIfCas, request.cas});
  const bool may_be_older = request.invalidate && request.cas != 0;
  if (first.outcome != KvOutcome::kExists || !may_be_older) return result_of(first);
  for (;;) {
    const KvMeta current = [&] {
      const KvItem item = store_.get(key);
      return item ? item.meta : KvMeta();
    }();
    if (current.cas == 0) return {ItemStatus::kNotFound};
    if (request.cas >= current.cas) return {ItemStatus::kExists};
    // A stale value expires when the one that it replaces would have.
    const KvResult stale =
        put(key, value, request.flags, current.expires_s, {KvCondition::kIfCas, current.cas},
            /*stale=*/true, ItemHints::kKeptWon);
    if (stale.outcome != KvOutcome::kExists) return result_of(stale);
  }
}

ItemResult Items::concatenate(std::string_view key, std::string_view value,
                              const StoreRequest& request) {
  std::string whole;
  for (;;) {
    Found old = get(key, false);
    if (!old) return {ItemStatus::kNotStored};
    const KvMeta meta = old.item.meta;
    if (request.compare && request.cas != meta.cas) return {ItemStatus::kExists};
    // As memcached answers it, whose clients take it for "not appended", not for a failure.
    if (!fits(key.size(), old.value.size() + value.size())) return {ItemStatus::kNotStored};
    const bool behind = request.mode == StoreMode::kAppend;
    whole.assign(behind ? old.value : value).append(behind ? value : old.value);
    old = Found();  // the store may need its zone for the new value
    // As in memcached, a new value, which is not stale if the old one was.
    const KvResult result =
        put(key, whole, meta.flags, meta.expires_s, {KvCondition::kIfCas, meta.cas});
    if (result.outcome != KvOutcome::kExists && result.outcome != KvOutcome::kNotFound) {
      return result_of(result);
    }
  }
}

ItemResult Items::arithmetic(std::string_view key, const ArithmeticRequest& request) {
  char digits[24];
  for (;;) {
    Found old = get(key, false);
    ItemResult result;
    KvCondition condition{KvCondition::kIfAbsent, 0};
    uint32_t flags = 0;
    bool stale = false;
    if (!old) {
      if (!request.create) return {ItemStatus::kNotFound};
      result.number = request.initial;
      result.expires_s = request.create_expires_s;
      result.created = true;
    } else {
      const KvMeta& meta = old.item.meta;
      if (old.value.empty()) return {ItemStatus::kNotNumeric};
      if (request.compare && request.cas != meta.cas) return {ItemStatus::kExists};
      if (!parse_counter(old.value, result.number)) return {ItemStatus::kNotNumeric};
      result.number = request.down ? result.number - std::min(result.number, request.delta)
                                   : result.number + request.delta;
      result.expires_s = request.set_expiry ? request.expires_s : meta.expires_s;
      result.old_expires_s = meta.expires_s;
      stale = old.stale;
      flags = meta.flags;
      condition = {KvCondition::kIfCas, meta.cas};
    }
    old = Found();
    const auto end = std::to_chars(digits, digits + 20, result.number);
    NVCACHE_ASSERT_SLOW(end.ec == std::errc());
    const std::string_view value(digits, static_cast<size_t>(end.ptr - digits));
    const ItemHints::Kept kept = result.created ? ItemHints::kNothing : ItemHints::kAll;
    const KvResult put_result = put(key, value, flags, result.expires_s, condition, stale, kept);
    if (put_result.outcome == KvOutcome::kExists || put_result.outcome == KvOutcome::kNotFound) {
      continue;  // another client was faster
    }
    result.status = status_of(put_result.outcome);
    result.cas = put_result.cas;
    return result;
  }
}

ItemStatus Items::erase(std::string_view key, uint64_t cas) {
  const KvOutcome outcome = store_.erase(key, cas).outcome;
  note(outcome);
  return status_of(outcome);
}

ItemStatus Items::touch(std::string_view key, uint32_t expires_s, bool counts) {
  const KvOutcome outcome = store_.touch(key, expires_s);
  note(outcome);
  if (counts && outcome == KvOutcome::kDone) hints_.fetched(key, now_s());
  return status_of(outcome);
}

ItemResult Items::invalidate(std::string_view key, bool compare, uint64_t cas, bool set_expiry,
                             uint32_t expires_s) {
  std::string value;
  for (;;) {
    Found old = get(key, false);
    if (!old) return {ItemStatus::kNotFound};
    const KvMeta meta = old.item.meta;
    if (compare && cas != meta.cas) return {ItemStatus::kExists};
    value.assign(old.value);
    old = Found();
    // A new round: one client will win the right to make the value anew.
    const KvResult result =
        put(key, value, meta.flags, set_expiry ? expires_s : meta.expires_s,
            {KvCondition::kIfCas, meta.cas}, /*stale=*/true, ItemHints::kKeptFetched);
    if (result.outcome != KvOutcome::kExists && result.outcome != KvOutcome::kNotFound) {
      return result_of(result);
    }
  }
}

}  // namespace nvcache::server
