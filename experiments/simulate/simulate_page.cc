// The pages docs/results/simulate.md and simulate_memcached.md, and one of RocksDB: the engine's
// introduction, the tables, and the engine's end.
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/engines.h"
#include "experiments/simulate/simulate_report.h"
#include "fmt/format.h"

namespace nvcache::simulate {
namespace {

constexpr char kIntroduction[] = R"(# Simulated: {} at the size of the papers

**Every figure on this page is simulated.** None was measured on NVRAM, and none is fitted to the
numbers of a paper. The second tier is the real `{}` with its real policies; what is around
it, engine, OS, memory and disk, is a model. Sizes are 1/{} of those that are named, with every
period of time; rates, latencies, clients and cores are whole. Written by

    {}

"{} = 1" compares with DRAM alone, of the same workload. Tier hits are those of the second tier;
for Memory Mode, the groups of lines that were found in DRAM. Deviations are standard deviations
over the mean: over time of the 30 even parts of the second half, by seed of the whole runs.

## Results

)";

constexpr char kSpread[] = R"(## The spread

The text on Memory Mode saw throughputs that varied much from run to run, the more the larger the
NVRAM, and never with NVCache. It suspects bursts of writes; *Writes Hurt* (section 4.3) suspects
conflicts of direct mapping. Both are in the model: a seed chooses where frames lie, and checkpoints
write in bursts. The largest deviations of all workloads, by seed and over the parts of a run:

)";

}  // namespace

std::string introduction_of_tiers(std::string_view engine, std::string_view cache,
                                  std::string_view base, const Options& options,
                                  const std::string& command) {
  return fmt::format(kIntroduction, engine, cache, options.scale, command, base);
}

std::string page(const std::vector<Run>& runs, const std::string& command) {
  const Options options = runs.empty() ? Options() : runs.front().options;
  const EngineRow& engine = *find_engine(options.engine);
  std::string text = engine.introduction(options, command) + markdown_tables(runs);
  const std::string spread = engine.shows_spread ? spread_table(runs) : "";
  if (!spread.empty()) text += kSpread + spread;
  return text + std::string(engine.page_end());
}

}  // namespace nvcache::simulate
