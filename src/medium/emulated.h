// A decorator that makes any medium cost what another kind of memory would: it
// passes every access on to the inner medium and makes the caller wait until the
// time at which the emulated medium would have been done. Not a measurement of
// hardware: traits().name says "emulated:" wherever a figure is shown.
//
// Model and units: medium/cost_model.h, medium/profiles.h and docs/design/model.md.
// The wait starts when the access starts, so that what the inner medium takes
// counts as part of it: an access costs the larger of the two. A read in place
// (on_direct_read) pays the model first and the inner memory's own time after.
// flush() keeps the core busy for each line, drain() waits until the calling thread's
// flushes are accepted. Stores to direct() are charged by on_direct_write(), for those
// that are not flushed; a store that is not announced costs nothing.
// Reads of a queue are charged when they begin, and the model overlaps them.
// Real time: waits spin (base/clock.h). The model's own cost, some 70 ns a call, is
// part of the wait and shows only where the emulated time is shorter.
// `load`: how many clients each caller stands for (medium/cost_model.h).
//
// Thread-safe on disjoint extents. No lock is held during a wait or an access.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "medium/cost_model.h"
#include "medium/medium.h"
#include "medium/read_queue.h"

namespace nvcache {

class EmulatedMedium final : public Medium {
 public:
  // `clock` must outlive the medium.
  EmulatedMedium(const Profile& profile, std::unique_ptr<Medium> inner, Clock& clock,
                 double load = 1);

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  TakenReadQueue take_read_queue() noexcept override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status flush(Extent extent) override;
  [[nodiscard]] Status drain() override;
  ByteView direct() const override;
  [[nodiscard]] Status on_direct_read(Extent extent) override;
  void on_direct_write(Extent extent) override;
  [[nodiscard]] Status discard(Extent extent) override;  // charges nothing
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  friend class EmulatedQueue;

  uint64_t charge_read(uint64_t size_bytes);
  uint64_t charge_write(uint64_t size_bytes);
  [[nodiscard]] Status check(uint64_t offset, const void* buffer, uint64_t length) const;

  const std::unique_ptr<Medium> inner_;
  Clock& clock_;
  const Traits traits_;
  const uint64_t fence_ns_;
  // When the last flush of a thread is accepted; threads may share an entry, and then
  // wait for each other's.
  static constexpr uint32_t kFlushers = 64;
  std::array<std::atomic<uint64_t>, kFlushers> accepted_ns_{};
  Mutex mutex_;
  CostModel model_ NVCACHE_GUARDED_BY(mutex_);
  KeptReadQueues kept_queues_;
};

}  // namespace nvcache
