// memcached's binary protocol: 24-byte headers in network order, then extras, key and value.
// Checks what each opcode's request may carry. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nvcache::server {

inline constexpr uint8_t kBinaryRequest = 0x80;
inline constexpr uint8_t kBinaryResponse = 0x81;
inline constexpr size_t kBinaryHeaderBytes = 24;
inline constexpr size_t kMostMechanismBytes = 32;  // of a SASL mechanism's name, as in memcached
inline constexpr size_t kMostSaslBytes = 1024;     // of a SASL request's body

enum class BinaryOp : uint8_t {
  kGet = 0x00,
  kSet = 0x01,
  kAdd = 0x02,
  kReplace = 0x03,
  kDelete = 0x04,
  kIncrement = 0x05,
  kDecrement = 0x06,
  kQuit = 0x07,
  kFlush = 0x08,
  kGetQ = 0x09,
  kNoop = 0x0a,
  kVersion = 0x0b,
  kGetK = 0x0c,
  kGetKQ = 0x0d,
  kAppend = 0x0e,
  kPrepend = 0x0f,
  kStat = 0x10,
  kSetQ = 0x11,
  kAddQ = 0x12,
  kReplaceQ = 0x13,
  kDeleteQ = 0x14,
  kIncrementQ = 0x15,
  kDecrementQ = 0x16,
  kQuitQ = 0x17,
  kFlushQ = 0x18,
  kAppendQ = 0x19,
  kPrependQ = 0x1a,
  kVerbosity = 0x1b,
  kTouch = 0x1c,
  kGat = 0x1d,
  kGatQ = 0x1e,
  kSaslList = 0x20,
  kSaslAuth = 0x21,
  kSaslStep = 0x22,
  kGatK = 0x23,
  kGatKQ = 0x24,
};

enum class BinaryStatus : uint16_t {
  kOk = 0x00,
  kNotFound = 0x01,
  kExists = 0x02,
  kTooLarge = 0x03,
  kInvalid = 0x04,
  kNotStored = 0x05,
  kNotNumeric = 0x06,
  kUnauthorized = 0x20,
  kUnknown = 0x81,
  kNoMemory = 0x82,
  kInternalError = 0x84,
};
std::string_view text_of(BinaryStatus status);

struct BinaryHeader {
  uint8_t opcode = 0;
  uint8_t extras_bytes = 0;
  uint16_t key_bytes = 0;
  uint16_t status = 0;  // of a response; in a request, the vbucket
  uint32_t body_bytes = 0;
  uint32_t opaque = 0;
  uint64_t cas = 0;

  uint64_t value_bytes() const { return body_bytes - key_bytes - extras_bytes; }
};

// `in` holds at least kBinaryHeaderBytes. Does not check the first byte.
BinaryHeader parse_binary_header(std::string_view in);
// The header of a response.
std::string format_binary_header(const BinaryHeader& header);

// Quiet opcodes answer only when something went wrong (a quiet get: only when it hits).
bool is_quiet(uint8_t opcode);
// The opcode that does the same and always answers. Leaves unknown opcodes as they are.
BinaryOp loud(uint8_t opcode);

// kOk; kInvalid if the opcode does not allow these lengths; kUnknown.
BinaryStatus check_binary_header(const BinaryHeader& header);

uint32_t load_u32(std::string_view in);
uint64_t load_u64(std::string_view in);
void append_u32(std::string& out, uint32_t number);
void append_u64(std::string& out, uint64_t number);

}  // namespace nvcache::server
