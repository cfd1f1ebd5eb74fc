// Files as WiredTiger needs them: whole reads and writes at an offset, durable creation, locks,
// advice. Errors are errno values; 0 is none. Errors that may pass are tried again for half a
// second where a file is opened, examined, read or resized, as WiredTiger's own file system does.
// Thread-safe, except open and close.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/wiredtiger/retry.h"
#include "nvcache/bytes.h"

namespace nvcache {

struct PosixStat {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;
};

// A file descriptor, owned.
class PosixFile {
 public:
  // The result of a read that met the end of the file.
  static constexpr int kShortRead = -1;

  PosixFile() = default;
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() { (void)close(); }

  // `open_flags` as for open(2); close-on-exec always.
  [[nodiscard]] int open(const std::string& path, int open_flags);
  int close();

  // `done`: how many bytes were moved, also before an error.
  [[nodiscard]] int read(uint64_t offset, MutableBytes into, size_t* done) const;
  [[nodiscard]] int write(uint64_t offset, ByteView from, size_t* done) const;
  // After one error, every later call fails too: the kernel does not write what it dropped.
  [[nodiscard]] int sync();
  [[nodiscard]] int start_sync() const;  // begins to write back, does not wait
  [[nodiscard]] int truncate(uint64_t size_bytes) const;
  [[nodiscard]] int allocate_to(uint64_t size_bytes) const;  // ENOTSUP where it cannot
  [[nodiscard]] int stat(PosixStat* out) const;
  // Locks one byte at the start against other processes. EAGAIN or EACCES: another holds it.
  [[nodiscard]] int lock(bool exclusive) const;
  [[nodiscard]] int advise(uint64_t offset, uint64_t size_bytes, int advice) const;

 private:
  int descriptor_ = -1;
  FirstError sync_error_;
};

// Makes the names in a file's folder durable.
[[nodiscard]] int sync_folder_of(const std::string& path);
// The names in a folder that begin with `prefix`, at most `limit`.
[[nodiscard]] int list_folder(const std::string& path, const std::string& prefix, size_t limit,
                              std::vector<std::string>* names);
[[nodiscard]] int stat_path(const std::string& path, PosixStat* out);

}  // namespace nvcache
