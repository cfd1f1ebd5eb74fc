// The queue of an emulated medium: each read is charged when it begins, so that the model says how
// they overlap, and is done when the model says so and its bytes are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "medium/emulated.h"
#include "medium/read_queue.h"

namespace nvcache {

class EmulatedQueue final : public ReadQueue {
 public:
  // `inner`: of the medium beneath; null where that reads one after the other.
  EmulatedQueue(EmulatedMedium& medium, TakenReadQueue inner)
      : medium_(medium), inner_(std::move(inner)) {}

 private:
  struct Flight {
    uint64_t done_ns = 0;  // by the model
    bool arrived = false;  // its bytes are there, and the model may not be done
  };

  void begin(Slot slot, QueuedRead& read) override;
  void begin_no_more() override;
  void reap(bool wait) override;
  void take_arrived(bool wait);
  uint64_t finish_until(uint64_t now_ns);

  EmulatedMedium& medium_;
  const TakenReadQueue inner_;
  std::array<Flight, kDepth> flights_{};        // by slot
  std::array<QueuedRead, kDepth> inner_reads_;  // likewise: of the medium beneath
  std::array<QueuedRead*, kDepth> begun_{};
  size_t begun_count_ = 0;
};

}  // namespace nvcache
