#include "apps/nvcached/protocol/meta_protocol.h"

#include <algorithm>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/protocol/words.h"

namespace nvcache::server {
namespace {

constexpr size_t kMaxOpaqueBytes = 32;
constexpr std::string_view kBadToken = "CLIENT_ERROR bad token in command line format";

std::string_view allowed_flags(MetaOp op) {
  switch (op) {
    case MetaOp::kGet:
      return "bcfhklOqstuvNRTPL";
    case MetaOp::kSet:
      return "bcCFIkOqTMSPL";
    case MetaOp::kDelete:
      return "bCIkOqTPL";
    case MetaOp::kArithmetic:
      return "bCNJDTMqtckvOPL";
    case MetaOp::kDebug:
      return "b";
    case MetaOp::kNoop:
      break;
  }
  return "";
}

std::string_view invalid_flag(MetaOp op) {
  return op == MetaOp::kDelete || op == MetaOp::kArithmetic
             ? "CLIENT_ERROR invalid or duplicate flag"
             : "CLIENT_ERROR invalid flag";
}

std::string_view duplicate_flag(MetaOp op) {
  return op == MetaOp::kDelete || op == MetaOp::kArithmetic
             ? "CLIENT_ERROR invalid or duplicate flag"
             : "CLIENT_ERROR duplicate flag";
}

std::string_view parse_mode(MetaRequest& request, std::string_view token) {
  if (token.size() != 1) return "CLIENT_ERROR incorrect length for M token";
  const bool arithmetic = request.op == MetaOp::kArithmetic;
  const std::string_view known = arithmetic ? "IiDd+-" : "EeAaPpRrSs";
  if (known.find(token[0]) == std::string_view::npos) {
    return arithmetic ? "CLIENT_ERROR invalid mode for ma M token"
                      : "CLIENT_ERROR invalid mode for ms M token";
  }
  request.mode = token[0] == '+'   ? 'I'
                 : token[0] == '-' ? 'D'
                                   : static_cast<char>(token[0] & ~0x20);
  return {};
}

std::string_view parse_flag(MetaRequest& request, MetaFlag flag) {
  bool good = true;
  switch (flag.name) {
    case 'b':
      request.base64 = true;
      break;
    case 'q':
      request.quiet = true;
      break;
    case 'u':
      request.no_bump = true;
      break;
    case 'v':
      request.wants_value = true;
      break;
    case 'I':
      request.invalidate = true;
      break;
    case 'O':
      if (flag.token.size() > kMaxOpaqueBytes) return "CLIENT_ERROR opaque token too long";
      break;
    case 'C':
      good = parse_u64(flag.token, request.cas);
      request.has_cas = true;
      break;
    case 'F':
      if (!parse_u32(flag.token, request.client_flags)) return kBadFormat;
      break;
    case 'T':
      good = parse_i64(flag.token, request.exptime);
      request.has_exptime = true;
      break;
    case 'N':
      good = parse_i64(flag.token, request.vivify_exptime);
      request.vivify = true;
      break;
    case 'R':
      good = parse_i64(flag.token, request.recache_s);
      request.recache = true;
      break;
    case 'J':
      good = parse_u64(flag.token, request.initial);
      break;
    case 'D':
      good = parse_u64(flag.token, request.delta);
      break;
    case 'M':
      return parse_mode(request, flag.token);
    default:
      break;
  }
  if (good) return {};
  const bool terse = request.op == MetaOp::kDelete || request.op == MetaOp::kArithmetic;
  return terse ? invalid_flag(request.op) : kBadToken;
}

std::string_view parse_flags(MetaRequest& request, std::string_view rest) {
  const std::string_view allowed = allowed_flags(request.op);
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const MetaFlag flag{word[0], word.substr(1)};
    if (allowed.find(flag.name) == std::string_view::npos) return invalid_flag(request.op);
    const auto known = request.all_flags();
    if (std::any_of(known.begin(), known.end(),
                    [&](const MetaFlag& other) { return other.name == flag.name; })) {
      return duplicate_flag(request.op);
    }
    request.flags[request.flag_count++] = flag;
    if (const std::string_view error = parse_flag(request, flag); !error.empty()) return error;
  }
  return {};
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
  request.error = parse_flags(request, rest);
  return request;
}

Key key_of(const MetaRequest& request, std::string& storage) {
  if (request.base64) return decode_key(request.key_as_sent, storage);
  return {request.key_as_sent, fault_of_key(request.key_as_sent.size())};
}

}  // namespace nvcache::server
