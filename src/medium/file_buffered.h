// A file read and written through its descriptor and the page cache: see medium/file.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "medium/medium.h"
#include "medium/preallocated_file.h"

namespace nvcache {

// Thread-safe on disjoint extents. resize() must not run beside itself.
class BufferedFileMedium final : public Medium {
 public:
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<BufferedFileMedium>> open(
      const std::string& path, const MediumOptions& options);

  const PreallocatedFile& file() const { return *file_; }

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] absl::Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] absl::Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] absl::Status flush(Extent extent) override;
  [[nodiscard]] absl::Status drain() override;
  [[nodiscard]] absl::Status discard(Extent extent) override;
  [[nodiscard]] absl::Status resize(uint64_t size_bytes) override;

 private:
  BufferedFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes);
  [[nodiscard]] absl::Status check(uint64_t offset, uint64_t length) const;

  const std::unique_ptr<PreallocatedFile> file_;
  std::atomic<uint64_t> size_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
