// io=mmap of the file medium: see medium/file.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "medium/medium.h"
#include "medium/preallocated_file.h"

namespace nvcache {

class MappedFileMedium final : public Medium {
 public:
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Medium>> open(const std::string& path,
                                                                    const MediumOptions& options);
  ~MappedFileMedium() override;
  MappedFileMedium(const MappedFileMedium&) = delete;
  MappedFileMedium& operator=(const MappedFileMedium&) = delete;

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] absl::Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] absl::Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] absl::Status flush(Extent extent) override;
  [[nodiscard]] absl::Status drain() override;
  ByteView direct() const override { return {base_, file_->max_size_bytes()}; }
  [[nodiscard]] absl::Status on_direct_read(Extent extent) override;
  [[nodiscard]] absl::Status resize(uint64_t size_bytes) override;

 private:
  MappedFileMedium(std::unique_ptr<PreallocatedFile> file, std::byte* base, uint64_t size_bytes);

  const std::unique_ptr<PreallocatedFile> file_;
  std::byte* const base_;
  std::atomic<uint64_t> size_bytes_;
  const uint64_t page_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
