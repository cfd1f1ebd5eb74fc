// Parses lines of memcached's meta commands (mg ms md ma me mn) into requests. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/nvcached/protocol/key_parser.h"

namespace nvcache::server {

enum class MetaOp : uint8_t { kGet, kSet, kDelete, kArithmetic, kDebug, kNoop };

struct MetaFlag {
  char name;
  std::string_view token;  // what follows the letter
};

// Views point into the line. A refused line has `error`. A refused ms also has `value_bytes` if
// they could be parsed: the caller must skip them.
struct MetaRequest {
  static constexpr size_t kMaxFlags = 26;

  MetaOp op = MetaOp::kNoop;
  std::string_view error;
  std::string_view key_as_sent;  // of a good length
  bool base64 = false;
  uint64_t value_bytes = 0;
  bool has_value = false;

  bool quiet = false;        // q
  bool has_cas = false;      // C
  bool invalidate = false;   // I
  bool no_bump = false;      // u
  bool wants_value = false;  // v
  bool has_exptime = false;  // T
  bool vivify = false;       // N
  bool recache = false;      // R
  uint64_t cas = 0;
  uint32_t client_flags = 0;  // F
  int64_t exptime = 0;
  int64_t vivify_exptime = 0;
  int64_t recache_s = 0;
  uint64_t initial = 0;  // J
  uint64_t delta = 1;    // D
  char mode = 0;         // M; of ms and ma: in upper case, + as I and - as D

  // All flags in the order in which they were sent, which is the order of the answer.
  std::array<MetaFlag, kMaxFlags> flags;
  size_t flag_count = 0;
  std::span<const MetaFlag> all_flags() const { return {flags.data(), flag_count}; }
};

// Flags that the command has no use for are read, and ignored, as memcached does.
MetaRequest parse_meta_line(std::string_view line);

// The key that a request means: as sent, or decoded from base64 into `storage`.
Key key_of(const MetaRequest& request, std::string& storage);

}  // namespace nvcache::server
