// The binary protocol's commands.
#include "apps/nvcached/service/stats_report.h"
#include "apps/nvcached/session/session.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr uint32_t kDoNotCreate = 0xffffffff;
constexpr std::string_view kSaslMechanism = "PLAIN";

struct Response {
  BinaryStatus status = BinaryStatus::kOk;
  std::string_view extras;
  std::string_view key;
  std::string_view value;
  uint64_t cas = 0;
};

void append_header(const BinaryHeader& request, const Response& response, size_t value_bytes,
                   Output& out) {
  BinaryHeader header;
  header.opcode = request.opcode;
  header.extras_bytes = static_cast<uint8_t>(response.extras.size());
  header.key_bytes = static_cast<uint16_t>(response.key.size());
  header.status = static_cast<uint16_t>(response.status);
  header.body_bytes =
      static_cast<uint32_t>(response.extras.size() + response.key.size() + value_bytes);
  header.opaque = request.opaque;
  header.cas = response.cas;
  out.append(format_binary_header(header));
  out.append(response.extras);
  out.append(response.key);
}

void respond(const BinaryHeader& request, const Response& response, Output& out) {
  append_header(request, response, response.value.size(), out);
  out.append(response.value);
}

void refuse(const BinaryHeader& request, BinaryStatus status, Output& out) {
  respond(request, {status, {}, {}, text_of(status)}, out);
}

// Answers a success, which quiet commands do not.
void succeed(const BinaryHeader& request, uint64_t cas, Output& out) {
  if (is_quiet(request.opcode)) return;
  Response response;
  response.cas = cas;
  respond(request, response, out);
}

BinaryStatus status_of(ItemStatus status) {
  switch (status) {
    case ItemStatus::kOk:
      return BinaryStatus::kOk;
    case ItemStatus::kNotFound:
      return BinaryStatus::kNotFound;
    case ItemStatus::kExists:
      return BinaryStatus::kExists;
    case ItemStatus::kNotStored:
      return BinaryStatus::kNotStored;
    case ItemStatus::kTooLarge:
      return BinaryStatus::kTooLarge;
    case ItemStatus::kNotNumeric:
      return BinaryStatus::kNotNumeric;
    case ItemStatus::kMediumFailed:
      return BinaryStatus::kInternalError;
    case ItemStatus::kNoMemory:
      break;
  }
  return BinaryStatus::kNoMemory;
}

StoreMode mode_of(BinaryOp op) {
  return op == BinaryOp::kAdd       ? StoreMode::kAdd
         : op == BinaryOp::kReplace ? StoreMode::kReplace
         : op == BinaryOp::kAppend  ? StoreMode::kAppend
         : op == BinaryOp::kPrepend ? StoreMode::kPrepend
                                    : StoreMode::kSet;
}

bool is_sasl(BinaryOp op) {
  return op == BinaryOp::kSaslList || op == BinaryOp::kSaslAuth || op == BinaryOp::kSaslStep;
}

bool is_store(BinaryOp op) {
  return op == BinaryOp::kSet || op == BinaryOp::kAdd || op == BinaryOp::kReplace ||
         op == BinaryOp::kAppend || op == BinaryOp::kPrepend;
}

}  // namespace

Turn Session::binary_turn(std::string_view in, Output& out) {
  if (static_cast<uint8_t>(in[0]) != kBinaryRequest) return {0, Turn::kClose};
  if (in.size() < kBinaryHeaderBytes) return {0, Turn::kMore, kBinaryHeaderBytes};
  const BinaryHeader header = parse_binary_header({in.data(), in.size()});
  const BinaryOp op = loud(header.opcode);
  BinaryStatus status = check_binary_header(header);
  if (is_sasl(op) && !service_.settings().sasl) status = BinaryStatus::kUnknown;
  if (!may_ask(op)) {
    refuse(header, BinaryStatus::kUnauthorized, out);
    return {kBinaryHeaderBytes, Turn::kClose};
  }
  if (status != BinaryStatus::kOk) {
    refuse(header, status, out);
    // With such lengths, nobody knows where the request ends. A long mechanism's name is only that.
    const bool long_name = is_sasl(op) && header.body_bytes <= kMostSaslBytes;
    if (status == BinaryStatus::kInvalid && !long_name) return {kBinaryHeaderBytes, Turn::kClose};
    skip(header.body_bytes, "");
    return {kBinaryHeaderBytes};
  }
  if (is_store(op) && !items_.fits(header.key_bytes, header.value_bytes())) {
    return refuse_too_large(header, in);
  }
  const size_t all_bytes = kBinaryHeaderBytes + header.body_bytes;
  if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
  if (service_.verbosity() > 1) log(fmt::format("binary 0x{:02x}", header.opcode));
  Turn turn = binary_serve(header, in.substr(kBinaryHeaderBytes, header.body_bytes), out);
  turn.used = all_bytes;
  return turn;
}

