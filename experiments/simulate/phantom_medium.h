// A medium without bytes, for simulations alone: what is written is forgotten, and what an access
// costs moves the clock on. A cache on it is asked for blocks that are never looked into: it must
// not verify them. 252 GB of it take address space and no memory; touching a byte of direct() ends
// the process, so that none can be taken for data.
//
// Costs are those of medium/cost_model.h, as of the emulated medium. Not thread-safe.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "medium/cost_model.h"
#include "medium/medium.h"

namespace nvcache::simulate {

class PhantomMedium final : public Medium {
 public:
  // `clock` must outlive the medium. RESOURCE_EXHAUSTED: no address space.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<PhantomMedium>> open(uint64_t size_bytes,
                                                                           const Profile& profile,
                                                                           Clock& clock);
  ~PhantomMedium() override;
  PhantomMedium(const PhantomMedium&) = delete;
  PhantomMedium& operator=(const PhantomMedium&) = delete;

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  // UNIMPLEMENTED: there is nothing to read.
  [[nodiscard]] absl::Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] absl::Status write(uint64_t offset, ByteView from) override;
  ByteView direct() const override { return {base_, size_bytes_}; }
  [[nodiscard]] absl::Status on_direct_read(Extent extent) override;
  [[nodiscard]] absl::Status resize(uint64_t size_bytes) override;

  // A write of the cache's own that is no block: metadata.
  void write_aside(uint64_t size_bytes);

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  PhantomMedium(const std::byte* base, uint64_t size_bytes, const Profile& profile, Clock& clock);

  const std::byte* const base_;
  const uint64_t size_bytes_;
  const Traits traits_;
  Clock& clock_;
  CostModel model_;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace nvcache::simulate
