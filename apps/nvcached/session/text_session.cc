#include "apps/nvcached/session/text_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/nvcached/protocol/words.h"
#include "apps/nvcached/service/stats_report.h"
#include "base/assert.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr std::string_view kTooLargeText = "SERVER_ERROR object too large for cache\r\n";
constexpr std::string_view kNoMemoryText = "SERVER_ERROR out of memory storing object\r\n";
constexpr std::string_view kMediumFailedText = "SERVER_ERROR medium failed\r\n";
constexpr std::string_view kBadChunk = "CLIENT_ERROR bad data chunk\r\n";
constexpr size_t kMaxAuthBytes = 1024;
constexpr size_t kMostBlanks = 100;  // before a get of any length, as in memcached

bool ends_in_newline(std::string_view in, size_t at) { return in.substr(at, 2) == "\r\n"; }

void answer(const TextRequest& request, std::string_view text, Output& out) {
  if (!request.noreply) out.append(text);
}

StoreMode mode_of(TextOp op) {
  switch (op) {
    case TextOp::kAdd:
      return StoreMode::kAdd;
    case TextOp::kReplace:
      return StoreMode::kReplace;
    case TextOp::kAppend:
      return StoreMode::kAppend;
    case TextOp::kPrepend:
      return StoreMode::kPrepend;
    default:
      return StoreMode::kSet;
  }
}

}  // namespace

Turn TextSession::turn(std::string_view in, Output& out) {
  if (get_.is_under_way()) {
    NVCACHE_ASSERT_SLOW(scanned_ == 0 && !dump_.is_under_way());
    return get_.go_on(in, out);
  }
  NVCACHE_ASSERT_SLOW(scanned_ <= in.size());
  const auto line = find_line(in, scanned_);
  if (!line) {
    if (in.size() > kMaxLineBytes) return long_line(in);
    scanned_ = in.size();
    return {0, Turn::kMore, in.size() + 1};
  }
  scanned_ = 0;
  const TextRequest request = parse_text_line(line->text);
  if (!dump_.is_under_way()) client_.log(line->text);
  if (client_.must_authenticate()) return authenticate(request, line->used, in, out);
  if (request.op == TextOp::kMeta) return meta_.turn(line->text, line->used, in, out);
  if (request.op == TextOp::kHttp) return {line->used, Turn::kClose};
  if (!request.error.empty()) return refuse(request, line->used, out);
  if (request.has_value) return storage(request, line->used, in, out);
  if (request.op == TextOp::kQuit) return {line->used, Turn::kQuit};
  if (request.op == TextOp::kWatch) return watch(request.arguments, line->used, out);
  const bool dumps = request.op == TextOp::kMetadump || request.op == TextOp::kCachedump;
  if (dumps && client_.settings().dump_enabled) return dump_.turn(request, line->used, out);
  if (TextGet::serves(request.op)) return get_.begin(request, line->used, in, out);
  command(request, out);
  return {line->used};
}

// Only a get may have so long a line: its keys are served as they arrive. A client that has not
// authenticated is closed instead.
Turn TextSession::long_line(std::string_view in) {
  if (client_.must_authenticate()) return {0, Turn::kClose};
  if (in.find_first_not_of(' ') > kMostBlanks) return {0, Turn::kClose};
  std::string_view rest = in;
  const std::string_view command = next_word(rest);
  if (command != "get" && command != "gets") return {0, Turn::kClose};
  get_.begin_long(command == "get" ? TextOp::kGet : TextOp::kGets);
  scanned_ = 0;
  return {in.size() - rest.size(), Turn::kGoOn};
}

// Of a line with an error.
Turn TextSession::refuse(const TextRequest& request, size_t line_bytes, Output& out) {
  const bool silent = request.noreply && request.error != "ERROR";
  std::string text = silent ? "" : std::string(request.error) + "\r\n";
  if (request.has_value) {
    client_.skip(request.value_bytes + 2, std::move(text));
  } else {
    out.append(text);
  }
  return {line_bytes};
}

