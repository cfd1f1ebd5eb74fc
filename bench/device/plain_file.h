// A file that is read and written without a cache and without the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "nvcache/status_or.h"

namespace nvcache::bench {

// Caller-locked. Removes its file.
class PlainFile {
 public:
  static constexpr uint64_t kPieceBytes = 1 << 20;

  // Writes it once, so that its blocks are there. Its space is rounded down to whole MiB.
  static StatusOr<PlainFile> make(const std::string& path, uint64_t size_bytes);
  ~PlainFile();
  PlainFile(PlainFile&& other) noexcept
      : path_(std::move(other.path_)),
        size_bytes_(other.size_bytes_),
        fd_(std::exchange(other.fd_, -1)),
        memory_(std::move(other.memory_)) {}
  PlainFile& operator=(PlainFile&&) = delete;

  // Seconds of writes of 1 MiB one after the other, from the start to the end, and a sync.
  StatusOr<double> write_seconds();
  // Reads 4 KiB at a multiple of 4 KiB.
  Status read(uint64_t block);
  uint64_t blocks() const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  PlainFile(std::string path, uint64_t size_bytes, int fd);

  std::string path_;
  uint64_t size_bytes_;
  int fd_;
  std::unique_ptr<std::byte, Free> memory_;
};

// Waits until all that was written to the file is durable.
Status sync_file(const std::string& path);

}  // namespace nvcache::bench
