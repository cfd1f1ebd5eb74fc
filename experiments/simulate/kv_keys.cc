#include "experiments/simulate/kv_keys.h"

#include <algorithm>
#include <numeric>

namespace nvcache::simulate {
namespace {

uint64_t key_of_rank(uint64_t rank, uint32_t scale) {
  return rank < KvKeys::kWholeKeys ? rank
                                   : KvKeys::kWholeKeys + (rank - KvKeys::kWholeKeys) / scale;
}

double unit(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

}  // namespace

KvKeys::KvKeys(const nvmcached::Trace& trace, uint64_t keys, uint32_t scale, uint64_t seed)
    : trace_(trace),
      scale_(scale),
      seed_(seed),
      ranks_(keys, zeta_of(keys)),
      keys_(key_of_rank(keys - 1, scale) + 1),
      stride_(keys_ * 618 / 1000 + 1) {
  while (std::gcd(stride_, keys_) != 1) ++stride_;
}

nvmcached::Request KvKeys::next(Prng& prng) const {
  using nvmcached::Request;
  const double choice = prng.unit() * (trace_.get + trace_.set + trace_.del);
  Request request{.key = key_of_rank(ranks_.next(prng), scale_)};
  double absent = 0;
  if (choice < trace_.get) {
    absent = trace_.absent;
  } else if (choice < trace_.get + trace_.set) {
    request.kind = Request::kSet;
    request.value_bytes = trace_.value_bytes(request.key);
  } else {
    request.kind = Request::kDelete;
    absent = 1 - trace_.del_live;
  }
  if (absent > 0 && prng.unit() < absent) request.key += Request::kAbsent;
  return request;
}

bool KvKeys::loaded(uint64_t key) const {
  return unit(mix64(key ^ mix64(seed_ + 1))) < trace_.presence();
}

uint64_t KvKeys::load_order(uint64_t number) const {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * stride_) % keys_);
}

}  // namespace nvcache::simulate
