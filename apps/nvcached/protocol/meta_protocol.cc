#include "apps/nvcached/protocol/meta_protocol.h"

#include <algorithm>
#include <iterator>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/protocol/words.h"

namespace nvcache::server {
namespace {

constexpr size_t kMostOpaqueFlagBytes = 32;  // with its letter
constexpr size_t kMostFlags = 17;            // for ms, whose line has one word more: 16
constexpr std::string_view kBadToken = "CLIENT_ERROR bad token in command line format";
constexpr std::string_view kInvalidFlag = "CLIENT_ERROR invalid flag";
constexpr std::string_view kDuplicateFlag = "CLIENT_ERROR duplicate flag";

using Taken = std::string_view;  // an error, or empty

Taken unless(bool good, std::string_view error) { return good ? Taken() : error; }

Taken take_nothing(MetaRequest&, std::string_view) { return {}; }

template <bool MetaRequest::*kMark>
Taken take_mark(MetaRequest& request, std::string_view) {
  request.*kMark = true;
  return {};
}

template <bool MetaRequest::*kMark, int64_t MetaRequest::*kSeconds>
Taken take_time(MetaRequest& request, std::string_view token) {
  request.*kMark = true;
  return unless(parse_i64(token, request.*kSeconds), kBadToken);
}

Taken take_base64(MetaRequest& request, std::string_view) {
  request.base64 = true;
  std::string decoded;
  return unless(decode_key(request.key_as_sent, decoded).good(), "CLIENT_ERROR error decoding key");
}

Taken take_cas(MetaRequest& request, std::string_view token) {
  request.has_cas = true;
  return unless(parse_u64(token, request.cas), kBadToken);
}

Taken take_client_flags(MetaRequest& request, std::string_view token) {
  return unless(parse_u32(token, request.client_flags), kBadFormat);
}

Taken take_initial(MetaRequest& request, std::string_view token) {
  return unless(parse_u64(token, request.initial), "CLIENT_ERROR invalid numeric initial value");
}

Taken take_delta(MetaRequest& request, std::string_view token) {
  return unless(parse_u64(token, request.delta), "CLIENT_ERROR invalid numeric delta value");
}

Taken take_mode(MetaRequest& request, std::string_view token) {
  if (token.size() != 1) return "CLIENT_ERROR incorrect length for M token";
  request.mode = token[0];
  return {};
}

// The flags that there are, for all commands alike, as in memcached: each command takes all of
// them, and ignores those that it has no use for.
struct KnownFlag {
  char name;
  Taken (*take)(MetaRequest& request, std::string_view token);
};
constexpr KnownFlag kKnownFlags[] = {
    {'v', take_mark<&MetaRequest::wants_value>},
    {'k', take_nothing},
    {'O', take_nothing},
    {'q', take_mark<&MetaRequest::quiet>},
    {'T', take_time<&MetaRequest::has_exptime, &MetaRequest::exptime>},
    {'c', take_nothing},
    {'f', take_nothing},
    {'s', take_nothing},
    {'t', take_nothing},
    {'C', take_cas},
    {'F', take_client_flags},
    {'I', take_mark<&MetaRequest::invalidate>},
    {'M', take_mode},
    {'N', take_time<&MetaRequest::vivify, &MetaRequest::vivify_exptime>},
    {'R', take_time<&MetaRequest::recache, &MetaRequest::recache_s>},
    {'D', take_delta},
    {'J', take_initial},
    {'b', take_base64},
    {'h', take_nothing},
    {'l', take_nothing},
    {'u', take_mark<&MetaRequest::no_bump>},
    {'L', take_nothing},  // P and L are for proxies
    {'P', take_nothing},
    {'S', take_nothing},  // the value's size, of the commands' first draft
};
static_assert(std::size(kKnownFlags) <= MetaRequest::kMaxFlags);

size_t words_in(std::string_view text) {
  size_t words = 0;
  while (!next_word(text).empty()) ++words;
  return words;
}

// Of several faults the last one is told, as memcached does; a flag that is unknown or there twice
// ends the search.
std::string_view parse_flags(MetaRequest& request, std::string_view rest) {
  std::string_view error;
  uint32_t seen = 0;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const MetaFlag flag{word[0], word.substr(1)};
    if (static_cast<unsigned char>(flag.name) >= 127) return kDuplicateFlag;
    const auto* row = std::find_if(std::begin(kKnownFlags), std::end(kKnownFlags),
                                   [&](const KnownFlag& known) { return known.name == flag.name; });
    if (row == std::end(kKnownFlags)) return kInvalidFlag;
    const uint32_t bit = uint32_t{1} << (row - std::begin(kKnownFlags));
    if ((seen & bit) != 0) return kDuplicateFlag;
    seen |= bit;
    request.flags[request.flag_count++] = flag;
    if (const Taken fault = row->take(request, flag.token); !fault.empty()) error = fault;
  }
  return error;
}

// A mode that the command has, in its canonical form; in lower case, too.
std::string_view check_mode(MetaRequest& request) {
  if (request.mode == 0) return {};
  const bool arithmetic = request.op == MetaOp::kArithmetic;
  const std::string_view known = arithmetic ? "IiDd+-" : "EeAaPpRrSs";
  if (known.find(request.mode) == std::string_view::npos) {
    return arithmetic ? "CLIENT_ERROR invalid mode for ma M token"
                      : "CLIENT_ERROR invalid mode for ms M token";
  }
  request.mode = request.mode == '+'   ? 'I'
                 : request.mode == '-' ? 'D'
                                       : static_cast<char>(request.mode & ~0x20);
  return {};
}

// Checks the flags of a command once all of them are read.
std::string_view check_flags(MetaRequest& request) {
  if (request.op == MetaOp::kSet || request.op == MetaOp::kArithmetic) {
    if (const std::string_view error = check_mode(request); !error.empty()) return error;
  }
  for (const MetaFlag& flag : request.all_flags()) {
    if (flag.name == 'O' && 1 + flag.token.size() > kMostOpaqueFlagBytes) {
      return "CLIENT_ERROR opaque token too long";
    }
  }
  return {};
}

std::string_view parse_and_check_flags(MetaRequest& request, std::string_view rest) {
  if (request.op == MetaOp::kDebug) {
    // It has one flag, in one place, and reads nothing else.
    if (next_word(rest) == "b" && !take_base64(request, {}).empty()) return kBadFormat;
    return {};
  }
  const size_t most = request.op == MetaOp::kSet ? kMostFlags - 1 : kMostFlags;
  if (rest.size() > 2 * most && words_in(rest) > most) {
    return request.op == MetaOp::kGet ? "CLIENT_ERROR options flags are too long"
                                      : "CLIENT_ERROR options flags too long";
  }
  if (const std::string_view error = parse_flags(request, rest); !error.empty()) {
    const bool terse = request.op == MetaOp::kDelete || request.op == MetaOp::kArithmetic;
    return terse ? "CLIENT_ERROR invalid or duplicate flag" : error;
  }
  return check_flags(request);
}

}  // namespace

