// The time of the event that is carried out. A wait within it moves it on: by how much is what the
// event costs. The next event begins at its own time, which may be earlier. Caller-locked.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace nvcache::simulate {

class EventClock final : public Clock {
 public:
  uint64_t now_ns() const override { return now_ns_; }
  void wait_until_ns(uint64_t when_ns) override { now_ns_ = std::max(now_ns_, when_ns); }
  void begin_event(uint64_t now_ns) { now_ns_ = now_ns; }

 private:
  uint64_t now_ns_ = 0;
};

}  // namespace nvcache::simulate
