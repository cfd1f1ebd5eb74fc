// One client's conversation: received bytes in, answers out. A session knows no sockets: the owner
// of the bytes calls turn() until it wants more of them. It serves requests in place, in the
// receive buffer, and keeps nothing of a partial request except what must be skipped.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apps/nvcached/protocol/binary_protocol.h"
#include "apps/nvcached/protocol/meta_protocol.h"
#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/protocol/words.h"
#include "apps/nvcached/service/service.h"
#include "apps/nvcached/service/watch_log.h"
#include "apps/nvcached/session/output.h"

namespace nvcache::server {

struct Turn {
  enum Next : uint8_t {
    kGoOn,   // call again with the bytes after `used`
    kMore,   // nothing to do until more bytes arrive
    kWatch,  // send from now on what watcher() takes, and ignore what arrives
    kFull,   // too much output is pending: send it, then call again
    kQuit,   // the client is done: send what is pending, then close
    kClose,  // the same after a request that cannot be served
  };
  size_t used = 0;  // bytes at the front that are served
  Next next = kGoOn;
  size_t want = 0;  // kMore: the least length of the whole request at the front
};

class Session {
 public:
  // A turn ends when so much output is pending, even within a get of many keys.
  static constexpr size_t kFullOutputBytes = 256 << 10;

  // `name` identifies the client in the log.
  Session(Service& service, Counters& counters, int name = 0)
      : service_(service), items_(service.items()), counters_(counters), name_(name) {}

  // Serves at most one request. `in` starts where the last turn's `used` ended.
  Turn turn(std::string_view in, Output& out);

  // Copies the values that answers pin, and counts their bytes.
  void copy_pinned(Output& out) { counters_.add(Count::kCopiedBytes, out.copy_pinned()); }

  std::string_view protocol() const;
  // After kWatch; else null.
  WatchLog::Watcher* watcher() { return watcher_.get(); }

 private:
  enum class Protocol : uint8_t { kUnknown, kText, kBinary };
  struct MultiGet {
    bool active = false;
    bool broken = false;  // answered with an error; skips to the end of the line
    TextOp op = TextOp::kGet;
    uint32_t expires_s = 0;
  };

  struct Dump {
    bool active = false;
    uint64_t cursor = 0;  // of Items::visit()
    uint64_t left = 0;    // items that may follow; 0: any number
  };

  // key_dump.cc
  Turn dump_turn(const TextRequest& request, size_t line_bytes, Output& out);
  void append_metadump(std::string_view key, const ItemSummary& item, Output& out);

  // text_session.cc
  Turn text_turn(std::string_view in, Output& out);
  Turn long_line(std::string_view in);
  Turn streamed_get(std::string_view in, Output& out);
  bool get_keys(std::string_view& keys, Output& out);
  void get_key(std::string_view key, Output& out);
  Turn storage(const TextRequest& request, size_t line_bytes, std::string_view in, Output& out);
  void store_text(const TextRequest& request, std::string_view value, Output& out);
  void command(const TextRequest& request, Output& out);
  void erase_text(const TextRequest& request, Output& out);
  void count_text(const TextRequest& request, Output& out);
  void touch_text(const TextRequest& request, Output& out);
  void stats_text(std::string_view arguments, Output& out);
  Turn authenticate(const TextRequest& request, size_t line_bytes, std::string_view in,
                    Output& out);

  // meta_session.cc
  Turn meta_turn(std::string_view line, size_t line_bytes, std::string_view in, Output& out);
  void meta_get(const MetaRequest& request, std::string_view key, Output& out);
  void append_found(const MetaRequest& request, const MetaFlag& flag, const Found& found,
                    const ItemHints::Hint& before, uint32_t expires_s, Output& out) const;
  void meta_set(const MetaRequest& request, std::string_view key, std::string_view value,
                Output& out);
  void meta_delete(const MetaRequest& request, std::string_view key, Output& out);
  void meta_arithmetic(const MetaRequest& request, std::string_view key, Output& out);
  void meta_debug(const MetaRequest& request, std::string_view key, Output& out);

  // binary_session.cc
  Turn binary_turn(std::string_view in, Output& out);
  Turn refuse_too_large(const BinaryHeader& header, std::string_view in);
  Turn binary_serve(const BinaryHeader& header, std::string_view body, Output& out);
  bool may_ask(BinaryOp op) const;
  void binary_authenticate(const BinaryHeader& header, std::string_view mechanism,
                           std::string_view message, Output& out);
  void binary_get(const BinaryHeader& header, std::string_view extras, std::string_view key,
                  Output& out);
  void binary_store(const BinaryHeader& header, std::string_view extras, std::string_view key,
                    std::string_view value, Output& out);
  void binary_erase(const BinaryHeader& header, std::string_view key, Output& out);
  void binary_count(const BinaryHeader& header, std::string_view extras, std::string_view key,
                    Output& out);
  void binary_stats(const BinaryHeader& header, std::string_view group, Output& out);

  // watch_lines.cc
  Turn watch_turn(std::string_view words, size_t line_bytes, Output& out);
  void tell_lookup(std::string_view key);
  void tell_fetch(std::string_view key, const Found& found);
  void tell_store(std::string_view key, ItemStatus status, std::string_view command,
                  uint32_t expires_s, uint64_t value_bytes);
  void tell_erased(std::string_view key, uint64_t value_bytes);

  // All protocols.
  Turn timed_turn(std::string_view in, Output& out);
  // Inline, and what is rare is not: it costs a key five instructions.
  void count_key(std::string_view key, KeyUse use) {
    const bool sampled = counters_.is_sample();
    if (sampled || service_.detail()) [[unlikely]]
      note_key(key, use, sampled);
  }
  void note_key(std::string_view key, KeyUse use, bool sampled);
  Found fetch(std::string_view key);
  Found counted(std::string_view key, Found found);
  ItemResult store_counted(std::string_view key, std::string_view value,
                           const StoreRequest& request, Output& out);
  ItemResult count_counted(std::string_view key, const ArithmeticRequest& request, Output& out);
  ItemStatus erase_counted(std::string_view key, uint64_t cas);
  // Counts a value that was not even received. `is_set`: erases the older one, which must not be
  // read any more.
  void count_too_large(std::string_view key, std::string_view command, uint64_t value_bytes,
                       bool is_set);
  // Skips the next bytes, and then answers: a client that sends a whole request first must not
  // find the answer of an earlier one.
  void skip(uint64_t bytes, std::string answer);
  void log(std::string_view line) const;

  Service& service_;
  Items& items_;
  Counters& counters_;
  const int name_;
  Protocol protocol_ = Protocol::kUnknown;
  bool authenticated_ = false;
  uint64_t skip_bytes_ = 0;
  std::string after_skip_;  // the answer once they are skipped
  size_t scanned_ = 0;
  MultiGet multi_get_;
  Dump dump_;
  std::unique_ptr<WatchLog::Watcher> watcher_;
};

// What watchers call a request.
std::string_view watched_name(const StoreRequest& request);

}  // namespace nvcache::server