MetaRequest parse_meta_line(std::string_view line) {
  MetaRequest request;
  std::string_view rest = line;
  const std::string_view command = next_word(rest);
  switch (command.size() == 2 ? command[1] : 0) {
    case 'g':
      request.op = MetaOp::kGet;
      break;
    case 's':
      request.op = MetaOp::kSet;
      break;
    case 'd':
      request.op = MetaOp::kDelete;
      break;
    case 'a':
      request.op = MetaOp::kArithmetic;
      break;
    case 'e':
      request.op = MetaOp::kDebug;
      break;
    default:
      return request;
  }
  const Key key = next_key(rest);
  request.key_as_sent = key.bytes;
  // As in text: where the length can be read, the value follows.
  if (request.op == MetaOp::kSet) {
    request.has_value = parse_length(next_word(rest), request.value_bytes);
  }
  if (!key.good()) {
    const bool terse = key.fault == KeyFault::kMissing && request.op != MetaOp::kDebug;
    request.error = terse ? "ERROR" : kBadFormat;
    return request;
  }
  if (request.op == MetaOp::kSet && (!request.has_value || request.value_bytes > kMostValueBytes)) {
    request.error = kBadFormat;
    return request;
  }
  request.error = parse_and_check_flags(request, rest);
  return request;
}

Key key_of(const MetaRequest& request, std::string& storage) {
  if (request.base64) return decode_key(request.key_as_sent, storage);
  return {request.key_as_sent, fault_of_key(request.key_as_sent.size())};
}

}  // namespace nvcache::server
