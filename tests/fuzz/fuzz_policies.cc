// The policy parsers. A policy that parses must describe itself, and parse again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nvcache::AdmissionContext context = {.cache_size_bytes = 1 << 20, .seed = 1};
  const auto admission = nvcache::make_admission(text, context);
  if (admission.ok()) {
    const std::string described = (*admission)->describe();
    const auto again = nvcache::make_admission(described, context);
    if (!again.ok() || (*again)->describe() != described) std::abort();
    (*admission)->admit({}, {});
  }
  const auto eviction = nvcache::make_eviction(text, {.max_slots = 16});
  if (!eviction.ok() && eviction.status().message().empty()) std::abort();
  return 0;
}
