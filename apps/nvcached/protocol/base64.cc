#include "apps/nvcached/protocol/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <climits>

namespace nvcache::server {

bool decode_base64(std::string_view text, std::string* bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0 || text.size() > INT_MAX) return false;
  bytes->clear();
  if (text.empty()) return true;
  // OpenSSL skips blanks, and takes the padding for zeros.
  const size_t letters = std::min(text.find_first_not_of(kLetters), text.size());
  const size_t padding = text.size() - letters;
  if (padding > 2 || text.substr(letters) != std::string_view("==").substr(0, padding))
    return false;
  bytes->resize(text.size() / 4 * 3);
  const int decoded = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes->data()),
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()));
  if (decoded < 0) return false;
  bytes->resize(static_cast<size_t>(decoded) - padding);
  return true;
}

}  // namespace nvcache::server
