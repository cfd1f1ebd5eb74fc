// The memory that a key-value store of a simulation lies in: bytes in DRAM, and costs by
// medium/cost_model.h, which move the clock of the event on. As the emulated medium, but for
// clients that are tasks of one thread: a drain waits for the flushes of its own event alone. Not
// thread-safe.
#pragma once

#include <memory>

#include "experiments/simulate/event_clock.h"
#include "medium/cost_model.h"
#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class StoreMemory final : public Medium {
 public:
  // `profile` is of memory that stores reach. `clock` must outlive the medium. RESOURCE_EXHAUSTED:
  // no memory.
  [[nodiscard]] static StatusOr<std::unique_ptr<StoreMemory>> open(uint64_t size_bytes,
                                                                   const Profile& profile,
                                                                   EventClock& clock);

  // The accesses that follow are another client's, at that time.
  void begin_event(uint64_t now_ns);

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status flush(Extent extent) override;
  [[nodiscard]] Status drain() override;
  ByteView direct() const override { return inner_->direct(); }
  [[nodiscard]] Status on_direct_read(Extent extent) override;
  void on_direct_write(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  StoreMemory(const Profile& profile, std::unique_ptr<Medium> inner, EventClock& clock);

  const std::unique_ptr<Medium> inner_;
  const Traits traits_;
  EventClock& clock_;
  const uint64_t fence_ns_;
  CostModel model_;
  uint64_t accepted_ns_ = 0;  // when the flushes of the event are
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;  // flushed, or stored without a flush
};

}  // namespace nvcache::simulate
