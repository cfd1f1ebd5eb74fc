// Counts a medium's errors. Switches a medium off that fails too often, and tries it again later.
//
//   on        Errors and successes are counted once there was an error. Both counts are halved
//             after 64 accesses. 16 errors that are at least half of the accesses switch it off.
//   off       Nothing is asked of the medium, until the time of the next probe.
//   probing   One caller may access the medium. If the access succeeds, the medium is on again; if
//             it fails, the wait doubles, from 1 s up to 64 s. A caller that never accesses the
//             medium leaves the next probe to another, after the same wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "base/clock.h"
#include "block_cache/counters.h"

namespace nvcache {

// Thread-safe. Costs a load where all goes well. The clock must outlive it.
class MediumHealth {
 public:
  static constexpr uint32_t kErrorsToFail = 16;
  static constexpr uint32_t kAccessesToHalve = 64;
  static constexpr uint64_t kFirstWaitNs = 1'000'000'000;
  static constexpr uint64_t kLongestWaitNs = 64 * kFirstWaitNs;

  MediumHealth(Counters& counters, Clock& clock) : counters_(counters), clock_(clock) {}

  // Takes the result of an access.
  void note(const absl::Status& status) {
    if (status.ok()) {
      if (trouble_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        note_success();
      return;
    }
    counters_.add(Count::kMediumErrors, 1);
    note_error();
  }

  // Whether the medium is switched off. A probe does not change that, only its success does.
  bool off() const { return state_.load(std::memory_order_relaxed) != State::kOn; }

  // Whether a caller could be given an access now; claims nothing.
  bool open() const { return !off() || probe_is_due(); }

  // Whether the caller may access the medium now. Where that is a probe, no other caller may.
  bool may_access() {
    if (!off()) [[likely]]
      return true;
    uint64_t due_ns = probe_ns_.load(std::memory_order_relaxed);
    const uint64_t now_ns = clock_.now_ns();
    if (now_ns < due_ns) return false;
    if (!probe_ns_.compare_exchange_strong(due_ns, now_ns + wait_ns_.load())) return false;
    State off = State::kOff;
    state_.compare_exchange_strong(off, State::kProbing);
    return true;
  }

 private:
  enum class State : uint8_t { kOn, kOff, kProbing };

  // Both counts in one word. Its bit 63 stays set until the medium is on and both are 0.
  static constexpr uint64_t kIsOff = uint64_t{1} << 63;
  static uint64_t pack(uint64_t errors, uint64_t accesses) { return errors << 16 | accesses; }

  bool probe_is_due() const { return clock_.now_ns() >= probe_ns_.load(std::memory_order_relaxed); }

  void note_success() {
    State probing = State::kProbing;
    if (state_.compare_exchange_strong(probing, State::kOn)) {
      wait_ns_.store(kFirstWaitNs);
      trouble_.store(0);
      return;
    }
    if (probing == State::kOn) (void)count(0);
  }

  void note_error() {
    State probing = State::kProbing;
    if (state_.compare_exchange_strong(probing, State::kOff)) {
      const uint64_t wait_ns = std::min(2 * wait_ns_.load(), kLongestWaitNs);
      wait_ns_.store(wait_ns);
      probe_ns_.store(clock_.now_ns() + wait_ns);
      return;
    }
    if (probing != State::kOn || !count(1)) return;
    probe_ns_.store(clock_.now_ns() + wait_ns_.load());
    State on = State::kOn;
    state_.compare_exchange_strong(on, State::kOff);
  }

  // Counts an access. True if the medium fails too often.
  bool count(uint64_t new_errors) {
    uint64_t before = trouble_.load();
    for (;;) {
      if (before == kIsOff) return false;
      uint64_t errors = (before >> 16) + new_errors;
      uint64_t accesses = (before & 0xffff) + 1;
      const bool fails = errors >= kErrorsToFail && 2 * errors >= accesses;
      if (accesses >= kAccessesToHalve) {
        errors /= 2;
        accesses /= 2;
      }
      const uint64_t after = fails ? kIsOff : errors == 0 ? 0 : pack(errors, accesses);
      if (trouble_.compare_exchange_weak(before, after)) return fails;
    }
  }

  Counters& counters_;
  Clock& clock_;
  std::atomic<uint64_t> trouble_{0};
  std::atomic<State> state_{State::kOn};
  std::atomic<uint64_t> probe_ns_{0};
  std::atomic<uint64_t> wait_ns_{kFirstWaitNs};
};

}  // namespace nvcache
