#include "nvcache/verdict.h"

namespace nvcache {

std::string_view reason_name(Reason reason) {
  switch (reason) {
#define NVCACHE_REASON(enumerator, name, why) \
  case Reason::enumerator:                    \
    return name;
    NVCACHE_REASONS(NVCACHE_REASON)
#undef NVCACHE_REASON
  }
  return "unknown";
}

}  // namespace nvcache
