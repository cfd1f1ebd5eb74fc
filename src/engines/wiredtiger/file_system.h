// A complete POSIX file system for WiredTiger with a block cache beside the reads
// and writes of its data files. Log and metadata files pass by.
//
// WiredTiger's own file system cannot be wrapped through its public interface (it is
// not there yet when an early-load extension runs), hence all of it here.
#pragma once

#include <functional>
#include <memory>

#include "cache/file_block_cache.h"
#include "wiredtiger.h"

namespace nvcache {

// Makes `files` the file system of a connection that is being opened: call it from an
// early-load extension. 0, or WiredTiger's error. WiredTiger ends it when it closes,
// and `on_close` is called then; `files` may outlive that.
[[nodiscard]] int attach_file_system(WT_CONNECTION* connection,
                                     std::shared_ptr<FileBlockCache> files,
                                     std::function<void()> on_close = {});

}  // namespace nvcache