// `watch KINDS`. From its answer on, the client gets lines and asks nothing more.
Turn TextSession::watch(std::string_view words, size_t line_bytes, Output& out) {
  if (!client_.settings().watch_enabled) {
    out.append("CLIENT_ERROR watch commands not allowed\r\n");
    return {line_bytes};
  }
  const auto kinds = WatchLog::parse_kinds(words);
  if (!kinds) {
    out.append("ERROR\r\n");
    return {line_bytes};
  }
  watcher_ = client_.service().watch(*kinds);
  if (watcher_ == nullptr) {
    out.append("WATCHER_TOO_MANY log watchers\r\n");
    return {line_bytes};
  }
  out.append("OK\r\n");
  return {line_bytes, Turn::kWatch};
}

Turn TextSession::storage(const TextRequest& request, size_t line_bytes, std::string_view in,
                          Output& out) {
  if (!items_.fits(request.key.size(), request.value_bytes)) {
    StoreRequest store;
    store.mode = mode_of(request.op);
    store.compare = request.op == TextOp::kCas;
    client_.count_too_large(request.key, watched_name(store), request.value_bytes,
                            request.op == TextOp::kSet);
    client_.skip(request.value_bytes + 2, std::string(request.noreply ? "" : kTooLargeText));
    return {line_bytes};
  }
  const size_t all_bytes = line_bytes + request.value_bytes + 2;
  if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
  if (ends_in_newline(in, all_bytes - 2)) {
    store(request, in.substr(line_bytes, request.value_bytes), out);
  } else {
    answer(request, kBadChunk, out);
  }
  return {all_bytes};
}

void TextSession::store(const TextRequest& request, std::string_view value, Output& out) {
  StoreRequest store;
  store.mode = mode_of(request.op);
  store.flags = request.flags;
  store.expires_s = items_.expiry(request.exptime);
  store.compare = request.op == TextOp::kCas;
  store.cas = request.cas;
  switch (client_.store(request.key, value, store, out).status) {
    case ItemStatus::kOk:
      answer(request, "STORED\r\n", out);
      break;
    case ItemStatus::kNotFound:
      answer(request, "NOT_FOUND\r\n", out);
      break;
    case ItemStatus::kExists:
      answer(request, "EXISTS\r\n", out);
      break;
    case ItemStatus::kTooLarge:
      answer(request, kTooLargeText, out);
      break;
    case ItemStatus::kNoMemory:
      answer(request, kNoMemoryText, out);
      break;
    case ItemStatus::kMediumFailed:
      answer(request, kMediumFailedText, out);
      break;
    default:
      answer(request, "NOT_STORED\r\n", out);
  }
}

void TextSession::command(const TextRequest& request, Output& out) {
  switch (request.op) {
    case TextOp::kDelete:
      return erase(request, out);
    case TextOp::kIncr:
    case TextOp::kDecr:
      return arithmetic(request, out);
    case TextOp::kTouch:
      return touch(request, out);
    case TextOp::kFlushAll:
      return flush_all(request, out);
    case TextOp::kVersion:
      return answer(request, "VERSION " + client_.settings().version + "\r\n", out);
    case TextOp::kVerbosity:
      client_.service().set_verbosity(static_cast<int>(std::min<uint64_t>(request.delta, 3)));
      return answer(request, "OK\r\n", out);
    case TextOp::kStats:
      return stats(request.arguments, out);
    case TextOp::kRefreshCerts:
      return refresh_certs(out);
    case TextOp::kShutdown:
      return shut_down(request, out);
    case TextOp::kMemoryLimit:
      return answer(request, "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n", out);
    case TextOp::kTuning:
      return answer(request, "OK\r\n", out);
    case TextOp::kMetadump:  // with -X
      return out.append("ERROR metadump not allowed\r\n");
    case TextOp::kCachedump:
      return out.append("CLIENT_ERROR stats cachedump not allowed\r\n");
    default:
      return out.append("ERROR\r\n");
  }
}

void TextSession::erase(const TextRequest& request, Output& out) {
  const ItemStatus status = client_.erase(request.key, 0);
  answer(request,
         status == ItemStatus::kOk             ? "DELETED\r\n"
         : status == ItemStatus::kMediumFailed ? kMediumFailedText
                                               : "NOT_FOUND\r\n",
         out);
}

