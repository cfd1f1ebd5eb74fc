#include "apps/nvcached/session/binary_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/nvcached/protocol/words.h"
#include "apps/nvcached/service/stats_report.h"
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

Turn BinarySession::turn(std::string_view in, Output& out) {
  if (static_cast<uint8_t>(in[0]) != kBinaryRequest) return {0, Turn::kClose};
  if (in.size() < kBinaryHeaderBytes) return {0, Turn::kMore, kBinaryHeaderBytes};
  const BinaryHeader header = parse_binary_header({in.data(), in.size()});
  const BinaryOp op = loud(header.opcode);
  BinaryStatus status = check_binary_header(header);
  if (is_sasl(op) && !client_.settings().sasl) status = BinaryStatus::kUnknown;
  if (!may_ask(op)) {
    refuse(header, BinaryStatus::kUnauthorized, out);
    return {kBinaryHeaderBytes, Turn::kClose};
  }
  if (status != BinaryStatus::kOk) {
    refuse(header, status, out);
    // With such lengths, nobody knows where the request ends. A long mechanism's name is only that.
    const bool long_name = is_sasl(op) && header.body_bytes <= kMostSaslBytes;
    if (status == BinaryStatus::kInvalid && !long_name) return {kBinaryHeaderBytes, Turn::kClose};
    client_.skip(header.body_bytes, "");
    return {kBinaryHeaderBytes};
  }
  if (is_store(op) && !items_.fits(header.key_bytes, header.value_bytes())) {
    return refuse_too_large(header, in);
  }
  const size_t all_bytes = kBinaryHeaderBytes + header.body_bytes;
  if (in.size() < all_bytes) return {0, Turn::kMore, all_bytes};
  if (client_.service().verbosity() > 1) client_.log(fmt::format("binary 0x{:02x}", header.opcode));
  Turn turn = serve(header, in.substr(kBinaryHeaderBytes, header.body_bytes), out);
  turn.used = all_bytes;
  return turn;
}

// Before a client has authenticated, only this.
bool BinarySession::may_ask(BinaryOp op) const {
  return !client_.must_authenticate() || is_sasl(op) || op == BinaryOp::kVersion;
}

// SASL's PLAIN (RFC 4616): whom to act for, the user and the password, with a NUL between. PLAIN
// has one step, so that a second one is always wrong.
void BinarySession::authenticate(const BinaryHeader& header, std::string_view mechanism,
                                 std::string_view message, Output& out) {
  const auto [actor, rest] = split_once(message, '\0');
  const auto [user, password] = split_once(rest, '\0');
  const bool well_formed = loud(header.opcode) == BinaryOp::kSaslAuth &&
                           mechanism == kSaslMechanism && (actor.empty() || actor == user);
  if (client_.authenticate(well_formed, user, password)) {
    return respond(header, {BinaryStatus::kOk, {}, {}, "Authenticated"}, out);
  }
  refuse(header, BinaryStatus::kUnauthorized, out);
}

Turn BinarySession::refuse_too_large(const BinaryHeader& header, std::string_view in) {
  const size_t key_at = kBinaryHeaderBytes + header.extras_bytes;
  const size_t begun_bytes = key_at + header.key_bytes;
  if (in.size() < begun_bytes) return {0, Turn::kMore, begun_bytes};
  StoreRequest store;
  store.mode = mode_of(loud(header.opcode));
  client_.count_too_large({in.data() + key_at, header.key_bytes}, watched_name(store),
                          header.value_bytes(), store.mode == StoreMode::kSet);
  Output answer;
  refuse(header, BinaryStatus::kTooLarge, answer);
  client_.skip(header.value_bytes(), answer.text());
  return {begun_bytes};
}

