#include "apps/nvcached/session/meta_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace nvcache::server {
namespace {

void append_flag(Output& out, char name, uint64_t number) {
  const char text[2] = {' ', name};
  out.append({text, 2});
  out.append_number(number);
}

// Each command can echo the key and the opaque token.
void append_echo(const MetaRequest& request, const MetaFlag& flag, Output& out) {
  if (flag.name == 'O') {
    out.append(" O");
    out.append(flag.token);
  } else if (flag.name == 'k') {
    out.append(" k");
    out.append(request.key_as_sent);
    if (request.base64) out.append(" b");
  }
}

// A status line with the echoed flags. That of an ms also has its c: the new cas, or 0.
void append_line(const MetaRequest& request, std::string_view status, uint64_t cas, Output& out) {
  out.append(status);
  for (const MetaFlag& flag : request.all_flags()) {
    if (flag.name == 'c' && request.op == MetaOp::kSet) append_flag(out, 'c', cas);
    append_echo(request, flag, out);
  }
  out.append("\r\n");
}

void append_ttl(Output& out, const Items& items, uint32_t expires_s) {
  if (expires_s == 0) return out.append(" t-1");
  append_flag(out, 't', static_cast<uint64_t>(std::max(items.seconds_left(expires_s), int64_t{0})));
}

std::string_view code_of(ItemStatus status) {
  switch (status) {
    case ItemStatus::kOk:
      return "HD";
    case ItemStatus::kNotFound:
      return "NF";
    case ItemStatus::kExists:
      return "EX";
    case ItemStatus::kNotStored:
      return "NS";
    case ItemStatus::kTooLarge:
      return "SERVER_ERROR object too large for cache";
    case ItemStatus::kNoMemory:
      return "SERVER_ERROR out of memory storing object";
    case ItemStatus::kMediumFailed:
      return "SERVER_ERROR medium failed";
    case ItemStatus::kNotNumeric:
      return "CLIENT_ERROR cannot increment or decrement non-numeric value";
  }
  return "SERVER_ERROR";
}

void append_result(const MetaRequest& request, const ItemResult& result, Output& out) {
  if (request.quiet && result.status == ItemStatus::kOk) return;
  const std::string_view code = code_of(result.status);
  if (code.size() > 2) {
    out.append(code);
    return out.append("\r\n");
  }
  append_line(request, code, result.status == ItemStatus::kOk ? result.cas : 0, out);
}

StoreMode mode_of(char mode) {
  switch (mode) {
    case 'E':
      return StoreMode::kAdd;
    case 'A':
      return StoreMode::kAppend;
    case 'P':
      return StoreMode::kPrepend;
    case 'R':
      return StoreMode::kReplace;
    default:
      return StoreMode::kSet;
  }
}

// Flags act in the order in which they were sent: a T or N sets the expiry of the item, and a t or
// R that follows goes by it.
struct Expiries {
  uint32_t now = 0;        // of the item, at the flag that is next
  uint32_t touched = 0;    // by T
  uint32_t vivified = 0;   // by N
  uint32_t recache_s = 0;  // R: a win if the item expires before what expires then
  bool created = false;    // N made the item

  Expiries(const MetaRequest& request, const Items& items)
      : touched(items.expiry(request.exptime)),
        vivified(items.expiry(request.vivify_exptime)),
        recache_s(items.expiry(request.recache_s)) {}

  void pass(const MetaFlag& flag) {
    if (flag.name == 'T') now = touched;
    if (flag.name == 'N' && created) now = vivified;
  }
  // After all flags.
  uint32_t last(const MetaRequest& request) const {
    Expiries walk = *this;
    for (const MetaFlag& flag : request.all_flags()) walk.pass(flag);
    return walk.now;
  }
  bool due() const { return !created && now != 0 && now < recache_s; }
};

// An empty item for a key that was missed, with its new cas. Nothing if it cannot be stored, or if
// another client was faster: then its item is found.
Found add_stub(Items& items, const MetaRequest& request, std::string_view key, Expiries& expiries) {
  expiries.created = true;
  StoreRequest stub;
  stub.mode = StoreMode::kAdd;
  stub.expires_s = expiries.last(request);
  const ItemResult added = items.store(key, {}, stub);
  Found found;
  if (added.status == ItemStatus::kOk) {
    // The caller is the client that shall make the value.
    (void)items.hints().win(key, items.now_s());
    if (!request.no_bump) items.hints().fetched(key, items.now_s());
    found.item.meta.cas = added.cas;
    return found;
  }
  expiries.created = false;
  return items.get_or_stale(key, !request.no_bump);
}

}  // namespace

