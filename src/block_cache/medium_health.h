// Counts a medium's errors, and gives up on a medium that fails again and again.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "block_cache/counters.h"

namespace nvcache {

// Thread-safe. Costs a load where all goes well.
class MediumHealth {
 public:
  static constexpr uint32_t kErrorsToFail = 16;  // in a row

  explicit MediumHealth(Counters& counters) : counters_(counters) {}

  // Takes the result of an access.
  void note(const absl::Status& status) {
    if (status.ok()) {
      if (errors_in_row_.load(std::memory_order_relaxed) != 0) {
        errors_in_row_.store(0, std::memory_order_relaxed);
      }
      return;
    }
    counters_.add(Count::kMediumErrors, 1);
    if (errors_in_row_.fetch_add(1, std::memory_order_relaxed) + 1 >= kErrorsToFail) {
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  // Whether the medium is switched off. It stays so.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  Counters& counters_;
  std::atomic<uint32_t> errors_in_row_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace nvcache
