// A request of the binary protocol, as clients send it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/nvcached/protocol/binary_protocol.h"

namespace nvcache::server {

inline std::string binary_frame(uint8_t opcode, std::string_view extras, std::string_view key,
                                std::string_view value, uint64_t cas = 0) {
  BinaryHeader header;
  header.opcode = opcode;
  header.extras_bytes = static_cast<uint8_t>(extras.size());
  header.key_bytes = static_cast<uint16_t>(key.size());
  header.body_bytes = static_cast<uint32_t>(extras.size() + key.size() + value.size());
  header.opaque = 0x01020304;
  header.cas = cas;
  std::string frame = format_binary_header(header);
  frame[0] = static_cast<char>(kBinaryRequest);
  return frame.append(extras).append(key).append(value);
}

}  // namespace nvcache::server
