#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "device/measure.h"
#include "fmt/format.h"

namespace nvcache::bench {
namespace {

constexpr uint64_t kKeysPerBlock = 4;  // keys for each block that the medium has room for
constexpr uint64_t kOffersARound = 16;
constexpr uint64_t kLookupsPerBlock = 16;  // lookups, likewise

// Numbers below `count`, of which number i has the share (i + 1)^-0.99. Memory: 8 bytes a number.
class Zipf {
 public:
  explicit Zipf(uint64_t count) : sums_(count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -0.99);
      sums_[i] = sum;
    }
  }
  uint64_t next(Prng& random) const {
    const auto at = std::ranges::lower_bound(sums_, random.unit() * sums_.back());
    return static_cast<uint64_t>(std::min(at, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

struct Setting {
  const char* name;
  const char* settings;
};
constexpr Setting kSettings[] = {
    {"regions, default policies", "&space=regions&format=yes"},
    {"in place, default policies", "&space=in_place"},
    {"regions, always+tinylfu", "&space=regions&format=yes&admission=always&eviction=tinylfu"},
    {"in place, always+tinylfu", "&space=in_place&admission=always&eviction=tinylfu"},
    {"in place, always+lru", "&space=in_place&admission=always&eviction=lru"},
};

void offer(BlockCache& cache, uint64_t number, MissToken token) {
  std::vector<std::byte> block(kBlockBytes);
  std::memcpy(block.data(), &number, sizeof number);
  (void)cache.put(key_of(number), block, Origin::kRead, token);
}

// Lets the cache catch up. A refusal for want of a free region or buffer would be the disk's, and
// not the policies'; and a second offer would count as a second use.
void wait_for_room(const BlockCache& cache) {
  constexpr uint64_t kSpareRegions = 2;
  constexpr uint64_t kMostPendingBytes = 4 << 20;
  for (int turn = 0; turn < 50'000; ++turn) {
    const Stats now = cache.stats();
    const bool has_room = now.regions == 0 ? now.pending_bytes <= kMostPendingBytes
                                           : now.free_regions >= kSpareRegions &&
                                                 now.pending_bytes <= now.buffer_bytes / 2;
    if (has_room) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Status measure(const Disk& disk, const Setting& setting, Figures* figures) {
  const uint64_t size_bytes = disk.size_bytes / 4;  // hits read the disk one by one
  const uint64_t room = size_bytes / kBlockBytes;
  auto cache = open_cache(disk, "cache", size_bytes, setting.settings);
  if (!cache.ok()) return cache.status();
  const Zipf zipf(kKeysPerBlock * room);
  Prng random(1);
  uint64_t hits = 0;
  uint64_t offers = 0;
  const uint64_t lookups = kLookupsPerBlock * room;
  for (uint64_t i = 0; i < lookups; ++i) {
    const uint64_t number = zipf.next(random);
    const Lookup found = (*cache)->lookup(key_of(number));
    if (!found.hit()) {
      if (++offers % kOffersARound == 0) wait_for_room(**cache);
      offer(**cache, number, found.token);
    } else if (i >= lookups / 2) {
      ++hits;
    }
  }
  (*cache)->drain();
  const Stats stats = (*cache)->stats();
  const auto add = [&](const char* what, const char* unit, double value) {
    figures->add(fmt::format("{}: {}", setting.name, what), unit, value);
  };
  const auto written_bytes = static_cast<double>(stats.medium_written_bytes);
  add("hit ratio of the second half", "%",
      200.0 * static_cast<double>(hits) / static_cast<double>(lookups));
  add("medium in use by blocks", "%",
      100.0 * static_cast<double>(stats.data_bytes) / static_cast<double>(size_bytes));
  add("written, by the medium's size", "x", written_bytes / static_cast<double>(size_bytes));
  add("of that written again", "%",
      100.0 * static_cast<double>(stats.rewritten_bytes) / written_bytes);
  add("mean write", "KiB", written_bytes / static_cast<double>(stats.medium_writes) / 1024);
  return ok_status();
}

}  // namespace

Status measure_steady_state(const Disk& disk, Figures* figures) {
  for (const Setting& setting : kSettings) {
    if (Status measured = measure(disk, setting, figures); !measured.ok()) return measured;
  }
  return ok_status();
}

}  // namespace nvcache::bench
