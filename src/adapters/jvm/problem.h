// How a part that refuses says why: by a function that is called with a sentence. No string crosses
// between the parts (boundary.h). A plain struct.
#pragma once

#include <cstddef>

namespace nvcache::jvm {

struct Problem {
  void* to = nullptr;
  // `text` is not ended by a zero, and lives as long as the call.
  void (*tell)(void* to, const char* text, size_t text_bytes) = nullptr;
};

}  // namespace nvcache::jvm
