// The medium parser. Specifications that name a file are left out: opening is not parsing.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/clock.h"
#include "medium/medium.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("file") != std::string_view::npos) return 0;
  const auto medium = nvcache::open_medium(text, {.size_bytes = 1 << 16, .max_size_bytes = 1 << 16},
                                           nvcache::system_clock());
  if (medium.ok() && (*medium)->size_bytes() != 1 << 16) std::abort();
  return 0;
}
