#include "apps/nvcached/session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/print.h"

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

Turn Session::turn(Received in, Output& out) {
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
  return protocol_ == Protocol::kBinary ? binary_turn(in, out) : text_turn(in, out);
}

Found Session::fetch(std::string_view key, bool counts) {
  Found found = items_.get(key, counts);
  counters_.add(Count::kCmdGet);
  counters_.add(found ? Count::kGetHits : Count::kGetMisses);
  if (service_.detail()) {
    service_.count_detail(key, found ? Service::Detail::kGetHit : Service::Detail::kGetMiss);
  }
  return found;
}

// Answers of the same batch may pin zones, all of them in a small store: then nothing could be
// stored.
ItemResult Session::store_counted(std::string_view key, Received value, const StoreRequest& request,
                                  Output& out) {
  if (out.has_pins()) out.copy_pinned();
  const ItemResult result = items_.store(key, value, request);
  counters_.add(Count::kCmdSet);
  if (service_.detail()) service_.count_detail(key, Service::Detail::kSet);
  if (request.compare) {
    counters_.add(result.status == ItemStatus::kNotFound ? Count::kCasMisses
                  : result.status == ItemStatus::kExists ? Count::kCasBadval
                                                         : Count::kCasHits);
  }
  if (result.status == ItemStatus::kTooLarge) counters_.add(Count::kStoreTooLarge);
  if (result.status == ItemStatus::kNoMemory) counters_.add(Count::kStoreNoMemory);
  return result;
}

ItemResult Session::count_counted(std::string_view key, const ArithmeticRequest& request) {
  const ItemResult result = items_.arithmetic(key, request);
  const bool miss = result.status == ItemStatus::kNotFound || result.created;
  if (result.status == ItemStatus::kOk || miss) {
    counters_.add(request.down ? (miss ? Count::kDecrMisses : Count::kDecrHits)
                               : (miss ? Count::kIncrMisses : Count::kIncrHits));
  }
  return result;
}

ItemStatus Session::erase_counted(std::string_view key, uint64_t cas) {
  const ItemStatus status = items_.erase(key, cas);
  counters_.add(status == ItemStatus::kOk ? Count::kDeleteHits : Count::kDeleteMisses);
  if (service_.detail()) service_.count_detail(key, Service::Detail::kDelete);
  return status;
}

void Session::skip(uint64_t bytes, std::string answer) {
  skip_bytes_ = bytes;
  after_skip_ = std::move(answer);
}

void Session::log(std::string_view line) const {
  if (service_.verbosity() > 1) print_to(stderr, "<{} {}\n", name_, line);
}

}  // namespace nvcache::server
