// The caches of one process that lie in files or on block devices. Databases that give the same
// settings share one: a file cannot hold two caches, and the process has one device to fill,
// not one a database. They share its size, its admission and its statistics. Blocks stay right: a
// block is named by its file, and files have different paths.
//
// Caches in memory are not shared: two databases that ask for 1 GiB of DRAM each get it.
//
// Thread-safe. An open() waits for the end of a cache of the same file that is being closed.
#pragma once

#include <memory>

#include "block_cache/api/config.h"
#include "file_cache/file_block_cache.h"
#include "nvcache/status_or.h"

namespace nvcache {

// A new cache, or that of another database. INVALID_ARGUMENT if the settings do not suit
// WiredTiger, or if a database of this process has others for the same file; other errors are the
// medium's.
[[nodiscard]] StatusOr<std::shared_ptr<FileBlockCache>> open_shared_cache(const Config& config,
                                                                          OnWrite on_write);

}  // namespace nvcache
