// A sample of keys that stands for all: a share of their hashes, so that as many keys as a small
// cache of the sample has room for stand for as many blocks as the cache has room for (Waldspurger
// et al., "Cache modeling and optimization using miniature simulations", ATC 2017).
// Thread-safe: a value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"

namespace nvcache {

struct KeySample {
  uint32_t keys = 0;                // of the blocks that a cache has room for, about
  uint64_t highest = ~uint64_t{0};  // up to which place keys are in the sample

  // One key in `blocks_per_key` and at least `least`, as far as there are as many; at most `most`.
  // The sample of a larger cache has no key that the one of a smaller cache has not.
  static KeySample of(uint64_t blocks, uint64_t blocks_per_key, uint32_t least, uint32_t most) {
    const double wished = static_cast<double>(blocks) / static_cast<double>(blocks_per_key);
    const double keys = std::clamp<double>(wished, least, most);
    if (blocks <= least) return {.keys = static_cast<uint32_t>(blocks)};
    KeySample sample = {.keys = static_cast<uint32_t>(keys)};
    sample.highest = static_cast<uint64_t>(keys / static_cast<double>(blocks) * 0x1p64);
    return sample;
  }

  static uint64_t place_of(uint64_t key_hash) { return mix64(key_hash); }
  bool has(uint64_t key_hash) const { return place_of(key_hash) <= highest; }
};

}  // namespace nvcache
