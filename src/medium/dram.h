// DRAM as a medium: anonymous memory, huge pages where the system grants them.
//
// Address space for the largest size is reserved at open; memory is taken page by
// page when it is first written, and given back when the medium shrinks. The
// system refuses address space at open (RESOURCE_EXHAUSTED), but memory itself
// only by its out-of-memory handling: size the cache to what the machine has.
//
// Thread-safe on disjoint extents. direct() spans the largest size and never
// moves; bytes past size_bytes() read as zero there and must not be relied on.
#pragma once

#include <atomic>

#include "medium/medium.h"

namespace nvcache {

class DramMedium final : public Medium {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<Medium>> open(const MediumOptions& options);
  ~DramMedium() override;
  DramMedium(const DramMedium&) = delete;
  DramMedium& operator=(const DramMedium&) = delete;

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  ByteView direct() const override { return {base_, max_size_bytes_}; }
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  DramMedium(std::byte* base, uint64_t size_bytes, uint64_t max_size_bytes);

  std::byte* const base_;
  const uint64_t max_size_bytes_;
  std::atomic<uint64_t> size_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
