// Keys, as all three protocols parse them: where a key ends and how long it may be. The protocols
// differ only in how they answer a fault. Pure; views point into the caller's bytes.
//
// A key of the text and meta commands is a word of the line; in a meta command it may be sent as
// base64. The binary protocol gives the length in the header, and its keys may hold any bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/nvcached/protocol/words.h"
#include "nvcache/kv_store.h"

namespace nvcache::server {

inline constexpr size_t kMaxKeyBytes = kMaxKvKeyBytes;

enum class KeyFault : uint8_t { kNone, kMissing, kTooLong, kNotBase64 };

constexpr KeyFault fault_of_key(size_t key_bytes) {
  if (key_bytes == 0) return KeyFault::kMissing;
  return key_bytes > kMaxKeyBytes ? KeyFault::kTooLong : KeyFault::kNone;
}

struct Key {
  std::string_view bytes;
  KeyFault fault = KeyFault::kMissing;

  bool good() const { return fault == KeyFault::kNone; }
};

// Cuts the next key off a complete line.
inline Key next_key(std::string_view& line) {
  const std::string_view word = next_word(line);
  return {word, fault_of_key(word.size())};
}

// Decodes a key that was sent as base64 into `storage`. memcached requires the padding.
Key decode_key(std::string_view sent, std::string& storage);

// A key of a line that may not have arrived whole, such as a get of very many keys.
struct StreamedKey {
  Key key;
  bool complete = false;  // false: more bytes are needed to know where the key ends
  bool last = false;      // the end of the line follows, and is part of `used`
  // The bytes up to the next key; without `complete`, the blanks before this one.
  size_t used = 0;
};
// With kTooLong and not `complete`, no key that starts here can be good.
StreamedKey next_streamed_key(std::string_view in);

}  // namespace nvcache::server
