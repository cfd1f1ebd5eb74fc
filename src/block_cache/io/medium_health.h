// The account of a medium's health: reads and writes each by themselves, since a medium may take no
// write and be read all the same. Switches a kind of access off that fails too often, and says when
// to try it again.
//
//   on        The last 32 accesses of the kind are kept once one has failed. 16 failures among them
//             switch the kind off: 16 without a success do so whatever came before.
//   off       Nothing of that kind is asked of the medium, until the next probe is due: a second
//             later, and a second after each probe.
//   probing   A caller claimed a probe, one a second. The first success switches the kind on, and a
//             failure changes nothing. Who claims a probe accesses the medium at once; if it does
//             not, the next second has another.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/clock.h"
#include "block_cache/api/counters.h"
#include "nvcache/status.h"

namespace nvcache {

// Thread-safe. Costs a load where all goes well. The clock must outlive it.
class MediumHealth {
 public:
  enum class Kind : uint8_t { kRead, kWrite };
  static constexpr int kFailuresToSwitchOff = 16;
  static constexpr uint64_t kProbeEveryNs = 1'000'000'000;

  MediumHealth(Counters& counters, Clock& clock) : counters_(counters), clock_(clock) {}

  // Takes the result of an access. kBack: it switched its kind on. kWatched: it succeeded while
  // watch() is on.
  enum class News : uint8_t { kNone, kWatched, kBack };
  News note(Kind kind, const Status& status) {
    if (status.ok()) {
      if (account(kind).trouble.load(std::memory_order_relaxed) == 0) [[likely]]
        return News::kNone;
      return note_success(kind);
    }
    counters_.add(Count::kMediumErrors, 1);
    note_failure(kind);
    return News::kNone;
  }

  // Whether accesses are switched off, of any kind or of one. Only a probe that succeeds changes
  // that.
  bool off() const { return state_.load(std::memory_order_relaxed) != 0; }
  bool off(Kind kind) const {
    return (state_.load(std::memory_order_relaxed) & off_bit(kind)) != 0;
  }
  // Whether the caller may access the medium now. Where that is a probe, no other caller may.
  bool may(Kind kind) {
    if (!off(kind)) [[likely]]
      return true;
    return claim_probe(kind);
  }
  // Whether a probe could be claimed now; claims nothing.
  bool probe_is_due(Kind kind) const {
    return clock_.now_ns() >= account(kind).probe_ns.load(std::memory_order_relaxed);
  }
  bool claim_probe(Kind kind);

  // Whether each success of the kind is told to the caller.
  void watch(Kind kind, bool on);

 private:
  struct Account {
    // The last 32 accesses, a bit each for a failure; kIsOff; kIsWatched. 0: all goes well.
    std::atomic<uint64_t> trouble{0};
    std::atomic<uint64_t> probe_ns{0};
  };
  static constexpr uint64_t kIsOff = uint64_t{1} << 63;
  static constexpr uint64_t kIsWatched = uint64_t{1} << 62;

  static uint8_t off_bit(Kind kind) { return static_cast<uint8_t>(1 << static_cast<int>(kind)); }
  static uint8_t probing_bit(Kind kind) { return static_cast<uint8_t>(off_bit(kind) << 2); }
  Account& account(Kind kind) { return accounts_[static_cast<size_t>(kind)]; }
  const Account& account(Kind kind) const { return accounts_[static_cast<size_t>(kind)]; }

  News note_success(Kind kind);
  void note_failure(Kind kind);
  bool count(Kind kind, bool failed);

  Counters& counters_;
  Clock& clock_;
  std::array<Account, 2> accounts_;
  std::atomic<uint8_t> state_{0};  // off_bit and probing_bit of each kind
};

}  // namespace nvcache
