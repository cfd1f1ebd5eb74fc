// A client of the binary protocol: whatever frames it sends, the session reads no byte outside the
// received ones, and the answers do not depend on how the frames were cut into pieces. The target
// corrects the first byte of each frame, so that the fuzzer gets past it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/nvcached/protocol/binary_protocol.h"
#include "apps/nvcached/session_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nvcache::server::kBinaryHeaderBytes;
  if (size < 2) return 0;
  std::string frames(reinterpret_cast<const char*>(data) + 1, size - 1);
  frames.front() = static_cast<char>(nvcache::server::kBinaryRequest);
  for (size_t at = 0; at + kBinaryHeaderBytes <= frames.size();) {
    frames[at] = static_cast<char>(nvcache::server::kBinaryRequest);
    // Keeps lengths small, so that most frames fit the input.
    for (const size_t high : {2, 8, 9, 10}) frames[at + high] = 0;
    // Statistics contain the time; verbosity only changes the log.
    const auto opcode = static_cast<uint8_t>(frames[at + 1]);
    if (opcode == 0x10 || opcode == 0x1b) return 0;
    const auto header = nvcache::server::parse_binary_header(std::string_view(frames).substr(at));
    at += kBinaryHeaderBytes + header.body_bytes;
  }
  nvcache::server::SessionFixture whole;
  nvcache::server::SessionFixture split;
  const size_t at = data[0] * frames.size() / 255;
  const std::string_view text = frames;
  const std::string_view parts[] = {text.substr(0, at), text.substr(at)};
  if (whole.ask(text) != split.ask_in_parts(parts)) std::abort();
  return 0;
}
