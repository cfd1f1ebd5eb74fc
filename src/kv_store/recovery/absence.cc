#include "kv_store/recovery/absence.h"

#include "base/unix_time.h"
#include "fmt/format.h"
#include "kv_store/format/time_record.h"

namespace nvcache {
namespace {

// Clocks of two machines, or of one before and after a correction, are never the same.
constexpr uint32_t kClocksDifferS = 2;

}  // namespace

std::optional<uint32_t> absence_s(const KvFoundStore& found, const KvMedium& on,
                                  const KvConfig& config) {
  std::byte* const base = const_cast<std::byte*>(on.medium->direct().data());
  const uint32_t latest_s = KvTimeRecord(base + kKvTimeAt, found.superblock.nonce).latest_s();
  const uint32_t now_s = config.now_s ? config.now_s() : steady_unix_s();
  if (latest_s == 0 || now_s + kClocksDifferS < latest_s) return std::nullopt;
  return now_s > latest_s ? now_s - latest_s : 0;
}

bool was_away_too_long(const KvFoundStore& found, const KvMedium& on, const KvConfig& config) {
  if (config.max_absence_s == 0) return false;
  const std::optional<uint32_t> away_s = absence_s(found, on, config);
  return !away_s || *away_s > config.max_absence_s;
}

std::string absence_note(const KvFoundStore& found, const KvMedium& on, const KvConfig& config) {
  const std::optional<uint32_t> away_s = absence_s(found, on, config);
  return fmt::format("the store was away for {}, allowed: {} s; its items {}",
                     away_s ? fmt::format("{} s", *away_s) : "an unknown time",
                     config.max_absence_s,
                     config.empty_after_absence ? "were dropped" : "count as stale");
}

}  // namespace nvcache
