// The cost of a pass of background eviction for each slot of a shard: passes a second apart that
// free nothing, and passes that free some blocks.
//   nvcache_bench --benchmark_filter=eviction_pass/
#include <cstdint>

#include "benchmark/benchmark.h"
#include "policy/eviction/make_eviction.h"

namespace nvcache {
namespace {

class AllResident final : public Residents {
 public:
  explicit AllResident(uint32_t slots) : slots_(slots) {}
  uint32_t slot_limit() const override { return slots_; }
  bool evictable(uint32_t) const override { return true; }
  uint64_t key_hash(uint32_t slot) const override { return slot; }

 private:
  const uint32_t slots_;
};

// Arguments: slots; blocks to free in a million.
void bench_pass(benchmark::State& state) {
  const auto slots = static_cast<uint32_t>(state.range(0));
  const double share = static_cast<double>(state.range(1)) / 1e6;
  auto policy = *make_eviction("lfru", {.max_slots = slots});
  EvictionPasses& passes = *policy->passes();
  const AllResident residents(slots);
  uint64_t now_ns = 1'000'000'000;
  passes.begin_pass(residents, now_ns, 0);
  for (uint32_t slot = 0; slot < slots; ++slot) policy->on_insert(slot, slot);
  for (int second = 0; second < 100; ++second) {
    passes.begin_pass(residents, now_ns += 1'000'000'000, 0);
  }
  for (auto _ : state) {
    passes.begin_pass(residents, now_ns += 1'000'000'000, share);
    while (share > 0) {
      const auto victim = policy->next_victim(residents);
      if (!victim) break;
      policy->on_remove(*victim, *victim, true);
      policy->on_insert(*victim, *victim);  // another block takes its place
    }
  }
  state.counters["ns_per_slot"] = benchmark::Counter(
      slots, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(bench_pass)
    ->Name("eviction_pass/lfru")
    ->ArgsProduct({{1 << 20, 1 << 24}, {0, 1000}})
    ->ArgNames({"slots", "per_million"})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nvcache
