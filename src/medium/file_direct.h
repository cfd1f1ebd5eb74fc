// io=direct of the file medium: see medium/file.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "medium/medium.h"
#include "medium/preallocated_file.h"
#include "medium/read_queues.h"
#include "nvcache/function_ref.h"

namespace nvcache {

// Units of direct I/O: what offsets, sizes and addresses are multiples of. Powers of two.
inline constexpr uint32_t kUsualDirectUnitBytes = 4096;
inline constexpr uint32_t kLargestDirectUnitBytes = 64 << 10;

// By trial, where the system does not tell: the smallest unit from the usual one on that works, or
// 0. A drive may have sectors of more than 4 KiB.
uint32_t smallest_direct_unit(FunctionRef<bool(uint32_t unit_bytes)> works);

class DirectFileMedium final : public Medium {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<Medium>> open(const std::string& path,
                                                              MediumOptions options);

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  TakenReadQueue take_read_queue() noexcept override { return queues_.take(); }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status drain() override;
  [[nodiscard]] Status discard(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  DirectFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes,
                   const Traits& traits);
  [[nodiscard]] Status check(uint64_t offset, const void* buffer, uint64_t length) const;

  const std::unique_ptr<PreallocatedFile> file_;
  std::atomic<uint64_t> size_bytes_;
  const Traits traits_;
  ReadQueues queues_;
};

}  // namespace nvcache
