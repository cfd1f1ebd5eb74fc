#include "apps/nvcached/protocol/binary_protocol.h"

#include "apps/nvcached/protocol/key_parser.h"

namespace nvcache::server {
namespace {

uint64_t load(std::string_view in, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint8_t>(in[i]);
  return number;
}

void append(std::string& out, uint64_t number, size_t bytes) {
  while (bytes-- > 0) out.push_back(static_cast<char>(number >> (8 * bytes)));
}

}  // namespace

uint32_t load_u32(std::string_view in) { return static_cast<uint32_t>(load(in, 4)); }
uint64_t load_u64(std::string_view in) { return load(in, 8); }
void append_u32(std::string& out, uint32_t number) { append(out, number, 4); }
void append_u64(std::string& out, uint64_t number) { append(out, number, 8); }

std::string_view text_of(BinaryStatus status) {
  switch (status) {
    case BinaryStatus::kOk:
      return "";
    case BinaryStatus::kNotFound:
      return "Not found";
    case BinaryStatus::kExists:
      return "Data exists for key.";
    case BinaryStatus::kTooLarge:
      return "Too large.";
    case BinaryStatus::kInvalid:
      return "Invalid arguments";
    case BinaryStatus::kNotStored:
      return "Not stored.";
    case BinaryStatus::kNotNumeric:
      return "Non-numeric server-side value for incr or decr";
    case BinaryStatus::kUnauthorized:
      return "Auth failure.";
    case BinaryStatus::kUnknown:
      return "Unknown command";
    case BinaryStatus::kNoMemory:
      return "Out of memory";
    case BinaryStatus::kInternalError:
      return "Internal error";
  }
  return "";
}

BinaryHeader parse_binary_header(std::string_view in) {
  BinaryHeader header;
  header.opcode = static_cast<uint8_t>(in[1]);
  header.key_bytes = static_cast<uint16_t>(load(in.substr(2), 2));
  header.extras_bytes = static_cast<uint8_t>(in[4]);
  header.status = static_cast<uint16_t>(load(in.substr(6), 2));
  header.body_bytes = load_u32(in.substr(8));
  header.opaque = load_u32(in.substr(12));
  header.cas = load_u64(in.substr(16));
  return header;
}

std::string format_binary_header(const BinaryHeader& header) {
  std::string out;
  out.reserve(kBinaryHeaderBytes);
  append(out, kBinaryResponse, 1);
  append(out, header.opcode, 1);
  append(out, header.key_bytes, 2);
  append(out, header.extras_bytes, 1);
  append(out, 0, 1);
  append(out, header.status, 2);
  append(out, header.body_bytes, 4);
  append(out, header.opaque, 4);
  append(out, header.cas, 8);
  return out;
}

bool is_quiet(uint8_t opcode) {
  return opcode == 0x09 || opcode == 0x0d || (opcode >= 0x11 && opcode <= 0x1a) || opcode == 0x1e ||
         opcode == 0x24;
}

BinaryOp loud(uint8_t opcode) {
  switch (static_cast<BinaryOp>(opcode)) {
    case BinaryOp::kGetQ:
      return BinaryOp::kGet;
    case BinaryOp::kGetKQ:
      return BinaryOp::kGetK;
    case BinaryOp::kSetQ:
      return BinaryOp::kSet;
    case BinaryOp::kAddQ:
      return BinaryOp::kAdd;
    case BinaryOp::kReplaceQ:
      return BinaryOp::kReplace;
    case BinaryOp::kDeleteQ:
      return BinaryOp::kDelete;
    case BinaryOp::kIncrementQ:
      return BinaryOp::kIncrement;
    case BinaryOp::kDecrementQ:
      return BinaryOp::kDecrement;
    case BinaryOp::kQuitQ:
      return BinaryOp::kQuit;
    case BinaryOp::kFlushQ:
      return BinaryOp::kFlush;
    case BinaryOp::kAppendQ:
      return BinaryOp::kAppend;
    case BinaryOp::kPrependQ:
      return BinaryOp::kPrepend;
    case BinaryOp::kGatQ:
      return BinaryOp::kGat;
    case BinaryOp::kGatKQ:
      return BinaryOp::kGatK;
    default:
      return static_cast<BinaryOp>(opcode);
  }
}

BinaryStatus check_binary_header(const BinaryHeader& header) {
  const uint64_t fixed_bytes = uint64_t{header.key_bytes} + header.extras_bytes;
  const KeyFault fault = fault_of_key(header.key_bytes);
  if (fixed_bytes > header.body_bytes || fault == KeyFault::kTooLong) {
    return BinaryStatus::kInvalid;
  }
  const bool key = fault == KeyFault::kNone;
  const bool value = header.value_bytes() > 0;
  const uint8_t extras = header.extras_bytes;
  bool good = false;
  switch (loud(header.opcode)) {
    case BinaryOp::kGet:
    case BinaryOp::kGetK:
    case BinaryOp::kDelete:
      good = key && !value && extras == 0;
      break;
    case BinaryOp::kSet:
    case BinaryOp::kAdd:
    case BinaryOp::kReplace:
      good = key && extras == 8;
      break;
    case BinaryOp::kAppend:
    case BinaryOp::kPrepend:
      good = key && extras == 0;
      break;
    case BinaryOp::kIncrement:
    case BinaryOp::kDecrement:
      good = key && !value && extras == 20;
      break;
    case BinaryOp::kTouch:
    case BinaryOp::kGat:
    case BinaryOp::kGatK:
      good = key && !value && extras == 4;
      break;
    case BinaryOp::kFlush:
      good = !key && !value && (extras == 0 || extras == 4);
      break;
    case BinaryOp::kVerbosity:
      // memcached does not know this command, and answers so.
      return !key && !value && extras == 4 ? BinaryStatus::kOk : BinaryStatus::kUnknown;
    case BinaryOp::kStat:
      good = !value && extras == 0;
      break;
    case BinaryOp::kSaslList:
      good = !key && !value && extras == 0;
      break;
    case BinaryOp::kSaslAuth:
    case BinaryOp::kSaslStep:
      // A longer name is no mechanism's, and the rest is a user and a password.
      if (header.key_bytes > kMostMechanismBytes) return BinaryStatus::kInvalid;
      good = key && extras == 0 && header.body_bytes <= kMostSaslBytes;
      break;
    case BinaryOp::kQuit:
    case BinaryOp::kNoop:
    case BinaryOp::kVersion:
      good = !key && !value && extras == 0;
      break;
    default:
      return BinaryStatus::kUnknown;
  }
  return good ? BinaryStatus::kOk : BinaryStatus::kInvalid;
}

}  // namespace nvcache::server
