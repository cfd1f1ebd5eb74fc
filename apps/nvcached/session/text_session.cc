// The text protocol's commands. Their answers are memcached's, to the letter.
#include "apps/nvcached/service/stats_report.h"
#include "apps/nvcached/session/session.h"
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

bool is_get(TextOp op) {
  return op == TextOp::kGet || op == TextOp::kGets || op == TextOp::kGat || op == TextOp::kGats;
}

}  // namespace

Turn Session::text_turn(std::string_view in, Output& out) {
  if (multi_get_.active) return streamed_get(in, out);
  NVCACHE_ASSERT_SLOW(scanned_ <= in.size());
  const auto line = find_line(in, scanned_);
  if (!line) {
    if (in.size() > kMaxLineBytes) return long_line(in);
    scanned_ = in.size();
    return {0, Turn::kMore, in.size() + 1};
  }
  scanned_ = 0;
  TextRequest request = parse_text_line(line->text);
  if (!dump_.active) log(line->text);
  if (service_.needs_auth() && !authenticated_) {
    return authenticate(request, line->used, in, out);
  }
  if (request.op == TextOp::kMeta) return meta_turn(line->text, line->used, in, out);
  if (request.op == TextOp::kHttp) return {line->used, Turn::kClose};
  if (!request.error.empty()) {
    const bool silent = request.noreply && request.error != "ERROR";
    std::string text = silent ? "" : std::string(request.error) + "\r\n";
    if (request.has_value) {
      skip(request.value_bytes + 2, std::move(text));
    } else {
      out.append(text);
    }
    return {line->used};
  }
  if (request.has_value) return storage(request, line->used, in, out);
  if (request.op == TextOp::kQuit) return {line->used, Turn::kQuit};
  if (request.op == TextOp::kWatch) return watch_turn(request.arguments, line->used, out);
  const bool dumps = request.op == TextOp::kMetadump || request.op == TextOp::kCachedump;
  if (dumps && service_.settings().dump_enabled) return dump_turn(request, line->used, out);
  if (is_get(request.op)) {
    multi_get_ = {false, false, request.op, items_.expiry(request.exptime)};
    if (!get_keys(request.arguments, out)) {
      // A later turn serves the rest of the line.
      multi_get_.active = true;
      return {static_cast<size_t>(request.arguments.data() - in.data()), Turn::kFull};
    }
    out.append("END\r\n");
    return {line->used};
  }
  command(request, out);
  return {line->used};
}

// Only a get may have so long a line: its keys are served as they arrive. A client that has not
// authenticated is closed instead.
Turn Session::long_line(std::string_view in) {
  if (service_.needs_auth() && !authenticated_) return {0, Turn::kClose};
  if (in.find_first_not_of(' ') > kMostBlanks) return {0, Turn::kClose};
  std::string_view rest = in;
  const std::string_view command = next_word(rest);
  if (command != "get" && command != "gets") return {0, Turn::kClose};
  multi_get_ = {true, false, command == "get" ? TextOp::kGet : TextOp::kGets, 0};
  scanned_ = 0;
  return {in.size() - rest.size(), Turn::kGoOn};
}

Turn Session::streamed_get(std::string_view in, Output& out) {
  NVCACHE_ASSERT_SLOW(scanned_ == 0 && !dump_.active);
  size_t at = 0;
  for (;;) {
    const StreamedKey next = next_streamed_key(in.substr(at));
    const bool too_long = next.key.fault == KeyFault::kTooLong;
    if (too_long && !multi_get_.broken) {
      out.append(kBadFormat);
      out.append("\r\n");
      multi_get_.broken = true;
    }
    if (!next.complete) {
      if (too_long) return {in.size(), Turn::kGoOn};
      at += next.used;
      return {at, Turn::kMore, in.size() - at + 1};
    }
    if (!multi_get_.broken && next.key.good()) get_key(next.key.bytes, out);
    at += next.used;
    if (next.last) {
      multi_get_.active = false;
      if (!multi_get_.broken) out.append("END\r\n");
      return {at};
    }
    if (out.size() >= kFullOutputBytes) return {at, Turn::kFull};
  }
}

// False if output is full; `keys` are then those left to serve.
bool Session::get_keys(std::string_view& keys, Output& out) {
  for (;;) {
    std::string_view rest = keys;
    const Key key = next_key(rest);
    if (key.fault == KeyFault::kMissing) return true;
    if (out.size() >= kFullOutputBytes) return false;
    get_key(key.bytes, out);
    keys = rest;
  }
}

void Session::get_key(std::string_view key, Output& out) {
  Found found = fetch(key);
  const TextOp op = multi_get_.op;
  if (op == TextOp::kGat || op == TextOp::kGats) {
    // A medium that failed is a miss here: the answer has no place for an error.
    const bool touched = found && items_.touch(key, multi_get_.expires_s) == ItemStatus::kOk;
    counters_.add(Count::kCmdTouch);
    counters_.add(touched ? Count::kTouchHits : Count::kTouchMisses);
    if (!touched) return;
  }
  if (!found) return;
  out.append("VALUE ");
  out.append(key);
  out.append(' ');
  out.append_number(found.item.meta.flags);
  out.append(' ');
  out.append_number(found.value.size());
  if (op == TextOp::kGets || op == TextOp::kGats) {
    out.append(' ');
    out.append_number(service_.settings().cas_enabled ? found.item.meta.cas : 0);
  }
  out.append("\r\n");
  out.append_value(std::move(found.item.pin), found.value);
  out.append("\r\n");
}