void TextSession::arithmetic(const TextRequest& request, Output& out) {
  ArithmeticRequest change;
  change.down = request.op == TextOp::kDecr;
  change.delta = request.delta;
  const ItemResult result = client_.arithmetic(request.key, change, out);
  switch (result.status) {
    case ItemStatus::kOk:
      if (request.noreply) return;
      out.append_number(result.number);
      return out.append("\r\n");
    case ItemStatus::kNotNumeric:
      return answer(request, "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
                    out);
    case ItemStatus::kNotFound:
      return answer(request, "NOT_FOUND\r\n", out);
    case ItemStatus::kMediumFailed:
      return answer(request, kMediumFailedText, out);
    default:
      return answer(request, "SERVER_ERROR out of memory in incr\r\n", out);
  }
}

void TextSession::touch(const TextRequest& request, Output& out) {
  const ItemStatus status = items_.touch(request.key, items_.expiry(request.exptime));
  const bool there = status == ItemStatus::kOk;
  client_.count_touch(there);
  if (status == ItemStatus::kMediumFailed) return answer(request, kMediumFailedText, out);
  answer(request, there ? "TOUCHED\r\n" : "NOT_FOUND\r\n", out);
}

void TextSession::flush_all(const TextRequest& request, Output& out) {
  if (!client_.settings().flush_enabled) {
    return answer(request, "CLIENT_ERROR flush_all not allowed\r\n", out);
  }
  client_.counters().add(Count::kCmdFlush);
  if (!client_.service().flush_at(request.exptime).ok()) {
    return answer(request, kMediumFailedText, out);
  }
  answer(request, "OK\r\n", out);
}

void TextSession::refresh_certs(Output& out) {
  if (!client_.service().on_refresh_certs) return out.append("ERROR\r\n");
  const Status status = client_.service().on_refresh_certs();
  out.append(status.ok() ? "OK\r\n" : "SERVER_ERROR " + std::string(status.message()) + "\r\n");
}

void TextSession::shut_down(const TextRequest& request, Output& out) {
  if (!client_.settings().shutdown_command) return out.append("ERROR: shutdown not enabled\r\n");
  if (!request.arguments.empty() && request.arguments != " graceful") {
    return out.append("CLIENT_ERROR invalid shutdown mode\r\n");
  }
  if (client_.service().on_shutdown_command) client_.service().on_shutdown_command();
}

void TextSession::stats(std::string_view arguments, Output& out) {
  const std::string_view group = next_word(arguments);
  if (group == "reset") {
    client_.service().reset_totals();
    return out.append("RESET\r\n");
  }
  if (group == "detail") {
    const std::string_view what = next_word(arguments);
    if (what == "dump") {
      out.append(client_.service().dump_detail());
      return out.append("END\r\n");
    }
    if (what != "on" && what != "off") {
      return out.append("CLIENT_ERROR usage: stats detail on|off|dump\r\n");
    }
    client_.service().set_detail(what == "on");
    return out.append("OK\r\n");
  }
  const bool known =
      visit_stats(client_.service(), group, [&](std::string_view name, std::string_view v) {
        out.append(fmt::format("STAT {} {}\r\n", one_word(name), one_word(v)));
      });
  out.append(known ? "END\r\n" : "ERROR\r\n");
}

// Before authentication, the only command is a set whose value is "user password".
Turn TextSession::authenticate(const TextRequest& request, size_t line_bytes, std::string_view in,
                               Output& out) {
  if (request.op == TextOp::kQuit) return {line_bytes, Turn::kQuit};
  if (request.op != TextOp::kSet || !request.has_value || !request.error.empty() ||
      request.value_bytes > kMaxAuthBytes) {
    out.append("CLIENT_ERROR unauthenticated\r\n");
    return {line_bytes, request.has_value ? Turn::kClose : Turn::kGoOn};
  }
  const size_t all_bytes = line_bytes + request.value_bytes + 2;
  if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
  const std::string_view words = in.substr(line_bytes, request.value_bytes);
  const auto [user, password] = split_once(words, ' ');
  const bool right = client_.authenticate(ends_in_newline(in, all_bytes - 2), user, password);
  out.append(right ? "STORED\r\n" : "CLIENT_ERROR authentication failure\r\n");
  return {all_bytes};
}

}  // namespace nvcache::server
