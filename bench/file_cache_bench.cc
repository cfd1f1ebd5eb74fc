// The cost of dropping a file with many cached blocks: the caller's wait, and the thread's time for
// each block.
//   nvcache_bench --benchmark_filter=file_cache/
#include <chrono>
#include <memory>
#include <vector>

#include "benchmark/benchmark.h"
#include "file_cache/file_block_cache.h"

namespace nvcache {
namespace {

void bench_forget(benchmark::State& state) {
  const auto blocks = static_cast<uint64_t>(state.range(0));
  auto cache = open_block_cache("nvcache://?size=1GiB&admission=always&eviction=none&verify=never");
  FileBlockCache files(*std::move(cache));
  const std::vector<std::byte> block(512);
  double erase_ns = 0;
  for (auto _ : state) {
    const auto file = files.open("a", {});
    for (uint64_t i = 0; i < blocks; ++i) {
      ReadTicket ticket;
      std::byte into[512];
      if (!file->read(i * 512, into, &ticket)) file->offer(i * 512, block, ticket);
    }
    const auto began = std::chrono::steady_clock::now();
    files.forget("a");
    const auto forgot = std::chrono::steady_clock::now();
    files.drain();
    const auto drained = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(forgot - began).count());
    erase_ns += std::chrono::duration<double, std::nano>(drained - began).count();
  }
  state.counters["erase_ns_per_block"] =
      erase_ns / static_cast<double>(state.iterations()) / static_cast<double>(blocks);
}
BENCHMARK(bench_forget)
    ->Name("file_cache/forget")
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->ArgName("blocks")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace nvcache
