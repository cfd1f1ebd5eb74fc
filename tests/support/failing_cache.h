// A block cache on a medium that fails on demand.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"

namespace nvcache::test {

struct FailingCache {
  std::shared_ptr<BlockCache> cache;
  FailingMedium* medium = nullptr;  // the cache's
};

// `spec` configures the cache; its medium is the one that `medium_spec` names. If it
// cannot be opened, there is no cache and the test fails. The clock must outlive the cache.
inline FailingCache open_failing(const std::string& spec, const std::string& medium_spec,
                                 Clock& clock = system_clock()) {
  const StatusOr<Config> config = parse_config(spec);
  EXPECT_TRUE(config.ok()) << config.status();
  if (!config.ok()) return {};
  auto inner = open_medium(
      medium_spec, {.size_bytes = config->size_bytes, .max_size_bytes = config->max_size_bytes},
      clock);
  EXPECT_TRUE(inner.ok()) << inner.status();
  if (!inner.ok()) return {};
  auto medium = std::make_unique<FailingMedium>(*std::move(inner));
  FailingMedium* const failing = medium.get();
  return {make_on(spec, std::move(medium), clock), failing};
}

}  // namespace nvcache::test
