// One client, as all protocols see it: whether it may ask, and the operations that each protocol
// has, with what belongs to them: counters, samples, and lines for watchers. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/nvcached/service/service.h"
#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/turn.h"
#include "apps/nvcached/session/watch_lines.h"

namespace nvcache::server {

class Client {
 public:
  // `name` identifies the client in the log. `service` and `counters` must outlive it.
  Client(Service& service, Counters& counters, int name)
      : service_(service),
        items_(service.items()),
        counters_(counters),
        watch_lines_(items_, service.watch_log(), name),
        name_(name) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Service& service() const { return service_; }
  const Settings& settings() const { return service_.settings(); }
  Items& items() const { return items_; }
  Counters& counters() const { return counters_; }

  // True until it has given the password that it needs.
  bool must_authenticate() const { return service_.needs_auth() && !authenticated_; }
  // Counts an attempt. One that is not `well_formed` fails whatever the password is.
  bool authenticate(bool well_formed, std::string_view user, std::string_view password);

  // Lookups. fetch_or_stale(): see Items::get_or_stale().
  Found fetch(std::string_view key) { return counted(key, items_.get(key)); }
  Found fetch_or_stale(std::string_view key, bool counts) {
    return counted(key, items_.get_or_stale(key, counts));
  }
  // Both copy what answers in `out` pin: these may pin zones, all of them in a small store, and
  // then nothing could be stored.
  ItemResult store(std::string_view key, std::string_view value, const StoreRequest& request,
                   Output& out);
  ItemResult arithmetic(std::string_view key, const ArithmeticRequest& request, Output& out);
  ItemStatus erase(std::string_view key, uint64_t cas);
  // Of a touch that a protocol made.
  void count_touch(bool touched) {
    counters_.add(Count::kCmdTouch);
    counters_.add(touched ? Count::kTouchHits : Count::kTouchMisses);
  }
  // Counts a value that was not even received. `is_set`: erases the older one, which must not be
  // read any more.
  void count_too_large(std::string_view key, std::string_view command, uint64_t value_bytes,
                       bool is_set);

  // Copies the values that answers pin, and counts their bytes.
  void copy_pinned(Output& out) { counters_.add(Count::kCopiedBytes, out.copy_pinned()); }

  // Skips the next bytes, and then answers: a client that sends a whole request first must not
  // find the answer of an earlier one.
  void skip(uint64_t bytes, std::string answer);
  bool skips() const { return skip_bytes_ > 0; }
  // The turn of a client that skips.
  Turn skip_turn(std::string_view in, Output& out);

  // Writes a request to the log of a server that is verbose.
  void log(std::string_view line) const;

 private:
  Found counted(std::string_view key, Found found);
  // Inline, and what is rare is not: it costs a key five instructions.
  void count_key(std::string_view key, KeyUse use) {
    const bool sampled = counters_.is_sample();
    if (sampled || service_.detail()) [[unlikely]]
      note_key(key, use, sampled);
  }
  void note_key(std::string_view key, KeyUse use, bool sampled);

  Service& service_;
  Items& items_;
  Counters& counters_;
  WatchLines watch_lines_;
  const int name_;
  bool authenticated_ = false;
  uint64_t skip_bytes_ = 0;
  std::string after_skip_;  // the answer once they are skipped
};

}  // namespace nvcache::server