// Before a client has authenticated, only this.
bool Session::may_ask(BinaryOp op) const {
  return !service_.needs_auth() || authenticated_ || is_sasl(op) || op == BinaryOp::kVersion;
}

// SASL's PLAIN (RFC 4616): whom to act for, the user and the password, with a NUL between. PLAIN
// has one step, so that a second one is always wrong.
void Session::binary_authenticate(const BinaryHeader& header, std::string_view mechanism,
                                  std::string_view message, Output& out) {
  const auto [actor, rest] = split_once(message, '\0');
  const auto [user, password] = split_once(rest, '\0');
  counters_.add(Count::kAuthCmds);
  authenticated_ = loud(header.opcode) == BinaryOp::kSaslAuth && mechanism == kSaslMechanism &&
                   (actor.empty() || actor == user) && service_.authenticate(user, password);
  if (authenticated_) return respond(header, {BinaryStatus::kOk, {}, {}, "Authenticated"}, out);
  counters_.add(Count::kAuthErrors);
  refuse(header, BinaryStatus::kUnauthorized, out);
}

Turn Session::refuse_too_large(const BinaryHeader& header, std::string_view in) {
  const size_t key_at = kBinaryHeaderBytes + header.extras_bytes;
  const size_t begun_bytes = key_at + header.key_bytes;
  if (in.size() < begun_bytes) return {0, Turn::kMore, begun_bytes};
  StoreRequest store;
  store.mode = mode_of(loud(header.opcode));
  count_too_large({in.data() + key_at, header.key_bytes}, watched_name(store), header.value_bytes(),
                  store.mode == StoreMode::kSet);
  Output answer;
  refuse(header, BinaryStatus::kTooLarge, answer);
  skip(header.value_bytes(), answer.text());
  return {begun_bytes};
}

Turn Session::binary_serve(const BinaryHeader& header, std::string_view body, Output& out) {
  const std::string_view extras(body.data(), header.extras_bytes);
  const std::string_view key(body.data() + extras.size(), header.key_bytes);
  const std::string_view value = body.substr(extras.size() + key.size());
  switch (loud(header.opcode)) {
    case BinaryOp::kGet:
    case BinaryOp::kGetK:
    case BinaryOp::kTouch:
    case BinaryOp::kGat:
    case BinaryOp::kGatK:
      binary_get(header, extras, key, out);
      break;
    case BinaryOp::kSet:
    case BinaryOp::kAdd:
    case BinaryOp::kReplace:
    case BinaryOp::kAppend:
    case BinaryOp::kPrepend:
      binary_store(header, extras, key, value, out);
      break;
    case BinaryOp::kDelete:
      binary_erase(header, key, out);
      break;
    case BinaryOp::kIncrement:
    case BinaryOp::kDecrement:
      binary_count(header, extras, key, out);
      break;
    case BinaryOp::kFlush:
      if (!service_.settings().flush_enabled) {
        refuse(header, BinaryStatus::kUnauthorized, out);
        break;
      }
      counters_.add(Count::kCmdFlush);
      if (service_.flush_at(extras.empty() ? 0 : int64_t{load_u32(extras)}).ok()) {
        succeed(header, 0, out);
      } else {
        refuse(header, BinaryStatus::kInternalError, out);
      }
      break;
    case BinaryOp::kVersion:
      respond(header, {BinaryStatus::kOk, {}, {}, service_.settings().version}, out);
      break;
    case BinaryOp::kVerbosity:
      service_.set_verbosity(static_cast<int>(std::min(load_u32(extras), 3u)));
      succeed(header, 0, out);
      break;
    case BinaryOp::kStat:
      binary_stats(header, key, out);
      break;
    case BinaryOp::kSaslList:
      respond(header, {BinaryStatus::kOk, {}, {}, kSaslMechanism}, out);
      break;
    case BinaryOp::kSaslAuth:
    case BinaryOp::kSaslStep:
      binary_authenticate(header, key, {value.data(), value.size()}, out);
      break;
    case BinaryOp::kQuit:
      succeed(header, 0, out);
      return {0, Turn::kQuit};
    default:
      succeed(header, 0, out);
  }
  return {};
}

