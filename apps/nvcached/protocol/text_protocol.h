// Parses lines of memcached's text protocol into requests. Pure: no sockets, no store, no state.
// Error messages are those of memcached 1.6, for clients that compare them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvcache::server {

inline constexpr size_t kMaxLineBytes = 2048;  // except get and gets, which may be longer
inline constexpr uint64_t kMostValueBytes = INT32_MAX - 2;  // that a request can announce
inline constexpr std::string_view kBadFormat = "CLIENT_ERROR bad command line format";

enum class TextOp : uint8_t {
  kUnknown,
  kGet,
  kGets,
  kGat,
  kGats,
  kSet,
  kAdd,
  kReplace,
  kAppend,
  kPrepend,
  kCas,
  kDelete,
  kIncr,
  kDecr,
  kTouch,
  kFlushAll,
  kVersion,
  kVerbosity,
  kStats,
  kQuit,
  kShutdown,
  kRefreshCerts,
  kCachedump,
  kMemoryLimit,
  kTuning,  // slabs, lru, lru_crawler: what memcached takes is accepted, without effect
  kMetadump,
  kWatch,
  kHttp,  // a web browser's request
  kMeta,  // mg ms md ma me mn: meta_protocol.h
};

// Views point into the line. `noreply` silences errors, too, except ERROR.
struct TextRequest {
  TextOp op = TextOp::kUnknown;
  std::string_view error;  // if not empty: answer this and do nothing else
  std::string_view key;
  std::string_view arguments;  // get*: the keys; others: all after the command
  uint32_t flags = 0;
  int64_t exptime = 0;
  uint64_t cas = 0;
  uint64_t delta = 0;  // incr, decr; verbosity; cache_memlimit
  uint64_t value_bytes = 0;
  bool has_value = false;  // value_bytes and "\r\n" follow the line, also after an error
  bool noreply = false;
};

// A complete line without its end, and the bytes it takes up with it.
struct Line {
  std::string_view text;
  size_t used;
};
// None before the newline has arrived. The first `scanned` bytes are known to hold no newline.
std::optional<Line> find_line(std::string_view in, size_t scanned = 0);

TextRequest parse_text_line(std::string_view line);

}  // namespace nvcache::server
