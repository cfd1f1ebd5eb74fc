#include "support/checkout.h"

namespace nvcache {

std::string checkout_folder() { return NVCACHE_SOURCE_DIR; }

}  // namespace nvcache
