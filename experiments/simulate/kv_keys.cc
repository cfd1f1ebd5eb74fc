#include "experiments/simulate/kv_keys.h"

namespace nvcache::simulate {
namespace {

uint64_t key_of_rank(uint64_t rank, uint32_t scale) {
  return rank < KvKeys::kWholeKeys ? rank
                                   : KvKeys::kWholeKeys + (rank - KvKeys::kWholeKeys) / scale;
}

}  // namespace

KvKeys::KvKeys(const nvmcached::Trace& trace, uint64_t keys, uint32_t scale, uint64_t seed)
    : trace_(trace),
      scale_(scale),
      ranks_(keys, zeta_of(keys)),
      keys_(key_of_rank(keys - 1, scale) + 1),
      loaded_(trace, keys_, seed) {}

nvmcached::Request KvKeys::next(Prng& prng) const {
  return nvmcached::draw_request(
      trace_, [&] { return prng.unit(); }, [&] { return key_of_rank(ranks_.next(prng), scale_); });
}

}  // namespace nvcache::simulate
