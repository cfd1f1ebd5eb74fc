// The cost of an access to a medium in software: the emulated media's own overhead
// (docs/design/model.md quotes it), and the checks of a mapped file.
//   nvcache_bench --benchmark_filter=medium/
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "benchmark/benchmark.h"
#include "medium/dram.h"
#include "medium/emulated.h"
#include "medium/file.h"
#include "medium/profiles.h"

namespace nvcache {
namespace {

constexpr uint64_t kSizeBytes = 64 << 20;

// Optane's model with costs so small that it never waits: the rest is the model's own time.
std::unique_ptr<Medium> free_of_charge() {
  Profile profile = *find_profile("optane");
  profile.read_latency_ns = 0;
  profile.write_latency_ns = 0;
  profile.stream_gb_s = 0;
  profile.curve = {{{0, 3e9, 1e9}, {1, 2e9, 1e9}, {8, 1e9, 1e9}}};
  return std::make_unique<EmulatedMedium>(profile, *DramMedium::open({.size_bytes = kSizeBytes}),
                                          system_clock());
}

void bench_emulated_read_in_place(benchmark::State& state) {
  const auto medium = free_of_charge();
  for (auto _ : state) benchmark::DoNotOptimize(medium->on_direct_read({0, 64}));
}
BENCHMARK(bench_emulated_read_in_place)->Name("medium/emulated/own_cost_of_read");

void bench_emulated_write(benchmark::State& state) {
  const auto medium = free_of_charge();
  const std::byte block[64] = {};
  for (auto _ : state) benchmark::DoNotOptimize(medium->write(0, block));
}
BENCHMARK(bench_emulated_write)->Name("medium/emulated/own_cost_of_write");

// How far a real wait overshoots: time taken less the time that the model asks for.
void bench_emulated_wait(benchmark::State& state) {
  const Profile& profile = *find_profile("optane");
  EmulatedMedium medium(profile, *DramMedium::open({.size_bytes = kSizeBytes}), system_clock());
  for (auto _ : state) benchmark::DoNotOptimize(medium.on_direct_read({0, 4096}));
  state.counters["model_ns"] =
      static_cast<double>(profile.read_latency_ns) + 4096 / profile.stream_gb_s;
}
BENCHMARK(bench_emulated_wait)->Name("medium/emulated/optane_read_4KiB");

class MappedFile {
 public:
  MappedFile() : path_(std::filesystem::temp_directory_path() / "nvcache_bench.blocks") {
    auto opened = open_file_medium(path_, FileIo::kMmap, {.size_bytes = kSizeBytes});
    if (!opened.ok()) std::abort();
    medium_ = *std::move(opened);
    const std::vector<std::byte> block(1 << 20);
    for (uint64_t offset = 0; offset < kSizeBytes; offset += block.size()) {
      if (!medium_->write(offset, block).ok()) std::abort();
    }
  }
  Medium& medium() { return *medium_; }

 private:
  std::string path_;
  std::unique_ptr<Medium> medium_;
};

void bench_mapped_check(benchmark::State& state) {
  MappedFile file;
  Prng random(1);
  const auto size_bytes = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    const uint64_t offset = random.below(kSizeBytes / size_bytes) * size_bytes;
    benchmark::DoNotOptimize(file.medium().on_direct_read({offset, size_bytes}));
  }
}
BENCHMARK(bench_mapped_check)->Name("medium/file_mmap/check_in_place")->Arg(4096)->Arg(16384);

void bench_mapped_read(benchmark::State& state) {
  MappedFile file;
  Prng random(1);
  const auto size_bytes = static_cast<uint64_t>(state.range(0));
  std::vector<std::byte> into(size_bytes);
  for (auto _ : state) {
    const uint64_t offset = random.below(kSizeBytes / size_bytes) * size_bytes;
    benchmark::DoNotOptimize(file.medium().read(offset, into));
  }
}
BENCHMARK(bench_mapped_read)->Name("medium/file_mmap/read")->Arg(4096)->Arg(16384);

}  // namespace
}  // namespace nvcache
