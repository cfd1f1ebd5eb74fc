// The command nvcache_kv_pauses: how long one GET or SET of a KvStore takes at the most while
// zones are cleaned. One thread does both in turn, so that on two processors the cleaner has one.
//
// The machine itself stops a thread now and then. The row "machine" tells for how long: a thread
// that only reads the clock, for as long, beside a thread that copies memory as the cleaner does.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/histogram.h"
#include "base/print.h"
#include "base/prng.h"
#include "fmt/format.h"
#include "nvcache/kv_store.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string settings = "medium=dram";
  uint64_t size_mib = 512;
  double fill = 0.75;  // live bytes, as a share of the store
  double seconds = 10;
  std::vector<uint64_t> value_bytes = {100, 1000, 10000};
};

uint64_t ns_since(Clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

std::string key_of(uint64_t i) { return fmt::format("key:{:012}", i); }

void print_row(const std::string& what, const nvcache::Histogram& ns, const std::string& rest) {
  const auto us = [](uint64_t n) { return static_cast<double>(n) / 1e3; };
  nvcache::print_to(stdout, "{:>16}{:>12}{:>10.2f}{:>10.1f}{:>10.1f}{:>10.1f}  {}\n", what,
                    ns.count(), us(ns.quantile(0.5)), us(ns.quantile(0.999)),
                    us(ns.quantile(0.9999)), us(ns.max()), rest);
}

void measure_machine(double seconds) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::vector<char> from(4 << 20), to(4 << 20);
    while (!done.load()) std::memcpy(to.data(), from.data(), from.size());
  });
  nvcache::Histogram gaps;
  const auto start = Clock::now();
  for (auto last = start; last - start < std::chrono::duration<double>(seconds);) {
    const auto now = Clock::now();
    gaps.record(static_cast<uint64_t>((now - last).count()));
    last = now;
  }
  done.store(true);
  other.join();
  print_row("machine", gaps, "");
}

bool measure(const Options& options, uint64_t value_bytes) {
  auto opened = nvcache::open_kv_store(fmt::format(
      "nvkv://?size={}MiB&item={}&{}", options.size_mib, value_bytes + 41, options.settings));
  if (!opened.ok()) {
    nvcache::print_to(
        stderr, "nvcache_kv_pauses: {}\n",
        std::string(opened.status().message().data(), opened.status().message().size()));
    return false;
  }
  nvcache::KvStore& store = **opened;
  const auto value = std::vector<std::byte>(value_bytes, std::byte{7});
  const auto room = static_cast<double>(options.size_mib << 20) * options.fill;
  const auto keys = static_cast<uint64_t>(room / static_cast<double>(value_bytes + 41 + 16));
  for (uint64_t i = 0; i < keys; ++i) (void)store.put(key_of(i), value, {});
  nvcache::Prng random(1);
  // Until every zone has been cleaned once.
  for (uint64_t i = 0; i < keys; ++i) (void)store.put(key_of(random.below(keys)), value, {});
  const nvcache::KvStats before = store.stats();
  nvcache::Histogram gets;
  nvcache::Histogram sets;
  uint64_t misses = 0;
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::duration<double>(options.seconds)) {
    for (int i = 0; i < 100; ++i) {
      const std::string get_key = key_of(random.below(keys));
      const std::string put_key = key_of(random.below(keys));
      auto at = Clock::now();
      misses += !store.get(get_key);
      gets.record(ns_since(at));
      at = Clock::now();
      (void)store.put(put_key, value, {});
      sets.record(ns_since(at));
    }
  }
  const nvcache::KvStats after = store.stats();
  const std::string rest = fmt::format("{} zones cleaned, {} misses",
                                       after.zones_cleaned - before.zones_cleaned, misses);
  print_row(fmt::format("{} B GET", value_bytes), gets, rest);
  print_row(fmt::format("{} B SET", value_bytes), sets, "");
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"The longest GET and SET of a KvStore while zones are cleaned", "nvcache_kv_pauses"};
  Options options;
  app.add_option("--settings", options.settings, "settings of the store beside its size and item")
      ->capture_default_str();
  app.add_option("--size-mib", options.size_mib, "size of the store")->capture_default_str();
  app.add_option("--fill", options.fill, "live bytes as a share of the store")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "of each measurement")->capture_default_str();
  app.add_option("--value-bytes", options.value_bytes, "sizes of values")->capture_default_str();
  app.footer("Example:\n  nvcache_kv_pauses --settings 'medium=file:/dev/shm/kv&cleaner=inline'");
  CLI11_PARSE(app, argc, argv);
  nvcache::print_to(stdout, "{:>16}{:>12}{:>10}{:>10}{:>10}{:>10}\n", "microseconds", "operations",
                    "median", "99.9%", "99.99%", "longest");
  measure_machine(options.seconds);
  for (const uint64_t bytes : options.value_bytes) {
    if (!measure(options, bytes)) return 1;
  }
  return 0;
} catch (const std::exception& problem) {
  nvcache::print_to(stderr, "nvcache_kv_pauses: {}\n", problem.what());
  return 1;
}
