// One file that WiredTiger has open: a POSIX file and, for a data file, its part of the cache.
// A read of a whole block is looked up, and offered on a miss. A write always goes to disk, and
// outdates every cached block that it overlaps.
#pragma once

#include <memory>
#include <string>

#include "adapters/wiredtiger/error_report.h"
#include "adapters/wiredtiger/posix_file.h"
#include "file_cache/file_block_cache.h"
#include "wiredtiger.h"

namespace nvcache {

// WiredTiger calls it through WT_FILE_HANDLE, from many threads.
class FileHandle final : public WT_FILE_HANDLE {
 public:
  // All handles of a file system share it; it outlives them.
  struct Home {
    WT_FILE_SYSTEM* system;
    FileBlockCache& files;
    const ErrorReport& report;
  };

  // Opens as WT_FILE_SYSTEM::fs_open_file is asked to, with `more_flags` of open(2) added;
  // errno, or 0 and *handle.
  static int open(const Home& home, WT_SESSION* session, const std::string& path,
                  WT_FS_OPEN_FILE_TYPE type, uint32_t flags, int more_flags,
                  WT_FILE_HANDLE** handle);

 private:
  FileHandle(const Home& home, std::string path);

  int read(WT_SESSION* session, uint64_t offset, MutableBytes into);
  int write(WT_SESSION* session, uint64_t offset, ByteView from);
  int truncate(WT_SESSION* session, uint64_t size_bytes);
  int extend(WT_SESSION* session, uint64_t size_bytes);
  int close_file(WT_SESSION* session);
  int failed(WT_SESSION* session, int error, const std::string& what) const;
  FileIdentity identity() const;
  void set_methods();

  const Home home_;
  std::string path_;
  PosixFile file_;
  std::shared_ptr<CachedFile> cached_;  // of data files
};

}  // namespace nvcache