Turn MetaSession::turn(std::string_view line, size_t line_bytes, std::string_view in, Output& out) {
  MetaRequest request = parse_meta_line(line);
  if (request.op == MetaOp::kNoop) {
    out.append("MN\r\n");
    return {line_bytes};
  }
  client_.counters().add(Count::kCmdMeta);
  std::string decoded;
  std::string_view key;
  if (request.error.empty()) {
    const Key parsed = key_of(request, decoded);
    if (!parsed.good()) request.error = "CLIENT_ERROR error decoding key";
    key = parsed.bytes;
  }
  if (request.error.empty() && request.has_value && !items_.fits(key.size(), request.value_bytes)) {
    request.error = "SERVER_ERROR object too large for cache";
    StoreRequest store;
    store.mode = mode_of(request.mode);
    store.compare = request.has_cas;
    client_.count_too_large(key, watched_name(store), request.value_bytes,
                            store.mode == StoreMode::kSet);
  }
  if (!request.error.empty()) {
    std::string answer(request.error);
    answer += "\r\n";
    if (request.has_value) {
      client_.skip(request.value_bytes + 2, std::move(answer));
    } else {
      out.append(answer);
    }
    return {line_bytes};
  }
  size_t all_bytes = line_bytes;
  switch (request.op) {
    case MetaOp::kGet:
      get(request, key, out);
      break;
    case MetaOp::kSet:
      all_bytes += request.value_bytes + 2;
      if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
      if (in[all_bytes - 2] != '\r' || in[all_bytes - 1] != '\n') {
        out.append("CLIENT_ERROR bad data chunk\r\n");
      } else {
        set(request, key, in.substr(line_bytes, request.value_bytes), out);
      }
      break;
    case MetaOp::kDelete:
      erase(request, key, out);
      break;
    case MetaOp::kArithmetic:
      arithmetic(request, key, out);
      break;
    default:
      debug(request, key, out);
  }
  return {all_bytes};
}

void MetaSession::get(const MetaRequest& request, std::string_view key, Output& out) {
  ItemHints::Hint before = items_.hints().find(key);
  Expiries expiries(request, items_);
  Found found = client_.fetch_or_stale(key, !request.no_bump);
  if (!found && request.vivify) {
    found = add_stub(items_, request, key, expiries);
    before = expiries.created ? ItemHints::Hint() : items_.hints().find(key);
  }
  if (!found && !expiries.created) {
    if (!request.quiet) append_line(request, "EN", 0, out);
    return;
  }
  expiries.now = expiries.created ? 0 : found.item.meta.expires_s;
  if (request.has_exptime && !expiries.created) {
    const ItemStatus status = items_.touch(key, expiries.last(request), /*counts=*/false);
    if (status == ItemStatus::kMediumFailed) return append_result(request, {status}, out);
    const bool touched = status == ItemStatus::kOk;
    if (!touched) expiries.touched = expiries.now;
    client_.count_touch(touched);
  }
  if (request.wants_value) {
    out.append("VA ");
    out.append_number(found.value.size());
  } else {
    out.append("HD");
  }
  bool due = found.stale;
  for (const MetaFlag& flag : request.all_flags()) {
    expiries.pass(flag);
    if (flag.name == 'R') due = due || expiries.due();
    append_found(request, flag, found, before, expiries.now, out);
  }
  const bool won = expiries.created || (due && items_.hints().win(key, items_.now_s()));
  if (!won && (due || before.won)) out.append(" Z");
  if (found.stale) out.append(" X");
  if (won) out.append(" W");
  out.append("\r\n");
  if (!request.wants_value) return;
  out.append_value(std::move(found.item.pin), found.value);
  out.append("\r\n");
}