Turn BinarySession::serve(const BinaryHeader& header, std::string_view body, Output& out) {
  const std::string_view extras(body.data(), header.extras_bytes);
  const std::string_view key(body.data() + extras.size(), header.key_bytes);
  const std::string_view value = body.substr(extras.size() + key.size());
  switch (loud(header.opcode)) {
    case BinaryOp::kGet:
    case BinaryOp::kGetK:
    case BinaryOp::kTouch:
    case BinaryOp::kGat:
    case BinaryOp::kGatK:
      get(header, extras, key, out);
      break;
    case BinaryOp::kSet:
    case BinaryOp::kAdd:
    case BinaryOp::kReplace:
    case BinaryOp::kAppend:
    case BinaryOp::kPrepend:
      store(header, extras, key, value, out);
      break;
    case BinaryOp::kDelete:
      erase(header, key, out);
      break;
    case BinaryOp::kIncrement:
    case BinaryOp::kDecrement:
      arithmetic(header, extras, key, out);
      break;
    case BinaryOp::kFlush:
      if (!client_.settings().flush_enabled) {
        refuse(header, BinaryStatus::kUnauthorized, out);
        break;
      }
      client_.counters().add(Count::kCmdFlush);
      if (client_.service().flush_at(extras.empty() ? 0 : int64_t{load_u32(extras)}).ok()) {
        succeed(header, 0, out);
      } else {
        refuse(header, BinaryStatus::kInternalError, out);
      }
      break;
    case BinaryOp::kVersion:
      respond(header, {BinaryStatus::kOk, {}, {}, client_.settings().version}, out);
      break;
    case BinaryOp::kVerbosity:
      client_.service().set_verbosity(static_cast<int>(std::min(load_u32(extras), 3u)));
      succeed(header, 0, out);
      break;
    case BinaryOp::kStat:
      stats(header, key, out);
      break;
    case BinaryOp::kSaslList:
      respond(header, {BinaryStatus::kOk, {}, {}, kSaslMechanism}, out);
      break;
    case BinaryOp::kSaslAuth:
    case BinaryOp::kSaslStep:
      authenticate(header, key, {value.data(), value.size()}, out);
      break;
    case BinaryOp::kQuit:
      succeed(header, 0, out);
      return {0, Turn::kQuit};
    default:
      succeed(header, 0, out);
  }
  return {};
}

void BinarySession::get(const BinaryHeader& header, std::string_view extras, std::string_view key,
                        Output& out) {
  const BinaryOp op = loud(header.opcode);
  const bool with_key = op == BinaryOp::kGetK || op == BinaryOp::kGatK;
  const bool touches = !extras.empty();
  Found found = client_.fetch(key);
  if (touches) {
    const ItemStatus status =
        found ? items_.touch(key, items_.expiry(load_u32(extras))) : ItemStatus::kNotFound;
    const bool touched = status == ItemStatus::kOk;
    client_.count_touch(touched);
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

void BinarySession::store(const BinaryHeader& header, std::string_view extras, std::string_view key,
                          std::string_view value, Output& out) {
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
  const ItemResult result = client_.store(key, value, store, out);
  if (result.status == ItemStatus::kOk) return succeed(header, result.cas, out);
  BinaryStatus status = status_of(result.status);
  if (result.status == ItemStatus::kNotStored && op == BinaryOp::kAdd) {
    status = BinaryStatus::kExists;
  } else if (result.status == ItemStatus::kNotStored && op == BinaryOp::kReplace) {
    status = BinaryStatus::kNotFound;
  }
  refuse(header, status, out);
}

void BinarySession::erase(const BinaryHeader& header, std::string_view key, Output& out) {
  const ItemStatus status = client_.erase(key, header.cas);
  if (status == ItemStatus::kOk) return succeed(header, 0, out);
  refuse(header, status_of(status), out);
}

void BinarySession::arithmetic(const BinaryHeader& header, std::string_view extras,
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
  const ItemResult result = client_.arithmetic(key, change, out);
  if (result.status != ItemStatus::kOk) return refuse(header, status_of(result.status), out);
  if (is_quiet(header.opcode)) return;
  std::string number;
  append_u64(number, result.number);
  Response response;
  response.value = number;
  response.cas = result.cas;
  respond(header, response, out);
}

void BinarySession::stats(const BinaryHeader& header, std::string_view group, Output& out) {
  std::string_view arguments = group;
  const std::string_view first = next_word(arguments);
  if (first == "reset") {
    client_.service().reset_totals();
  } else if (first == "detail") {
    const std::string_view what = next_word(arguments);
    if (what == "dump") {
      const std::string dump = client_.service().dump_detail();
      respond(header, {BinaryStatus::kOk, {}, "detailed", dump}, out);
    } else if (what == "on" || what == "off") {
      client_.service().set_detail(what == "on");
    } else {
      return refuse(header, BinaryStatus::kNotFound, out);
    }
  } else if (!visit_stats(client_.service(), group,
                          [&](std::string_view name, std::string_view value) {
                            respond(header, {BinaryStatus::kOk, {}, name, value}, out);
                          })) {
    return refuse(header, BinaryStatus::kNotFound, out);
  }
  respond(header, {}, out);
}

}  // namespace nvcache::server
