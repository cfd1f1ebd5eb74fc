// A file that outlives its store: mapped for loads and stores, its space allocated at the
// opening, never removed. An exclusive lock keeps a second store away.
//
// On a DAX file system flush() writes cache lines back and drain() fences (kv/dax_map.h). On
// any other file system the bytes lie in the page cache: they survive the process as they are,
// so that with `power` off flush() and drain() do nothing; with it on, drain() is an
// fdatasync(). sync_all() reaches the disk in either case.
//
// A file that somebody else truncates kills the process with SIGBUS, as any mapping would.
// Thread-safe on disjoint extents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kv_store/dax_map.h"
#include "medium/medium.h"

namespace nvcache {

class KeptFile final : public Medium {
 public:
  enum class Power { kAuto, kOff, kOn };

  // Creates the file with mode 0600 where there is none; FAILED_PRECONDITION if it is
  // locked, or neither empty nor `size_bytes` long: nothing is changed then.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<KeptFile>> open(const std::string& path,
                                                                      uint64_t size_bytes,
                                                                      Power power);
  ~KeptFile() override;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] absl::Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] absl::Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] absl::Status flush(Extent extent) override;
  [[nodiscard]] absl::Status drain() override;
  ByteView direct() const override { return {base_, size_bytes_}; }
  [[nodiscard]] absl::Status resize(uint64_t size_bytes) override;

  // True if what was flushed and drained survives a loss of power.
  bool survives_power() const { return power_; }
  [[nodiscard]] absl::Status sync_all();
  // The same for the pages of an extent alone.
  [[nodiscard]] absl::Status sync(Extent extent);

 private:
  KeptFile(int fd, std::string path, std::unique_ptr<DaxMap> dax, std::byte* base,
           uint64_t size_bytes, bool power);

  const int fd_;
  const std::string path_;
  const std::unique_ptr<DaxMap> dax_;  // null on any other file system
  std::byte* const base_;
  const uint64_t size_bytes_;
  const bool power_;
  const Traits traits_;
};

}  // namespace nvcache
