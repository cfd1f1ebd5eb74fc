// Base64 (RFC 4648, section 4) of what clients send: keys, and passwords for the metrics port.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace nvcache::server {

// False, and `bytes` is undefined, unless `text` is base64 with its padding and nothing else.
[[nodiscard]] bool decode_base64(std::string_view text, std::string* bytes);

}  // namespace nvcache::server
