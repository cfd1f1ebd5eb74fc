#include "apps/nvcached/session/session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"

namespace nvcache::server {

std::string_view Session::protocol() const {
  switch (protocol_) {
    case Protocol::kText:
      return "ascii";
    case Protocol::kBinary:
      return "binary";
    case Protocol::kUnknown:
      break;
  }
  return "auto-negotiate";
}

Turn Session::turn(std::string_view in, Output& out) {
  if (in.empty()) return {0, Turn::kMore, 1};
  if (skip_bytes_ > 0) {
    const size_t skipped = std::min<uint64_t>(skip_bytes_, in.size());
    skip_bytes_ -= skipped;
    if (skip_bytes_ == 0) out.append(std::exchange(after_skip_, {}));
    return {skipped, Turn::kGoOn};
  }
  if (protocol_ == Protocol::kUnknown) {
    const bool binary = static_cast<uint8_t>(in[0]) == kBinaryRequest;
    const auto binding = service_.settings().binding;
    const bool locked_out = service_.needs_auth() && !service_.settings().sasl;
    if (binary && (locked_out || binding == Settings::Binding::kText)) return {0, Turn::kClose};
    if (!binary && binding == Settings::Binding::kBinary) return {0, Turn::kClose};
    protocol_ = binary ? Protocol::kBinary : Protocol::kText;
  }
  if (counters_.times_next()) [[unlikely]]
    return timed_turn(in, out);
  return protocol_ == Protocol::kBinary ? binary_turn(in, out) : text_turn(in, out);
}

// From the whole request to its answer. Which kind it was, its counts tell. A request that is not
// there as a whole leaves the next one to be timed.
Turn Session::timed_turn(std::string_view in, Output& out) {
  const uint64_t gets = counters_.get(Count::kCmdGet);
  const uint64_t sets = counters_.get(Count::kCmdSet);
  const uint64_t began_ns = system_clock().now_ns();
  const Turn turn = protocol_ == Protocol::kBinary ? binary_turn(in, out) : text_turn(in, out);
  const uint64_t took_ns = system_clock().now_ns() - began_ns;
  if (turn.next == Turn::kMore) return turn;
  counters_.timed();
  if (counters_.get(Count::kCmdSet) != sets) {
    counters_.latencies(Timed::kSet).add(took_ns);
  } else if (counters_.get(Count::kCmdGet) != gets) {
    counters_.latencies(Timed::kGet).add(took_ns);
  }
  return turn;
}

void Session::note_key(std::string_view key, KeyUse use, bool sampled) {
  if (sampled) {
    counters_.await_next_sample();
    service_.sample_prefix(key, use, counters_);
  }
  if (service_.detail()) service_.count_detail(key, use);
}

Found Session::fetch(std::string_view key) { return counted(key, items_.get(key)); }

Found Session::counted(std::string_view key, Found found) {
  counters_.add(Count::kCmdGet);
  counters_.add(found ? Count::kGetHits : Count::kGetMisses);
  count_key(key, found ? KeyUse::kHit : KeyUse::kMiss);
  if (service_.watch_log().wants(WatchLog::kFetchers)) tell_fetch(key, found);
  return found;
}

// Answers of the same batch may pin zones, all of them in a small store: then nothing could be
// stored.
ItemResult Session::store_counted(std::string_view key, std::string_view value,
                                  const StoreRequest& request, Output& out) {
  if (out.has_pins()) copy_pinned(out);
  tell_lookup(key);
  const ItemResult result = items_.store(key, value, request);
  counters_.add(Count::kCmdSet);
  if (service_.watch_log().wants(WatchLog::kMutations)) {
    tell_store(key, result.status, watched_name(request), request.expires_s, value.size());
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

ItemResult Session::count_counted(std::string_view key, const ArithmeticRequest& request,
                                  Output& out) {
  if (out.has_pins()) copy_pinned(out);
  tell_lookup(key);
  const ItemResult result = items_.arithmetic(key, request);
  if (result.status == ItemStatus::kOk && service_.watch_log().wants(WatchLog::kMutations)) {
    tell_store(key, result.status, request.down ? "decr" : "incr", result.expires_s,
               fmt::formatted_size("{}", result.number));
  }
  const bool miss = result.status == ItemStatus::kNotFound || result.created;
  if (result.status == ItemStatus::kOk || miss) {
    counters_.add(request.down ? (miss ? Count::kDecrMisses : Count::kDecrHits)
                               : (miss ? Count::kIncrMisses : Count::kIncrHits));
  }
  return result;
}

ItemStatus Session::erase_counted(std::string_view key, uint64_t cas) {
  tell_lookup(key);
  const bool watched = service_.watch_log().wants(WatchLog::kDeletions);
  const uint64_t value_bytes = watched ? items_.get(key, false).value.size() : 0;
  const ItemStatus status = items_.erase(key, cas);
  if (watched && status == ItemStatus::kOk) tell_erased(key, value_bytes);
  counters_.add(status == ItemStatus::kOk ? Count::kDeleteHits : Count::kDeleteMisses);
  count_key(key, KeyUse::kDelete);
  return status;
}

void Session::count_too_large(std::string_view key, std::string_view command, uint64_t value_bytes,
                              bool is_set) {
  counters_.add(Count::kStoreTooLarge);
  if (is_set) (void)items_.erase(key);
  if (service_.watch_log().wants(WatchLog::kMutations)) {
    tell_store(key, ItemStatus::kTooLarge, command, 0, value_bytes);
  }
}

void Session::skip(uint64_t bytes, std::string answer) {
  NVCACHE_ASSERT_SLOW(skip_bytes_ == 0);
  skip_bytes_ = bytes;
  after_skip_ = std::move(answer);
}

void Session::log(std::string_view line) const {
  if (service_.verbosity() > 1) print_to(stderr, "<{} {}\n", name_, line);
}

}  // namespace nvcache::server