Turn Session::storage(const TextRequest& request, size_t line_bytes, std::string_view in,
                      Output& out) {
  if (!items_.fits(request.key.size(), request.value_bytes)) {
    StoreRequest store;
    store.mode = mode_of(request.op);
    store.compare = request.op == TextOp::kCas;
    count_too_large(request.key, watched_name(store), request.value_bytes,
                    request.op == TextOp::kSet);
    skip(request.value_bytes + 2, std::string(request.noreply ? "" : kTooLargeText));
    return {line_bytes};
  }
  const size_t all_bytes = line_bytes + request.value_bytes + 2;
  if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
  if (ends_in_newline(in, all_bytes - 2)) {
    store_text(request, in.substr(line_bytes, request.value_bytes), out);
  } else {
    answer(request, kBadChunk, out);
  }
  return {all_bytes};
}

void Session::store_text(const TextRequest& request, std::string_view value, Output& out) {
  StoreRequest store;
  store.mode = mode_of(request.op);
  store.flags = request.flags;
  store.expires_s = items_.expiry(request.exptime);
  store.compare = request.op == TextOp::kCas;
  store.cas = request.cas;
  switch (store_counted(request.key, value, store, out).status) {
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

void Session::command(const TextRequest& request, Output& out) {
  switch (request.op) {
    case TextOp::kDelete:
      return erase_text(request, out);
    case TextOp::kIncr:
    case TextOp::kDecr:
      return count_text(request, out);
    case TextOp::kTouch:
      return touch_text(request, out);
    case TextOp::kFlushAll:
      if (!service_.settings().flush_enabled) {
        return answer(request, "CLIENT_ERROR flush_all not allowed\r\n", out);
      }
      counters_.add(Count::kCmdFlush);
      if (!service_.flush_at(request.exptime).ok()) {
        return answer(request, kMediumFailedText, out);
      }
      return answer(request, "OK\r\n", out);
    case TextOp::kVersion:
      return answer(request, "VERSION " + service_.settings().version + "\r\n", out);
    case TextOp::kVerbosity:
      service_.set_verbosity(static_cast<int>(std::min<uint64_t>(request.delta, 3)));
      return answer(request, "OK\r\n", out);
    case TextOp::kStats:
      return stats_text(request.arguments, out);
    case TextOp::kRefreshCerts: {
      if (!service_.on_refresh_certs) return out.append("ERROR\r\n");
      const Status status = service_.on_refresh_certs();
      return out.append(status.ok() ? "OK\r\n"
                                    : "SERVER_ERROR " + std::string(status.message()) + "\r\n");
    }
    case TextOp::kShutdown:
      if (!service_.settings().shutdown_command) {
        return out.append("ERROR: shutdown not enabled\r\n");
      }
      if (!request.arguments.empty() && request.arguments != " graceful") {
        return out.append("CLIENT_ERROR invalid shutdown mode\r\n");
      }
      if (service_.on_shutdown_command) service_.on_shutdown_command();
      return;
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

void Session::erase_text(const TextRequest& request, Output& out) {
  const ItemStatus status = erase_counted(request.key, 0);
  answer(request,
         status == ItemStatus::kOk             ? "DELETED\r\n"
         : status == ItemStatus::kMediumFailed ? kMediumFailedText
                                               : "NOT_FOUND\r\n",
         out);
}

void Session::count_text(const TextRequest& request, Output& out) {
  ArithmeticRequest change;
  change.down = request.op == TextOp::kDecr;
  change.delta = request.delta;
  const ItemResult result = count_counted(request.key, change, out);
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

void Session::touch_text(const TextRequest& request, Output& out) {
  const ItemStatus status = items_.touch(request.key, items_.expiry(request.exptime));
  const bool there = status == ItemStatus::kOk;
  counters_.add(Count::kCmdTouch);
  counters_.add(there ? Count::kTouchHits : Count::kTouchMisses);
  if (status == ItemStatus::kMediumFailed) return answer(request, kMediumFailedText, out);
  answer(request, there ? "TOUCHED\r\n" : "NOT_FOUND\r\n", out);
}

void Session::stats_text(std::string_view arguments, Output& out) {
  const std::string_view group = next_word(arguments);
  if (group == "reset") {
    service_.reset_totals();
    return out.append("RESET\r\n");
  }
  if (group == "detail") {
    const std::string_view what = next_word(arguments);
    if (what == "dump") {
      out.append(service_.dump_detail());
      return out.append("END\r\n");
    }
    if (what != "on" && what != "off") {
      return out.append("CLIENT_ERROR usage: stats detail on|off|dump\r\n");
    }
    service_.set_detail(what == "on");
    return out.append("OK\r\n");
  }
  const bool known = visit_stats(service_, group, [&](std::string_view name, std::string_view v) {
    out.append(fmt::format("STAT {} {}\r\n", one_word(name), one_word(v)));
  });
  out.append(known ? "END\r\n" : "ERROR\r\n");
}

// Before authentication, the only command is a set whose value is "user password".
Turn Session::authenticate(const TextRequest& request, size_t line_bytes, std::string_view in,
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
  counters_.add(Count::kAuthCmds);
  const auto [user, password] = split_once(words, ' ');
  authenticated_ = ends_in_newline(in, all_bytes - 2) && service_.authenticate(user, password);
  if (!authenticated_) counters_.add(Count::kAuthErrors);
  out.append(authenticated_ ? "STORED\r\n" : "CLIENT_ERROR authentication failure\r\n");
  return {all_bytes};
}

}  // namespace nvcache::server
