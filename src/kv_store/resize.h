// Makes the file of a store fit another size, or larger items, and keeps what fits.
//
// The items are copied, oldest zone first, into a new file beside the old one, PATH.resizing, which
// then takes its name. Until that moment the old file is not changed: a crash or a full disk leaves
// it as it was. Costs the new size in disk space while it runs, and a copy of all items.
//
// Used by one thread, before the store is opened; the lock on the file keeps other processes away.
#pragma once

#include <string>

#include "kv_store/api/config.h"
#include "nvcache/kv_store.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Where the new file lies until it is whole.
std::string resizing_path(const std::string& path);

// Does nothing where there is no store yet, or where it fits. `progress` may be empty.
[[nodiscard]] StatusOr<KvResized> resize_kv_file(const KvConfig& wanted,
                                                 const KvResizeProgress& progress);

}  // namespace nvcache
