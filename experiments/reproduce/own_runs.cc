#include "experiments/reproduce/own_runs.h"

#include "experiments/nvmcached/nvmcached_options.h"
#include "experiments/nvmcached/nvmcached_run.h"

namespace nvcache::reproduce {

StatusOr<nlohmann::json> run_small_nvmcached(const std::string& command, const Clock& clock) {
  auto traces = nvmcached::parse_traces(nvmcached::kv_traces_text());
  if (!traces.ok()) return traces.status();
  nvmcached::Options options;
  options.figures = {3, 4, 5};
  options.media = {"emulated:dram"};
  options.traces = *std::move(traces);
  options.get_percents = {95, 50, 5};
  options.cache_bytes = 64 << 20;
  options.requests = 50'000;
  options.rounds = 3;
  options.window = 100'000;
  options.command = command;
  return nvmcached::run_nvmcached(options, clock);
}

}  // namespace nvcache::reproduce
