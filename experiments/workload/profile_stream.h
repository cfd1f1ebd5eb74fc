// The operations of a profile: which database, which pair, what to do.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "experiments/workload/power_law.h"
#include "experiments/workload/profile.h"

namespace nvcache {

enum class ProfileOpType : uint8_t { kGet, kPut, kSeek };
inline constexpr size_t kProfileOpTypes = 3;
std::string_view profile_op_name(ProfileOpType type);  // "get", "put", "seek"

struct ProfileOperation {
  ProfileOpType type = ProfileOpType::kGet;
  uint32_t database = 0;
  uint64_t number = 0;   // of the pair
  uint64_t version = 0;  // seeds the bytes that a put writes
};

// Which pairs of a database are accessed, and how often. The same in all databases, but
// in other places. Immutable: thread-safe.
class ProfileKeys {
 public:
  // `keys` of each database as it was loaded: max(profile.run_keys, ...) at least.
  ProfileKeys(const WorkloadProfile& profile, uint64_t keys, uint64_t seed);

  uint64_t next(uint32_t database, Prng& prng) const;
  const PowerLaw& law() const { return law_; }

 private:
  uint64_t keys_;
  ScatteredRuns runs_;
  PowerLaw law_;
};

// One thread's endless stream, determined by its seed. Caller-locked.
//
// Access in time: a share of the operations goes to a pair that one of the stream's last
// operations drew, any of them as likely as another. The repeated pairs were
// drawn by the law of ProfileKeys, so the total accesses to each pair still follow it.
class ProfileStream {
 public:
  // Both must outlive the stream.
  ProfileStream(const WorkloadProfile& profile, const ProfileKeys& keys, uint64_t seed)
      : profile_(profile), keys_(keys), prng_(seed) {}

  ProfileOperation next();

 private:
  struct Pair {
    uint32_t database = 0;
    uint64_t number = 0;
  };

  void remember(Pair pair);

  const WorkloadProfile& profile_;
  const ProfileKeys& keys_;
  Prng prng_;
  std::vector<Pair> last_;  // a ring of up to profile_.repeat_last
  size_t oldest_ = 0;
};

}  // namespace nvcache
