// A medium without bytes, for simulations alone: what is written is forgotten, and what an access
// costs moves the clock on. Of blocks it can keep the first 8 bytes, their label, by which a reader
// checks that it found the block that it asked for. A cache on it is asked for blocks that are
// never looked into: it must not verify them. 252 GB of it take address space and no memory;
// touching a byte of direct() ends the process, so that none can be taken for data.
//
// Costs are those of medium/cost_model.h, as of the emulated medium. Not thread-safe.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "medium/cost_model.h"
#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class PhantomMedium final : public Medium {
 public:
  // `clock` must outlive the medium. With `block_bytes` no block is smaller, and the labels of
  // blocks are kept: 8 bytes each. RESOURCE_EXHAUSTED: no address space.
  [[nodiscard]] static StatusOr<std::unique_ptr<PhantomMedium>> open(uint64_t size_bytes,
                                                                     const Profile& profile,
                                                                     Clock& clock,
                                                                     uint64_t block_bytes = 0);
  ~PhantomMedium() override;
  PhantomMedium(const PhantomMedium&) = delete;
  PhantomMedium& operator=(const PhantomMedium&) = delete;

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  // UNIMPLEMENTED: there is nothing to read.
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  ByteView direct() const override { return {base_, size_bytes_}; }
  [[nodiscard]] Status on_direct_read(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

  // A write of the cache's own that is no block: metadata.
  void write_aside(uint64_t size_bytes);

  // Of a block of direct() whose label was kept.
  uint64_t label_of(ByteView block) const;

  // From now on a block is read in place: of it these parts, one after the other, and not the
  // whole.
  void read_parts(std::vector<uint64_t> part_bytes) { part_bytes_ = std::move(part_bytes); }
  // A read of the cache's own.
  void read_aside(uint64_t size_bytes);

  // From now on a write takes no time. The model of the writer takes the bytes that
  // are owed, and charges them by write_aside().
  void owe_writes() { owes_writes_ = true; }
  uint64_t take_owed_bytes() { return std::exchange(owed_bytes_, 0); }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  PhantomMedium(const std::byte* base, uint64_t size_bytes, const Profile& profile, Clock& clock,
                uint64_t block_bytes);

  const std::byte* const base_;
  const uint64_t size_bytes_;
  const Traits traits_;
  Clock& clock_;
  CostModel model_;
  const uint64_t block_bytes_;        // 0: no labels
  std::vector<uint64_t> labels_;      // by where a block begins: it is the only one to begin there
  std::vector<uint64_t> part_bytes_;  // empty: blocks are read whole
  bool owes_writes_ = false;
  uint64_t owed_bytes_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace nvcache::simulate