// The answer to a flag of an mg.
void MetaSession::append_found(const MetaRequest& request, const MetaFlag& flag, const Found& found,
                               const ItemHints::Hint& before, uint32_t expires_s,
                               Output& out) const {
  const uint32_t now_s = items_.now_s();
  switch (flag.name) {
    case 'c':
      append_flag(out, 'c', found.item.meta.cas);
      break;
    case 'f':
      append_flag(out, 'f', found.item.meta.flags);
      break;
    case 'h':
      append_flag(out, 'h', before.fetched ? 1 : 0);
      break;
    case 'l':
      append_flag(out, 'l', before.known && now_s > before.last_s ? now_s - before.last_s : 0);
      break;
    case 's':
      append_flag(out, 's', found.value.size());
      break;
    case 't':
      append_ttl(out, items_, expires_s);
      break;
    default:
      append_echo(request, flag, out);
  }
}

void MetaSession::set(const MetaRequest& request, std::string_view key, std::string_view value,
                      Output& out) {
  StoreRequest store;
  store.mode = mode_of(request.mode);
  store.flags = request.client_flags;
  store.expires_s = items_.expiry(request.exptime);
  // To add, a cas is nothing to compare with; to append, 0 is none.
  const bool replaces = store.mode == StoreMode::kSet || store.mode == StoreMode::kReplace;
  store.compare = request.has_cas && (replaces || request.cas != 0);
  store.cas = request.cas;
  store.invalidate = request.invalidate;
  append_result(request, client_.store(key, value, store, out), out);
}

void MetaSession::erase(const MetaRequest& request, std::string_view key, Output& out) {
  ItemResult result;
  if (request.invalidate) {
    result = items_.invalidate(key, request.has_cas, request.cas, request.has_exptime,
                               items_.expiry(request.exptime));
    client_.counters().add(result.status == ItemStatus::kOk ? Count::kDeleteHits
                                                            : Count::kDeleteMisses);
  } else if (request.has_cas && request.cas == 0) {
    // No value has cas 0, and to the store 0 means any.
    result.status = items_.get(key, false) ? ItemStatus::kExists : ItemStatus::kNotFound;
  } else {
    result.status = client_.erase(key, request.cas);
  }
  append_result(request, result, out);
}

void MetaSession::arithmetic(const MetaRequest& request, std::string_view key, Output& out) {
  Expiries expiries(request, items_);
  ArithmeticRequest change;
  change.down = request.mode == 'D';
  change.delta = request.delta;
  change.compare = request.has_cas && request.cas != 0;
  change.cas = request.cas;
  change.create = request.vivify;
  change.initial = request.initial;
  expiries.created = true;
  change.create_expires_s = expiries.last(request);
  change.set_expiry = request.has_exptime;
  change.expires_s = expiries.touched;
  const ItemResult result = client_.arithmetic(key, change, out);
  if (result.status != ItemStatus::kOk) return append_result(request, result, out);
  // A number that was made is told to quiet clients, too.
  if (request.quiet && !result.created) return;
  expiries.created = result.created;
  expiries.now = result.old_expires_s;
  const std::string number = fmt::format("{}", result.number);
  out.append(request.wants_value ? fmt::format("VA {}", number.size()) : "HD");
  for (const MetaFlag& flag : request.all_flags()) {
    expiries.pass(flag);
    if (flag.name == 'c') append_flag(out, 'c', result.cas);
    if (flag.name == 't') append_ttl(out, items_, expiries.now);
    append_echo(request, flag, out);
  }
  out.append("\r\n");
  if (request.wants_value) {
    out.append(number);
    out.append("\r\n");
  }
}

void MetaSession::debug(const MetaRequest& request, std::string_view key, Output& out) {
  const ItemHints::Hint hint = items_.hints().find(key);
  const Found found = items_.get_or_stale(key, false);
  if (!found) return out.append("EN\r\n");
  const uint32_t now_s = items_.now_s();
  const KvMeta& meta = found.item.meta;
  const int64_t ttl_s = meta.expires_s == 0 ? -1 : items_.seconds_left(meta.expires_s);
  out.append(fmt::format(
      "ME {} exp={} la={} cas={} fetch={} cls=1 size={}\r\n", request.key_as_sent, ttl_s,
      hint.known && now_s > hint.last_s ? now_s - hint.last_s : 0, meta.cas,
      hint.fetched ? "yes" : "no", key.size() + found.value.size() + Items::kItemOverheadBytes));
}

}  // namespace nvcache::server
