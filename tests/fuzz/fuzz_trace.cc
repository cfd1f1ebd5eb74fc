// The decoders of traces. The first byte chooses the format, the second in which pieces the rest
// comes. Pieces must not matter.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/trace/formats.h"
#include "base/prng.h"

namespace {

struct Decoded {
  uint64_t accesses = 0;
  uint64_t hash = 0;   // of all of them, in order
  bool whole = false;  // all bytes were accesses

  bool operator==(const Decoded&) const = default;
};

// The accesses of `text` as it comes in such pieces, up to the first that is none.
Decoded decode(const nvcache::TraceFormat& format, std::string_view text, size_t piece_bytes) {
  const auto decoder = format.make({});
  if (!decoder.ok()) std::abort();
  Decoded decoded;
  std::string waiting;
  std::vector<nvcache::Access> accesses;
  for (bool last = false, stopped = false; !last || stopped;) {
    if (!stopped) {
      waiting += text.substr(0, piece_bytes);
      text.remove_prefix(std::min(piece_bytes, text.size()));
      last = text.empty();
    }
    accesses.clear();
    const auto taken = (*decoder)->decode(waiting, last, &accesses);
    decoded.accesses += accesses.size();
    for (const nvcache::Access& access : accesses) {
      decoded.hash = nvcache::mix64(decoded.hash ^ access.key) + access.size_bytes;
    }
    if (!taken.ok()) return decoded;
    if (*taken > waiting.size()) std::abort();
    waiting.erase(0, *taken);
    stopped = accesses.size() >= nvcache::Decoder::kEnoughAccesses;
  }
  decoded.whole = waiting.empty();
  return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 2048) return 0;
  const auto formats = nvcache::trace_formats();
  const nvcache::TraceFormat& format = formats[data[0] % formats.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (decode(format, text, size) != decode(format, text, 1 + data[1])) std::abort();
  return 0;
}
