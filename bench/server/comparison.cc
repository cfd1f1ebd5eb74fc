#include "comparison.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "base/text.h"
#include "load.h"
#include "server_process.h"

namespace nvcache::bench {
namespace {

constexpr int kServerCpu = 0;
constexpr uint64_t kItemBytes = 100;  // at most, without the value

std::string data_file(const ComparisonOptions& options) { return options.folder + "/data"; }

std::vector<std::string> nvcached_command(const ComparisonOptions& options, uint64_t memory_mib) {
  return {options.nvcached, "-m", std::to_string(memory_mib),
          "--medium=file:" + data_file(options)};
}

std::vector<std::string> memcached_command(const ComparisonOptions& options, uint64_t memory_mib) {
  return {options.memcached, "-m", std::to_string(memory_mib)};
}

// What `exchange` costs the server.
template <typename Exchange>
StatusOr<Half> measured(const ServerProcess& server, Exchange&& exchange) {
  const uint64_t before_ns = server.cpu_ns();
  const auto start = std::chrono::steady_clock::now();
  const StatusOr<LoadResult> result = exchange();
  if (!result.ok()) return result.status();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto cpu_seconds = static_cast<double>(server.cpu_ns() - before_ns) * 1e-9;
  if (result->wrong != 0)
    return invalid_argument("the server returned {} wrong values", result->wrong);
  const auto requests = static_cast<double>(result->requests());
  return Half{requests / cpu_seconds, requests / took.count(),
              result->gets == 0
                  ? 1
                  : static_cast<double>(result->hits) / static_cast<double>(result->gets)};
}

StatusOr<MixResult> run_pairs(const ComparisonOptions& options, uint32_t value_bytes,
                              const Mix& mix, uint64_t keys, ServerProcess& nvcached,
                              ServerProcess& memcached) {
  const LoadOptions load = {.keys = keys, .value_bytes = value_bytes, .set_share = mix.set_share};
  auto to_nvcached = Load::connect(nvcached.port(), load, options.seed);
  if (!to_nvcached.ok()) return to_nvcached.status();
  auto to_memcached = Load::connect(memcached.port(), load, options.seed);
  if (!to_memcached.ok()) return to_memcached.status();
  MixResult result = {value_bytes, mix.name, {}, {}};
  for (uint32_t round = 0; round < options.rounds; ++round) {
    const StatusOr<Half> ours =
        measured(nvcached, [&] { return to_nvcached->run(options.seconds); });
    if (!ours.ok()) return ours.status();
    const StatusOr<Half> theirs =
        measured(memcached, [&] { return to_memcached->run(options.seconds); });
    if (!theirs.ok()) return theirs.status();
    result.nvcached.push_back(*ours);
    result.memcached.push_back(*theirs);
  }
  return result;
}

StatusOr<Half> fill(const ServerProcess& server, const LoadOptions& options) {
  auto load = Load::connect(server.port(), options, 1);
  if (!load.ok()) return load.status();
  return measured(server, [&] { return load->fill(); });
}

// Sends sets until that many bytes are written.
Status write_through(const ServerProcess& server, LoadOptions options, uint64_t size_bytes) {
  options.set_share = 1;
  auto load = Load::connect(server.port(), options, 2);
  for (uint64_t written = 0; load.ok() && written < size_bytes;) {
    const StatusOr<LoadResult> result = load->run(0.2);
    if (!result.ok()) return result.status();
    written += result->sets * options.value_bytes;
  }
  return load.status();
}

// A virtual machine may have returned free memory to its host, and then pays for it at the first
// touch: up to 10 us a page here, whoever comes first. So both servers find memory that was in use
// a moment ago.
void warm_memory(uint64_t size_bytes) {
  const std::vector<char> bytes(size_bytes, 1);
  volatile char last = bytes[size_bytes - 1];
  (void)last;
}

// New servers for each pair, in alternate order.
StatusOr<MixResult> fill_pairs(const ComparisonOptions& options, const LoadOptions& load) {
  MixResult result = {load.value_bytes, "fill", {}, {}};
  for (uint32_t turn = 0; turn < 2 * options.rounds; ++turn) {
    const bool ours = turn % 2 == turn / 2 % 2;
    std::filesystem::remove(data_file(options));
    warm_memory(uint64_t{options.memory_mib} << 20);
    auto server = ServerProcess::start(ours ? nvcached_command(options, options.memory_mib)
                                            : memcached_command(options, options.memory_mib),
                                       options.folder, kServerCpu);
    if (!server.ok()) return server.status();
    const StatusOr<Half> half = fill(*server, load);
    if (!half.ok()) return half.status();
    (ours ? result.nvcached : result.memcached).push_back(*half);
  }
  return result;
}

}  // namespace

StatusOr<std::vector<MixResult>> compare_throughput(const ComparisonOptions& options,
                                                    void (*say)(const std::string&)) {
  std::vector<MixResult> results;
  for (const uint32_t value_bytes : options.value_bytes) {
    const uint64_t memory_bytes = uint64_t{options.memory_mib} << 20;
    const uint64_t keys = memory_bytes / 4 / (value_bytes + kItemBytes);
    say(fmt::format("{} keys of {} bytes, first fill", keys, value_bytes));
    auto filled = fill_pairs(options, {.keys = keys, .value_bytes = value_bytes});
    if (!filled.ok()) return filled.status();
    results.push_back(*std::move(filled));
    std::filesystem::remove(data_file(options));
    auto nvcached = ServerProcess::start(nvcached_command(options, options.memory_mib),
                                         options.folder, kServerCpu);
    if (!nvcached.ok()) return nvcached.status();
    auto memcached = ServerProcess::start(memcached_command(options, options.memory_mib),
                                          options.folder, kServerCpu);
    if (!memcached.ok()) return memcached.status();
    const LoadOptions load = {.keys = keys, .value_bytes = value_bytes};
    for (const ServerProcess* server : {&*nvcached, &*memcached}) {
      if (const auto half = fill(*server, load); !half.ok()) return half.status();
      if (Status status = write_through(*server, load, 2 * memory_bytes); !status.ok()) {
        return status;
      }
    }
    for (const Mix& mix : kMixes) {
      const auto& wanted = options.mixes;
      if (std::find(wanted.begin(), wanted.end(), mix.name) == wanted.end()) continue;
      say(fmt::format("{} bytes, {}", value_bytes, mix.name));
      auto result = run_pairs(options, value_bytes, mix, keys, *nvcached, *memcached);
      if (!result.ok()) return result.status();
      results.push_back(*std::move(result));
    }
  }
  std::filesystem::remove(data_file(options));
  return results;
}

StatusOr<RestartResult> compare_restart(const ComparisonOptions& options, uint64_t items,
                                        uint32_t value_bytes, void (*say)(const std::string&)) {
  RestartResult result = {.items = items, .value_bytes = value_bytes};
  const uint64_t memory_mib = (items * (value_bytes + kItemBytes) >> 20) + 256;
  const LoadOptions load = {.keys = items, .value_bytes = value_bytes};
  const auto per_item = [&](uint64_t before, uint64_t after) {
    return static_cast<double>(after - std::min(before, after)) / static_cast<double>(items);
  };
  {
    auto memcached =
        ServerProcess::start(memcached_command(options, memory_mib), options.folder, kServerCpu);
    if (!memcached.ok()) return memcached.status();
    say(fmt::format("{} items into memcached", items));
    if (const auto filled = fill(*memcached, load); !filled.ok()) return filled.status();
    result.memcached_bytes_per_item = per_item(0, memcached->anonymous_bytes());
  }
  std::filesystem::remove(data_file(options));
  const std::vector<std::string> command = nvcached_command(options, memory_mib);
  {
    auto nvcached = ServerProcess::start(command, options.folder, kServerCpu);
    if (!nvcached.ok()) return nvcached.status();
    say(fmt::format("{} items into nvcached", items));
    if (const auto filled = fill(*nvcached, load); !filled.ok()) return filled.status();
    result.nvcached_dram_bytes_per_item = per_item(0, nvcached->anonymous_bytes());
    result.nvcached_bytes_per_item =
        per_item(nvcached->anonymous_bytes(), nvcached->resident_bytes());
    say("kill -9");
    nvcached->kill_now();
  }
  const auto start = std::chrono::steady_clock::now();
  auto again = ServerProcess::start(command, options.folder, kServerCpu);
  if (!again.ok()) return again.status();
  auto asking = Load::connect(
      again->port(), {.keys = items, .value_bytes = value_bytes, .connections = 1, .depth = 1},
      options.seed);
  if (!asking.ok()) return asking.status();
  StatusOr<LoadResult> first = asking->run(0);
  if (!first.ok()) return first.status();
  result.seconds_to_serving =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto sampling = Load::connect(again->port(), load, options.seed + 1);
  if (!sampling.ok()) return sampling.status();
  const StatusOr<LoadResult> found = sampling->run(2);
  if (!found.ok()) return found.status();
  if (found->wrong != 0)
    return invalid_argument("the server returned {} wrong values", found->wrong);
  result.asked = found->gets;
  result.share_found = static_cast<double>(found->hits) / static_cast<double>(found->gets);
  std::filesystem::remove(data_file(options));
  return result;
}

}  // namespace nvcache::bench
