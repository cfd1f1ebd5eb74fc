// Places of a medium where a write failed. Nothing is put there until the write of that place was
// tried again, by the cache itself and with zeros, and has succeeded: a place that stays bad costs
// the blocks that it lost at first, and no more.
//
//   in use --a write fails--> set aside --a minute--> tried --the write succeeds--> in use
//                                ^                      |
//                                +----- it fails -------+
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "medium/medium.h"

namespace nvcache {

struct SetAsidePlace {
  uint32_t id = 0;
  uint64_t first = 0;  // what is set aside: grains, or a region
  uint64_t count = 0;
  uint64_t bad = 0;     // of them, from the first to the last where a write failed
  uint64_t growth = 0;  // what was set aside beyond the bad ones; 0: none yet
  Extent failed;        // the write that failed, in bytes of the medium
  uint64_t due_ns = 0;  // when it is tried again
};

// The places of a space, as who tries them sees it. Thread-safe.
class PlacesToTry {
 public:
  virtual ~PlacesToTry() = default;
  // A place that is due. Only the caller writes to it until tried().
  virtual std::optional<SetAsidePlace> take_to_try(uint64_t now_ns) = 0;
  // Likewise, to see whether the medium takes writes. kNext: the free one that would be in use
  // next. kAny: a free one anywhere, or one that is set aside.
  enum class Which : uint8_t { kNext, kAny };
  virtual std::optional<SetAsidePlace> take_to_probe(Which which) = 0;
  // Whether the next put is that probe instead, since its block is written where it is put. Else
  // blocks land in DRAM first, and tell nothing of the medium.
  virtual bool puts_are_probes() const = 0;
  // `well`: its write has succeeded, and the place is in use again. Else it is set aside.
  virtual void tried(const SetAsidePlace& place, bool well, uint64_t now_ns) = 0;
  // The medium takes writes again: all places are due.
  virtual void try_all() = 0;
  // When the next one is due; kNever. Lock-free.
  virtual uint64_t next_try_ns() const = 0;
  virtual uint64_t set_aside_bytes() const = 0;
};

// The list that a space keeps. Caller-locked, but for next_try_ns() and any(). 64 bytes a place.
class SetAside {
 public:
  static constexpr uint64_t kWaitNs = 60'000'000'000;
  static constexpr uint64_t kNever = ~uint64_t{0};

  // Null if there is no memory. Only valid until the next call.
  SetAsidePlace* add(uint64_t first, uint64_t count, Extent failed, uint64_t now_ns) noexcept {
    try {
      places_.push_back({.id = ++last_id_,
                         .first = first,
                         .count = count,
                         .bad = count,
                         .failed = failed,
                         .due_ns = now_ns + kWaitNs});
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    note_next();
    return &places_.back();
  }
  // The place that is due first, if it is due and `may_try` agrees. It stays on the list.
  template <typename MayTry>
  std::optional<SetAsidePlace> take(uint64_t now_ns, MayTry&& may_try) {
    SetAsidePlace* found = nullptr;
    for (SetAsidePlace& place : places_) {
      if (is_being_tried(place) || place.due_ns > now_ns || !may_try(place)) continue;
      if (found == nullptr || place.due_ns < found->due_ns) found = &place;
    }
    if (found == nullptr) return std::nullopt;
    return take(*found);
  }
  SetAsidePlace take(SetAsidePlace& place) {
    place.due_ns = kNever;
    note_next();
    return place;
  }
  // Null if it is gone.
  SetAsidePlace* find(uint32_t id) {
    const auto it = std::ranges::find(places_, id, &SetAsidePlace::id);
    return it == places_.end() ? nullptr : &*it;
  }
  void put_back(SetAsidePlace& place, uint64_t now_ns) {
    place.due_ns = now_ns + kWaitNs;
    note_next();
  }
  static bool is_being_tried(const SetAsidePlace& place) { return place.due_ns == kNever; }
  template <typename Gone>
  void drop_if(Gone&& gone) {
    std::erase_if(places_, gone);
    note_next();
  }
  void make_all_due() {
    for (SetAsidePlace& place : places_) {
      if (!is_being_tried(place)) place.due_ns = 0;
    }
    note_next();
  }
  std::vector<SetAsidePlace>& places() { return places_; }
  const std::vector<SetAsidePlace>& places() const { return places_; }
  uint64_t next_try_ns() const { return next_try_ns_.load(std::memory_order_relaxed); }
  // Lock-free.
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  void note_next() {
    any_.store(!places_.empty(), std::memory_order_relaxed);
    uint64_t next_ns = kNever;
    for (const SetAsidePlace& place : places_) next_ns = std::min(next_ns, place.due_ns);
    next_try_ns_.store(next_ns, std::memory_order_relaxed);
  }

  std::vector<SetAsidePlace> places_;
  uint32_t last_id_ = 0;
  std::atomic<uint64_t> next_try_ns_{kNever};
  std::atomic<bool> any_{false};
};

}  // namespace nvcache
