// The requests of a trace of *NVMcached* (workload/kv_trace.h) on a scaled cache.
//
// Keys fall by Zipf's law, as in the trace. Scale S: the 2048 keys that are asked for most are
// those of the whole cache, one by one, because the store's list of what is written often has 1024
// keys at any size. Of all others S ranks in a row are one key:
//
//   key = rank < 2048 ? rank : 2048 + (rank - 2048) / S
//
// So a cache of 1/S holds a little more than 1/S of the keys, by 2048 at most. A trace with fewer
// keys has all of them.
//
// The same seed, the same requests, on every machine. Thread-safe: it never changes.
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "experiments/simulate/keys.h"
#include "experiments/workload/kv_trace.h"

namespace nvcache::simulate {

class KvKeys {
 public:
  static constexpr uint64_t kWholeKeys = 2048;

  // `keys` of the whole cache, 2 or more. The trace's theta is 0.99.
  KvKeys(const nvmcached::Trace& trace, uint64_t keys, uint32_t scale, uint64_t seed);

  uint64_t keys() const { return keys_; }
  nvmcached::Request next(Prng& prng) const;
  const nvmcached::LoadedKeys& loaded() const { return loaded_; }

 private:
  const nvmcached::Trace trace_;
  const uint32_t scale_;
  const Ranks ranks_;
  const uint64_t keys_;
  const nvmcached::LoadedKeys loaded_;
};

}  // namespace nvcache::simulate
