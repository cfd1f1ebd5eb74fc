#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace nvcache {

void fail_assertion(const char* file, int line, const char* expression) {
  std::fprintf(stderr, "%s:%d: nvcache: '%s' does not hold\n", file, line, expression);
  std::abort();
}

}  // namespace nvcache
