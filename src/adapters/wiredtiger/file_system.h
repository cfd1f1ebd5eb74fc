// A complete POSIX file system for WiredTiger, with a block cache beside the reads and writes of
// its data files. Log and metadata files bypass the cache.
//
// It is complete because WiredTiger's own file system cannot be wrapped through the public
// interface: it does not exist yet when an early-load extension runs.
#pragma once

#include <functional>
#include <memory>

#include "file_cache/file_block_cache.h"
#include "wiredtiger.h"

namespace nvcache {

struct FileSystemOptions {
  // Log files are opened so that each write is durable: needed with WiredTiger's
  // transaction_sync=(method=dsync), which relies on it without telling the file system.
  bool log_dsync = false;
  std::function<void()> on_close;  // called when the connection has closed
};

// Makes `files` the file system of a connection that is being opened: call it from an
// early-load extension. 0, or WiredTiger's error. WiredTiger ends it when it closes;
// `files` may outlive that.
[[nodiscard]] int attach_file_system(WT_CONNECTION* connection,
                                     std::shared_ptr<FileBlockCache> files,
                                     FileSystemOptions options = {});

}  // namespace nvcache
