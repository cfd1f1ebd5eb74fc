// A client of the text protocol and the meta commands: whatever it sends, the session reads no byte
// outside the received ones, and the answers do not depend on how the bytes were cut into pieces.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/nvcached/session_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (text.front() == '\x80') return 0;  // the binary protocol
  // Statistics contain the time; verbosity only changes the log.
  if (text.find("stats") != text.npos || text.find("verbosity") != text.npos) return 0;
  nvcache::server::SessionFixture whole;
  nvcache::server::SessionFixture split;
  const size_t at = data[0] * text.size() / 255;
  const std::string_view parts[] = {text.substr(0, at), text.substr(at)};
  if (whole.ask(text) != split.ask_in_parts(parts)) std::abort();
  return 0;
}
