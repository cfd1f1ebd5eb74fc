// A block cache from C++: look up, fetch from disk on a miss, offer what was fetched.
#include <nvcache/block_cache.h>

#include <array>
#include <cstdio>
#include <iostream>

int main() {
  nvcache::StatusOr<std::unique_ptr<nvcache::BlockCache>> opened =
      nvcache::open_block_cache("nvcache://?size=16MiB&admission=second_touch&eviction=s3fifo");
  if (!opened.ok()) {
    std::cerr << opened.status() << "\n";
    return 1;
  }
  nvcache::BlockCache& cache = **opened;

  for (int i = 0; i < 300; ++i) {
    const nvcache::BlockKey key = {.file = 1, .offset = static_cast<uint64_t>(i % 100) * 4096};
    const nvcache::Lookup lookup = cache.lookup(key);
    if (lookup.hit()) continue;  // lookup.pin.bytes() is the cached block, in place
    std::array<std::byte, 4096> block{};
    // ... read it from disk, then offer it; the token guards against an erase meanwhile.
    const nvcache::Verdict verdict = cache.put(key, block, nvcache::Origin::kRead, lookup.token);
    if (!verdict.admitted() && i < 2) {
      std::cout << "not cached: " << nvcache::reason_name(verdict.reason) << "\n";
    }
  }
  const nvcache::Stats stats = cache.stats();
  std::cout << stats.to_prometheus();
  return stats.hits == 100 ? 0 : 1;  // the second touch admitted, the third hit
}
