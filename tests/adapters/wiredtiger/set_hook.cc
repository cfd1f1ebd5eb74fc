// Makes a faulty extension: loading it sets the hook that NVCACHE_TEST_HOOK names.
#include "base/test_hooks.h"

namespace nvcache {
namespace {

[[maybe_unused]] const bool hook_is_set = test_hooks.NVCACHE_TEST_HOOK = true;

}  // namespace
}  // namespace nvcache
