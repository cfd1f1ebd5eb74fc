#include "block_cache/io/medium_health.h"

#include "base/test_hooks.h"

namespace nvcache {

bool MediumHealth::claim_probe(Kind kind) {
  Account& of = account(kind);
  uint64_t due_ns = of.probe_ns.load(std::memory_order_relaxed);
  const uint64_t now_ns = clock_.now_ns();
  if (now_ns < due_ns) return false;
  if (!of.probe_ns.compare_exchange_strong(due_ns, now_ns + kProbeEveryNs)) return false;
  // Unless another probe has succeeded since the caller looked.
  uint8_t state = state_.load();
  while ((state & off_bit(kind)) != 0 &&
         !state_.compare_exchange_weak(state, static_cast<uint8_t>(state | probing_bit(kind)))) {
  }
  return true;
}

MediumHealth::News MediumHealth::note_success(Kind kind) {
  const uint8_t both = off_bit(kind) | probing_bit(kind);
  if ((state_.load() & probing_bit(kind)) != 0) {
    const uint8_t before = state_.fetch_and(static_cast<uint8_t>(~both));
    if ((before & probing_bit(kind)) == 0) return News::kNone;  // another success did it
    account(kind).trouble.fetch_and(kIsWatched);
    return News::kBack;
  }
  const uint64_t trouble = account(kind).trouble.load(std::memory_order_relaxed);
  if ((trouble & ~kIsWatched) != 0) (void)count(kind, false);
  return (trouble & kIsWatched) != 0 ? News::kWatched : News::kNone;
}

void MediumHealth::note_failure(Kind kind) {
  // With the hook, each success of a read hides a failure of a write.
  if (!count(test_hooks.one_account ? Kind::kRead : kind, true)) return;
  account(kind).probe_ns.store(clock_.now_ns() + kProbeEveryNs);
  state_.fetch_or(off_bit(kind));
}

// Counts an access. True: the kind has to be switched off.
bool MediumHealth::count(Kind kind, bool failed) {
  std::atomic<uint64_t>& trouble = account(kind).trouble;
  uint64_t before = trouble.load();
  for (;;) {
    if ((before & kIsOff) != 0) return false;
    const uint32_t last = static_cast<uint32_t>(before) << 1 | (failed ? 1 : 0);
    const bool fails = std::popcount(last) >= kFailuresToSwitchOff;
    const uint64_t after = (before & kIsWatched) | (fails ? kIsOff : last);
    if (trouble.compare_exchange_weak(before, after)) return fails;
  }
}

void MediumHealth::watch(Kind kind, bool on) {
  if (on) {
    account(kind).trouble.fetch_or(kIsWatched);
  } else {
    account(kind).trouble.fetch_and(~kIsWatched);
  }
}

}  // namespace nvcache
