#include "apps/nvcached/protocol/key_parser.h"

#include <algorithm>

#include "apps/nvcached/protocol/base64.h"

namespace nvcache::server {

Key decode_key(std::string_view sent, std::string& storage) {
  if (!decode_base64(sent, &storage)) return {{}, KeyFault::kNotBase64};
  return {storage, fault_of_key(storage.size())};
}

StreamedKey next_streamed_key(std::string_view in) {
  const size_t begin = std::min(in.find_first_not_of(' '), in.size());
  const size_t end = in.find_first_of(" \n", begin);
  if (end == std::string_view::npos) {
    // A carriage return may follow the longest key.
    const bool too_long = in.size() - begin > kMaxKeyBytes + 1;
    return {.key = {{}, too_long ? KeyFault::kTooLong : KeyFault::kMissing}, .used = begin};
  }
  const bool last = in[end] == '\n';
  std::string_view word = in.substr(begin, end - begin);
  if (last && word.ends_with('\r')) word.remove_suffix(1);
  return {{word, fault_of_key(word.size())}, /*complete=*/true, last, end + 1};
}

}  // namespace nvcache::server
