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
  [[nodiscard]] static StatusOr<std::unique_ptr<BufferedFileMedium>> open(
      const std::string& path, const MediumOptions& options);

  const PreallocatedFile& file() const { return *file_; }

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status flush(Extent extent) override;
  [[nodiscard]] Status drain() override;
  [[nodiscard]] Status discard(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  BufferedFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes);
  [[nodiscard]] Status check(uint64_t offset, uint64_t length) const;

  const std::unique_ptr<PreallocatedFile> file_;
  std::atomic<uint64_t> size_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