void Session::binary_get(const BinaryHeader& header, std::string_view extras, std::string_view key,
                         Output& out) {
  const BinaryOp op = loud(header.opcode);
  const bool with_key = op == BinaryOp::kGetK || op == BinaryOp::kGatK;
  const bool touches = !extras.empty();
  Found found = fetch(key);
  if (touches) {
    const ItemStatus status =
        found ? items_.touch(key, items_.expiry(load_u32(extras))) : ItemStatus::kNotFound;
    const bool touched = status == ItemStatus::kOk;
    counters_.add(Count::kCmdTouch);
    counters_.add(touched ? Count::kTouchHits : Count::kTouchMisses);
    if (status == ItemStatus::kMediumFailed) return refuse(header, status_of(status), out);
    if (!touched) found = Found();
  }
  if (!found) {
    if (is_quiet(header.opcode)) return;
    if (!with_key) return refuse(header, BinaryStatus::kNotFound, out);
    return respond(header, {BinaryStatus::kNotFound, {}, key, {}}, out);
  }
  std::string flags;
  append_u32(flags, found.item.meta.flags);
  Response response;
  response.extras = flags;
  if (with_key) response.key = key;
  response.cas = found.item.meta.cas;
  const bool with_value = op != BinaryOp::kTouch;
  append_header(header, response, with_value ? found.value.size() : 0, out);
  if (with_value) out.append_value(std::move(found.item.pin), found.value);
}

void Session::binary_store(const BinaryHeader& header, std::string_view extras,
                           std::string_view key, std::string_view value, Output& out) {
  StoreRequest store;
  const BinaryOp op = loud(header.opcode);
  store.mode = mode_of(op);
  if (!extras.empty()) {
    store.flags = load_u32(extras);
    store.expires_s = items_.expiry(load_u32(extras.substr(4)));
  }
  store.compare = header.cas != 0;
  store.cas = header.cas;
  // With a cas, add and replace are what set is with one, as in memcached.
  if (store.compare && !extras.empty()) store.mode = StoreMode::kSet;
  const ItemResult result = store_counted(key, value, store, out);
  if (result.status == ItemStatus::kOk) return succeed(header, result.cas, out);
  BinaryStatus status = status_of(result.status);
  if (result.status == ItemStatus::kNotStored && op == BinaryOp::kAdd) {
    status = BinaryStatus::kExists;
  } else if (result.status == ItemStatus::kNotStored && op == BinaryOp::kReplace) {
    status = BinaryStatus::kNotFound;
  }
  refuse(header, status, out);
}

void Session::binary_erase(const BinaryHeader& header, std::string_view key, Output& out) {
  const ItemStatus status = erase_counted(key, header.cas);
  if (status == ItemStatus::kOk) return succeed(header, 0, out);
  refuse(header, status_of(status), out);
}

void Session::binary_count(const BinaryHeader& header, std::string_view extras,
                           std::string_view key, Output& out) {
  ArithmeticRequest change;
  change.down = loud(header.opcode) == BinaryOp::kDecrement;
  change.delta = load_u64(extras);
  change.initial = load_u64(extras.substr(8));
  const uint32_t exptime = load_u32(extras.substr(16));
  change.create = exptime != kDoNotCreate;
  change.create_expires_s = items_.expiry(exptime);
  change.compare = header.cas != 0;
  change.cas = header.cas;
  const ItemResult result = count_counted(key, change, out);
  if (result.status != ItemStatus::kOk) return refuse(header, status_of(result.status), out);
  if (is_quiet(header.opcode)) return;
  std::string number;
  append_u64(number, result.number);
  Response response;
  response.value = number;
  response.cas = result.cas;
  respond(header, response, out);
}

void Session::binary_stats(const BinaryHeader& header, std::string_view group, Output& out) {
  std::string_view arguments = group;
  const std::string_view first = next_word(arguments);
  if (first == "reset") {
    service_.reset_totals();
  } else if (first == "detail") {
    const std::string_view what = next_word(arguments);
    if (what == "dump") {
      const std::string dump = service_.dump_detail();
      respond(header, {BinaryStatus::kOk, {}, "detailed", dump}, out);
    } else if (what == "on" || what == "off") {
      service_.set_detail(what == "on");
    } else {
      return refuse(header, BinaryStatus::kNotFound, out);
    }
  } else if (!visit_stats(service_, group, [&](std::string_view name, std::string_view value) {
               respond(header, {BinaryStatus::kOk, {}, name, value}, out);
             })) {
    return refuse(header, BinaryStatus::kNotFound, out);
  }
  respond(header, {}, out);
}

}  // namespace nvcache::server
