// second_touch: admits a block only when it is offered for the second time, so that a block that is
// never read again is never written.
//
// A ghost table (2 bytes an entry) remembers the blocks that were offered. It holds as many blocks
// as the cache does. That would be too few while the cache has room to spare: a loop over more
// blocks than the table holds would never be recognised, and the cache would never fill. So until
// the cache is nearly full the table also grows with the blocks offered, up to what the cache has
// room for:
//
//   entries = resident                                                   if nearly full
//           = max(resident, min(4 * first touches, size / mean block))   otherwise
//
// Why four times: a bucket pushes out the entries that came when the table was smaller. At load 1/4
// an entry lasts until the table has grown by e^(8/2), 55 times.
//
// A block that is found stays remembered: another policy of the composition may refuse it, and then
// its next offer must still count as a further touch.
//
// Thread-safe and lock-free; ghost.h says what races may cost.
#include <algorithm>
#include <atomic>

#include "policy/admission/table.h"
#include "policy/parts/ghost.h"

namespace nvcache {
namespace {

constexpr uint64_t kGhostBlockBytes = 512;
constexpr uint64_t kSlack = 4;
constexpr double kNearlyFull = 0.875;  // slabs, rounding and pins keep caches from being quite full

class SecondTouch final : public AdmissionPolicy {
 public:
  explicit SecondTouch(uint64_t cache_size_bytes)
      : cache_size_bytes_(cache_size_bytes), ghost_(cache_size_bytes / kGhostBlockBytes) {}

  Verdict admit(const Candidate& candidate, const Traffic& traffic) override {
    ghost_.follow(wanted_entries(candidate, traffic));
    if (ghost_.remember(candidate.key_hash)) return Verdict::admit();
    first_touches_.fetch_add(1, std::memory_order_relaxed);
    return Verdict::refuse(Reason::kFirstTouch);
  }
  uint64_t metadata_bytes() const override { return ghost_.metadata_bytes(); }
  uint32_t totals_interval() const override { return 1; }
  std::string describe() const override { return "second_touch"; }

 private:
  uint64_t wanted_entries(const Candidate& candidate, const Traffic& traffic) const {
    const uint64_t block_bytes = std::max<uint64_t>(
        traffic.inserted > 0 ? traffic.written_bytes / traffic.inserted : candidate.size_bytes,
        kGhostBlockBytes);
    const uint64_t room_blocks = cache_size_bytes_ / block_bytes;
    if (static_cast<double>(traffic.resident_blocks) >=
        kNearlyFull * static_cast<double>(room_blocks)) {
      return traffic.resident_blocks;
    }
    return std::max(traffic.resident_blocks,
                    std::min(kSlack * first_touches_.load(std::memory_order_relaxed), room_blocks));
  }

  const uint64_t cache_size_bytes_;
  Ghost ghost_;
  std::atomic<uint64_t> first_touches_{0};
};

}  // namespace

AdmissionOr make_second_touch(const SpecMember& member, const AdmissionContext& context) {
  const Status arguments = check_no_arguments(kAdmission, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<SecondTouch>(context.cache_size_bytes);
}

}  // namespace nvcache
