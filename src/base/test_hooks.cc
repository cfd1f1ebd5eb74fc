#include "base/test_hooks.h"

namespace nvcache {

constinit TestHooks test_hooks;

}  // namespace nvcache
