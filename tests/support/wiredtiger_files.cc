#include "support/wiredtiger_files.h"

namespace nvcache::wt_test {

const char* const kBuiltExtension = NVCACHE_WIREDTIGER_EXTENSION_PATH;
const char* const kSnappyExtension = NVCACHE_SNAPPY_PATH;

}  // namespace nvcache::wt_test
