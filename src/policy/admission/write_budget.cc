// write_budget(RATE,burst:SIZE): refuses blocks while the medium was written faster than RATE, so
// that a drive lasts, or its reads stay fast.
//
// A token bucket in bytes. It holds SIZE at most (default: a minute of RATE, at least 1 MiB) and is
// full at first. RATE fills it; whatever the cache writes empties it: padding, and blocks that are
// written again, too. Blocks are admitted while it holds anything. Blocks that were admitted and
// are not written yet take it below zero, which later refusals make up for. So after t seconds
//
//   written <= SIZE + RATE * t + blocks in DRAM buffers and queues
//
//   credit = RATE * now - written        tokens = credit - floor
//   floor  = the largest (credit - SIZE) so far
//
// Thread-safe and lock-free. A thread that reads an old total of written bytes takes the credit for
// larger than it is: the floor rises by as much, and fewer blocks are admitted.
#include <algorithm>
#include <atomic>
#include <limits>

#include "base/assert.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

constexpr uint64_t kLeastBurstBytes = 1 << 20;
constexpr double kBurstSeconds = 60;
constexpr double kMostBytesPerSecond = 1e12;
constexpr double kSecondsPerDay = 24 * 3600;
constexpr std::string_view kAllowedBudget =
    "write_budget(RATE,burst:SIZE); RATE: a size per s, min, hour or day (50MiB/s, 500GB/day), or "
    "drive writes per day of the cache's size (0.5DWPD)";

class WriteBudget final : public AdmissionPolicy {
 public:
  WriteBudget(std::string rate, double bytes_per_second, uint64_t burst_bytes)
      : rate_(std::move(rate)), bytes_per_second_(bytes_per_second), burst_bytes_(burst_bytes) {
    NVCACHE_ASSERT(bytes_per_second > 0 && burst_bytes >= kLeastBurstBytes);
  }

  Verdict admit(const Candidate&, const Traffic& traffic) override {
    const double credit = bytes_per_second_ * static_cast<double>(traffic.now_ns) / 1e9 -
                          static_cast<double>(traffic.written_bytes);
    const double least = credit - static_cast<double>(burst_bytes_);
    double floor = floor_.load(std::memory_order_relaxed);
    while (floor < least &&
           !floor_.compare_exchange_weak(floor, least, std::memory_order_relaxed)) {
    }
    return credit > std::max(floor, least) ? Verdict::admit()
                                           : Verdict::refuse(Reason::kWriteBudget);
  }

  uint32_t totals_interval() const override { return 1; }
  std::string describe() const override {
    return fmt::format("write_budget({},burst:{})", rate_, exact_size(burst_bytes_));
  }

 private:
  const std::string rate_;
  const double bytes_per_second_;
  const uint64_t burst_bytes_;
  std::atomic<double> floor_{-std::numeric_limits<double>::infinity()};
};

// "50MiB/s" or "0.5DWPD" in bytes a second; 0 if it is neither.
double budget_per_second(std::string_view text, uint64_t cache_size_bytes) {
  constexpr std::string_view kDriveWrites = "DWPD";
  if (text.ends_with(kDriveWrites)) {
    text.remove_suffix(kDriveWrites.size());
    const StatusOr<double> writes = parse_number("RATE", strip(text), 0, 1e6);
    return writes.ok() ? *writes * static_cast<double>(cache_size_bytes) / kSecondsPerDay : 0;
  }
  return parse_bytes_per_second(text).value_or(0);
}

}  // namespace

AdmissionOr make_write_budget(const SpecMember& member, const AdmissionContext& context) {
  const Status arguments = check_argument_count(kAdmission, member, 2, kAllowedBudget);
  if (!arguments.ok()) return arguments;
  const auto bad = [&](std::string_view what) {
    return bad_member(kAdmission, member,
                      fmt::format("{} given; allowed: {}", what, kAllowedBudget));
  };
  if (member.arguments.empty()) return bad("no RATE");
  const std::string rate(strip(member.arguments[0]));
  const double per_second = budget_per_second(rate, context.cache_size_bytes);
  if (per_second <= 0 || per_second > kMostBytesPerSecond) {
    return bad(fmt::format("RATE '{}'", shown(rate)));
  }
  auto burst_bytes = std::max(kLeastBurstBytes, static_cast<uint64_t>(per_second * kBurstSeconds));
  if (member.arguments.size() == 2) {
    constexpr std::string_view kBurst = "burst:";
    std::string_view text = strip(member.arguments[1]);
    const bool named = text.starts_with(kBurst);
    if (named) text.remove_prefix(kBurst.size());
    const StatusOr<uint64_t> given = parse_size_bytes(strip(text));
    if (!named || !given.ok() || *given < kLeastBurstBytes) {
      return bad(fmt::format("'{}', not burst:SIZE of at least 1MiB,", shown(member.arguments[1])));
    }
    burst_bytes = *given;
  }
  return std::make_unique<WriteBudget>(rate, per_second, burst_bytes);
}

}  // namespace nvcache
