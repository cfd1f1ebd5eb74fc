#include "apps/nvcached/session/client.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/assert.h"
#include "base/print.h"
#include "base/text.h"

namespace nvcache::server {

bool Client::authenticate(bool well_formed, std::string_view user, std::string_view password) {
  counters_.add(Count::kAuthCmds);
  authenticated_ = well_formed && service_.authenticate(user, password);
  if (!authenticated_) counters_.add(Count::kAuthErrors);
  return authenticated_;
}

void Client::note_key(std::string_view key, KeyUse use, bool sampled) {
  if (sampled) {
    counters_.await_next_sample();
    service_.sample_prefix(key, use, counters_);
  }
  if (service_.detail()) service_.count_detail(key, use);
}

Found Client::counted(std::string_view key, Found found) {
  counters_.add(Count::kCmdGet);
  counters_.add(found ? Count::kGetHits : Count::kGetMisses);
  count_key(key, found ? KeyUse::kHit : KeyUse::kMiss);
  if (watch_lines_.wants(WatchLog::kFetchers)) watch_lines_.tell_fetch(key, found);
  return found;
}

ItemResult Client::store(std::string_view key, std::string_view value, const StoreRequest& request,
                         Output& out) {
  if (out.has_pins()) copy_pinned(out);
  watch_lines_.tell_lookup(key);
  const ItemResult result = items_.store(key, value, request);
  counters_.add(Count::kCmdSet);
  if (watch_lines_.wants(WatchLog::kMutations)) {
    watch_lines_.tell_store(key, result.status, watched_name(request), request.expires_s,
                            value.size());
  }
  count_key(key, KeyUse::kSet);
  if (request.compare) {
    counters_.add(result.status == ItemStatus::kNotFound ? Count::kCasMisses
                  : result.status == ItemStatus::kExists ? Count::kCasBadval
                                                         : Count::kCasHits);
  }
  if (result.status == ItemStatus::kTooLarge) counters_.add(Count::kStoreTooLarge);
  if (result.status == ItemStatus::kNoMemory) counters_.add(Count::kStoreNoMemory);
  return result;
}

ItemResult Client::arithmetic(std::string_view key, const ArithmeticRequest& request, Output& out) {
  if (out.has_pins()) copy_pinned(out);
  watch_lines_.tell_lookup(key);
  const ItemResult result = items_.arithmetic(key, request);
  if (result.status == ItemStatus::kOk && watch_lines_.wants(WatchLog::kMutations)) {
    watch_lines_.tell_store(key, result.status, request.down ? "decr" : "incr", result.expires_s,
                            fmt::formatted_size("{}", result.number));
  }
  const bool miss = result.status == ItemStatus::kNotFound || result.created;
  if (result.status == ItemStatus::kOk || miss) {
    counters_.add(request.down ? (miss ? Count::kDecrMisses : Count::kDecrHits)
                               : (miss ? Count::kIncrMisses : Count::kIncrHits));
  }
  return result;
}

ItemStatus Client::erase(std::string_view key, uint64_t cas) {
  watch_lines_.tell_lookup(key);
  const bool watched = watch_lines_.wants(WatchLog::kDeletions);
  const uint64_t value_bytes = watched ? items_.get(key, false).value.size() : 0;
  const ItemStatus status = items_.erase(key, cas);
  if (watched && status == ItemStatus::kOk) watch_lines_.tell_erased(key, value_bytes);
  counters_.add(status == ItemStatus::kOk ? Count::kDeleteHits : Count::kDeleteMisses);
  count_key(key, KeyUse::kDelete);
  return status;
}

void Client::count_too_large(std::string_view key, std::string_view command, uint64_t value_bytes,
                             bool is_set) {
  counters_.add(Count::kStoreTooLarge);
  if (is_set) (void)items_.erase(key);
  if (watch_lines_.wants(WatchLog::kMutations)) {
    watch_lines_.tell_store(key, ItemStatus::kTooLarge, command, 0, value_bytes);
  }
}

void Client::skip(uint64_t bytes, std::string answer) {
  NVCACHE_ASSERT_SLOW(skip_bytes_ == 0);
  skip_bytes_ = bytes;
  after_skip_ = std::move(answer);
}

Turn Client::skip_turn(std::string_view in, Output& out) {
  const size_t skipped = std::min<uint64_t>(skip_bytes_, in.size());
  skip_bytes_ -= skipped;
  if (skip_bytes_ == 0) out.append(std::exchange(after_skip_, {}));
  return {skipped, Turn::kGoOn};
}

void Client::log(std::string_view line) const {
  if (service_.verbosity() > 1) print_to(stderr, "<{} {}\n", name_, line);
}

}  // namespace nvcache::server
