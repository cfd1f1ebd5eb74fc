// A cache with the policies of own_policies.cc.
#include <nvcache/block_cache.h>
#include <nvcache/policies.h>

#include <cstdio>
#include <string>
#include <vector>

namespace own {
nvcache::Status add_policies(nvcache::PolicyRegistry& registry);
}

int main() {
  const nvcache::Status added = own::add_policies(nvcache::policy_registry());
  if (!added.ok()) {
    std::fprintf(stderr, "%s\n", std::string(added.message()).c_str());
    return 1;
  }
  const auto cache =
      nvcache::open_block_cache("nvcache://?size=4MiB&admission=up_to(8192)&eviction=coldest(5)");
  if (!cache.ok()) {
    std::fprintf(stderr, "%s\n", std::string(cache.status().message()).c_str());
    return 1;
  }
  const std::vector<std::byte> small(4096);
  const std::vector<std::byte> large(16384);
  for (uint64_t i = 0; i < 2000; ++i) {
    (*cache)->put({1, i}, small, nvcache::Origin::kRead);
    (*cache)->put({2, i}, large, nvcache::Origin::kRead);
  }
  const nvcache::Stats stats = (*cache)->stats();
  const auto refused = stats.refused[static_cast<size_t>(nvcache::Reason::kOutsidePolicy)];
  std::printf("%s, %s: %llu blocks, %llu refused by our own policy\n", stats.admission.c_str(),
              stats.eviction.c_str(), static_cast<unsigned long long>(stats.blocks),
              static_cast<unsigned long long>(refused));
  return refused == 2000 && stats.blocks > 0 ? 0 : 1;
}
