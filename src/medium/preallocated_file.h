// A file whose space is allocated at open, and that no other opener shares: what
// both file media stand on.
//
// - A path that is a directory means the file nvcache.blocks in it.
// - A file that is not there is created with mode 0600, and removed at close unless
//   MediumOptions::keep_file says otherwise; one that was there (empty, all zeros, or
//   left behind by a crash) is kept, its contents overwritten. FAILED_PRECONDITION if it
//   holds data that is not a cache's (file_mark.h). Only regular files: never a device.
// - With keep_file, whose content is believed at the next opening, it belongs to the user that
// opens
//   it, and other users have no rights: file_owner.h.
// - An exclusive lock (open file description lock) is held while open: a second
//   opener, in this process or another, gets FAILED_PRECONDITION naming the path.
// - A child of the process does not have it: its descriptor refuses there, and neither keeps the
// lock
//   nor lets the child change what is its parent's (base/descriptors.h).
// - Space for `size_bytes` is allocated at open: RESOURCE_EXHAUSTED names path and
//   sizes when there is not enough. The length is set to max_size_bytes and
//   the mark at once and never reduced, so that a mapping of it stays valid; resize() allocates
//   space or punches a hole. Copy-on-write file systems (btrfs, snapshots) may
//   still run out of space later: a write then fails, it does not crash.
//
// read/write/check are thread-safe; resize as the caller's medium promises.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/home_process.h"
#include "medium/medium.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

class PreallocatedFile {
 public:
  // The file that a path means: in a directory, nvcache.blocks.
  static std::string file_of(const std::string& path);
  // `open_flags` are added to O_RDWR: O_DIRECT or 0.
  [[nodiscard]] static StatusOr<std::unique_ptr<PreallocatedFile>> open(
      const std::string& path, const MediumOptions& options, int open_flags);
  ~PreallocatedFile();
  PreallocatedFile(const PreallocatedFile&) = delete;
  PreallocatedFile& operator=(const PreallocatedFile&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  uint64_t max_size_bytes() const { return max_size_bytes_; }

  // All bytes or an error. A file that another program cut short is UNAVAILABLE.
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) const;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) const;

  // UNAVAILABLE if the file is shorter than it was made: it was truncated.
  [[nodiscard]] Status check_length() const;

  // Allocates [0, size_bytes), or frees [size_bytes, old_size_bytes).
  [[nodiscard]] Status allocate(uint64_t size_bytes);
  [[nodiscard]] Status free_tail(uint64_t size_bytes, uint64_t old_size_bytes);
  // Frees an extent in the middle. UNIMPLEMENTED where the file system cannot.
  [[nodiscard]] Status free_extent(Extent extent);

 private:
  PreallocatedFile(int fd, std::string path, bool created)
      : fd_(fd), path_(std::move(path)), created_(created) {}
  [[nodiscard]] Status lock();
  [[nodiscard]] Status prepare(const MediumOptions& options);
  bool still_at_path() const;

  const HomeProcess home_;
  const int fd_;
  const std::string path_;
  const bool created_;  // by us: removed at close
  bool keep_ = false;   // all the same
  bool locked_ = false;
  uint64_t max_size_bytes_ = 0;
};

}  // namespace nvcache
