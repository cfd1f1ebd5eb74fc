// Tries a medium on behalf of its cache: whether it can be read or written again, where no
// lookup or put would reach it, and whether a place that was set aside takes its write again.
//
// A thread of its own, which is started when the medium first fails, since an access of a medium
// that fails may take long. No lookup or put waits for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/background_thread.h"
#include "base/clock.h"
#include "block_cache/api/counters.h"
#include "block_cache/io/block_reader.h"
#include "block_cache/io/medium_health.h"
#include "block_cache/io/set_aside.h"
#include "block_cache/io/space.h"
#include "medium/medium.h"

namespace nvcache {

// Thread-safe.
class MediumProbe {
 public:
  struct Parts {
    Medium& medium;
    MediumHealth& health;
    BlockReader& reader;
    Clock& clock;
    const Space& space;
    PlacesToTry& places;
    Counters& counters;
  };

  explicit MediumProbe(Parts parts);
  ~MediumProbe() { stop(); }
  void stop() { thread_.stop(); }

  // Takes the result of a write of blocks: counts it, and looks again at what was set aside where
  // it says that the medium takes writes.
  void note_write(uint64_t bytes, const Status& status);
  // Whether a put may reach a medium that is switched off. Asks for a probe if one is due.
  bool lets_pass();
  // Blocks were lost with a place that could not be written: sees whether the next one can be,
  // before there are blocks for it.
  void look_ahead() { ask(kNextAsked); }
  // A place was set aside.
  void watch() { parts_.health.watch(MediumHealth::Kind::kWrite, true); }
  // Whether something was asked for and is not done. For tests, whose clock must not outrun it.
  bool busy() const { return asked_.load() != 0 || running_.load(); }
  // Tries the places that are due. Ends the watch when there are none.
  void look();
  // Whether there is anything to look for. Lock-free.
  bool waits() const { return parts_.places.next_try_ns() != SetAside::kNever; }

 private:
  static constexpr uint8_t kReadAsked = 1;
  static constexpr uint8_t kWriteAsked = 2;
  static constexpr uint8_t kNextAsked = 4;
  static constexpr uint8_t kPlacesAsked = 8;

  void ask(uint8_t what) noexcept;
  void look_everywhere();
  bool run_round();
  bool do_what_was_asked();
  void look_at_next();
  void probe_reads();
  void probe_writes();
  // Whether it succeeded; nothing if there is no such place.
  std::optional<bool> write_to(PlacesToTry::Which which);
  void note(const Status& status);
  bool try_a_place();
  Status write_zeros(Extent extent);

  const Parts parts_;
  std::atomic<uint8_t> asked_{0};
  std::atomic<bool> running_{false};
  uint64_t reads_ = 0;  // of the thread
  BackgroundThread thread_;
};

}  // namespace nvcache
