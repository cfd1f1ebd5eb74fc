// How a client reads its answers, which decides who goes when --buffer-memory is full: those that
// take nothing go before those that read on, and those that take little before those that take
// much.
//
// What a client has taken is what its system has acknowledged: a slow reader moves long before the
// socket has room again. A new client's system takes some bytes though no program reads them, so
// that nothing is known of it for two seconds. Caller-locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nvcache::server {

class ReadingPace {
 public:
  // The one that goes first is last.
  enum class Kind : uint8_t {
    kHasAll,  // no answer waits for it: never goes
    kReads,
    kNew,   // nothing is known of it yet
    kDead,  // has taken nothing for two seconds
  };

  static constexpr size_t kKinds = 4;

  // An answer waits, from now on if none did. `turn` grows from call to call.
  void begin(uint64_t turn) {
    if (since_turn_ != 0) return;
    since_turn_ = turn;
    seconds_ = 0;
  }
  // It took all.
  void end() {
    if (since_turn_ != 0) proven_seconds_ = kProvenSeconds;
    since_turn_ = 0;
  }
  bool is_waited_for() const { return since_turn_ != 0; }
  // Called once a second, with the bytes taken since it connected; 0 if no answer waits.
  void end_second(uint64_t taken_bytes) {
    if (proven_seconds_ > 0) --proven_seconds_;
    if (since_turn_ == 0) return;
    const uint64_t before_bytes = std::exchange(taken_in_all_bytes_, taken_bytes);
    taken_before_bytes_ = seconds_ > 1 ? taken_last_bytes_ : 0;
    taken_last_bytes_ = seconds_ > 0 ? taken_bytes - before_bytes : 0;
    ++seconds_;
  }

  Kind kind() const {
    if (since_turn_ == 0) return Kind::kHasAll;
    if (proven_seconds_ > 0 || lately_bytes() > 0) return Kind::kReads;
    return seconds_ > kKnownSeconds ? Kind::kDead : Kind::kNew;
  }
  // Of the dead, those go first that are for longest; of the new, those that came last, so that
  // who was there stays.
  bool goes_before(const ReadingPace& other) const {
    const Kind mine = kind();
    if (mine != other.kind()) return mine > other.kind();
    if (mine == Kind::kReads) return lately_bytes() < other.lately_bytes();
    return mine == Kind::kDead ? since_turn_ < other.since_turn_
                               : mine == Kind::kNew && since_turn_ > other.since_turn_;
  }

 private:
  static constexpr uint32_t kProvenSeconds = 2;
  static constexpr uint32_t kKnownSeconds = 2;  // the first is not whole

  // Taken in the last two seconds.
  uint64_t lately_bytes() const { return taken_last_bytes_ + taken_before_bytes_; }

  uint64_t since_turn_ = 0;
  uint64_t taken_in_all_bytes_ = 0;
  uint64_t taken_last_bytes_ = 0;
  uint64_t taken_before_bytes_ = 0;
  uint32_t seconds_ = 0;  // ended since it has been waited for
  uint32_t proven_seconds_ = 0;
};

}  // namespace nvcache::server
