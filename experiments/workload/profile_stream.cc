#include "experiments/workload/profile_stream.h"

#include <algorithm>

namespace nvcache {
namespace {

uint64_t accessed_keys(const WorkloadProfile& profile, const ScatteredRuns& runs) {
  const auto keys =
      static_cast<uint64_t>(profile.accessed_share * static_cast<double>(runs.keys()));
  return std::max<uint64_t>(keys, 1);
}

}  // namespace

std::string_view profile_op_name(ProfileOpType type) {
  switch (type) {
    case ProfileOpType::kGet:
      return "get";
    case ProfileOpType::kPut:
      return "put";
    case ProfileOpType::kSeek:
      return "seek";
  }
  return "unknown";
}

ProfileKeys::ProfileKeys(const WorkloadProfile& profile, uint64_t keys, uint64_t seed)
    : keys_(keys),
      runs_(keys, profile.run_keys, mix64(seed)),
      law_(accessed_keys(profile, runs_), profile.hot_share, profile.hot_accesses) {}

uint64_t ProfileKeys::next(uint32_t database, Prng& prng) const {
  // Turned by some runs for each database, so that they are not hot in the same places.
  return (runs_.key_of(law_.next(prng)) + mix64(database)) % keys_;
}

void ProfileStream::remember(Pair pair) {
  if (last_.size() < profile_.repeat_last) {
    last_.push_back(pair);
    return;
  }
  last_[oldest_] = pair;
  oldest_ = (oldest_ + 1) % last_.size();
}

ProfileOperation ProfileStream::next() {
  ProfileOperation op;
  const double draw = prng_.unit();
  if (draw < profile_.put) {
    op.type = ProfileOpType::kPut;
  } else if (draw < profile_.put + profile_.seek) {
    op.type = ProfileOpType::kSeek;
  }
  if (!last_.empty() && prng_.unit() < profile_.repeat_share) {
    const Pair& again = last_[prng_.below(last_.size())];
    op.database = again.database;
    op.number = again.number;
  } else {
    op.database = static_cast<uint32_t>(prng_.below(profile_.databases));
    op.number = keys_.next(op.database, prng_);
    remember({op.database, op.number});
  }
  if (op.type == ProfileOpType::kPut) op.version = prng_();
  return op;
}

}  // namespace nvcache
