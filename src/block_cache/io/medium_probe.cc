#include "block_cache/io/medium_probe.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/prng.h"
#include "base/test_hooks.h"

namespace nvcache {

using Kind = MediumHealth::Kind;

MediumProbe::MediumProbe(Parts parts)
    : parts_(std::move(parts)),
      thread_({.name = "nvcache-probe", .round = [this] { return run_round(); }}) {}

// Without a thread there is no probe; the next one is due in a second.
void MediumProbe::ask(uint8_t what) noexcept {
  if (test_hooks.skip_probes) return;
  asked_.fetch_or(what);
  if (thread_.start()) thread_.wake();
}

void MediumProbe::note_write(uint64_t bytes, const Status& status) {
  const MediumHealth::News news = parts_.health.note(Kind::kWrite, status);
  if (news == MediumHealth::News::kWatched) look();
  if (news == MediumHealth::News::kBack) look_everywhere();
  if (!status.ok()) return;
  parts_.counters.add(Count::kMediumWrittenBytes, bytes);
  parts_.counters.add(Count::kMediumWrites, 1);
}

// A place that could not be read is not worth a write.
bool MediumProbe::lets_pass() {
  MediumHealth& health = parts_.health;
  if (health.off(Kind::kRead)) {
    if (health.claim_probe(Kind::kRead)) ask(kReadAsked);
    return !health.off();
  }
  if (parts_.places.puts_are_probes()) return health.probe_is_due(Kind::kWrite);
  if (health.claim_probe(Kind::kWrite)) ask(kWriteAsked);
  return !health.off();
}

void MediumProbe::look() {
  const uint64_t next_ns = parts_.places.next_try_ns();
  if (next_ns == SetAside::kNever) {
    parts_.health.watch(Kind::kWrite, false);
    // One may have been set aside in between.
    if (parts_.places.next_try_ns() != SetAside::kNever) watch();
  } else if (parts_.clock.now_ns() >= next_ns) {
    ask(kPlacesAsked);
  }
}

// The medium takes writes again: tries all places.
void MediumProbe::look_everywhere() {
  parts_.places.try_all();
  ask(kPlacesAsked);
}

bool MediumProbe::run_round() {
  running_ = true;
  const bool again = do_what_was_asked();
  running_ = again;
  return again;
}

bool MediumProbe::do_what_was_asked() {
  const uint8_t asked = asked_.exchange(0);
  if ((asked & kReadAsked) != 0) probe_reads();
  if ((asked & kWriteAsked) != 0) probe_writes();
  if ((asked & kNextAsked) != 0) look_at_next();
  // Also after a probe: it may have brought the medium back.
  return !parts_.health.off(Kind::kWrite) && try_a_place();
}

// Until one takes its write, or there is no other.
void MediumProbe::look_at_next() {
  while (!parts_.health.off(Kind::kWrite)) {
    if (write_to(PlacesToTry::Which::kNext).value_or(true)) return;
  }
}

// Another place each time: the one that failed may be the only one that is bad.
void MediumProbe::probe_reads() {
  const uint64_t grains = parts_.space.limit_bytes() / parts_.space.grain_bytes();
  if (grains == 0) return;
  parts_.reader.probe(parts_.space.to_bytes(mix64(++reads_) % grains));
}

void MediumProbe::probe_writes() {
  // No place at all: the next put tells.
  if (!write_to(PlacesToTry::Which::kAny)) note(ok_status());
}

std::optional<bool> MediumProbe::write_to(PlacesToTry::Which which) {
  const std::optional<SetAsidePlace> place = parts_.places.take_to_probe(which);
  if (!place) return std::nullopt;
  const Status status = write_zeros(place->failed);
  parts_.places.tried(*place, status.ok(), parts_.clock.now_ns());
  if (!status.ok()) watch();
  note(status);
  return status.ok();
}

void MediumProbe::note(const Status& status) {
  if (parts_.health.note(Kind::kWrite, status) == MediumHealth::News::kBack) {
    parts_.places.try_all();
  }
}

// The failure of a place that is known to be bad says nothing of the medium.
bool MediumProbe::try_a_place() {
  const std::optional<SetAsidePlace> place = parts_.places.take_to_try(parts_.clock.now_ns());
  if (!place) return false;
  const Status status = write_zeros(place->failed);
  parts_.places.tried(*place, status.ok(), parts_.clock.now_ns());
  if (!status.ok()) {
    watch();  // a look in between found none that waits
    parts_.counters.add(Count::kMediumErrors, 1);
  }
  return true;
}

// In pieces of what a thread may well have. No memory: a failure like another.
Status MediumProbe::write_zeros(Extent extent) {
  Status status(StatusCode::kInternal, "");
  try {
    const MutableBuffer zeros = parts_.reader.make_buffer(extent.size_bytes);
    if (zeros == nullptr) return status;
    std::fill_n(zeros->data(), extent.size_bytes, std::byte{0});
    status = parts_.medium.write(extent.offset, {zeros->data(), extent.size_bytes});
  } catch (const std::exception&) {
  }
  if (!status.ok()) return status;
  parts_.counters.add(Count::kMediumWrittenBytes, extent.size_bytes);
  parts_.counters.add(Count::kMediumWrites, 1);
  return status;
}

}  // namespace nvcache
