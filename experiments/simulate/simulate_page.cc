// The pages docs/results/simulate.md and simulate_memcached.md, and one of RocksDB: a beginning,
// the tables, and page_end.txt or store_page_end.txt.
#include <string>
#include <vector>

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

constexpr char kStoreIntroduction[] = R"(# Simulated: memcached on NVRAM, the systems of *NVMcached*

**Every figure on this page is simulated.** None was measured on NVRAM, and none is fitted to the
numbers of a paper. The cache is the real `KvStore`, with the durability of each of the four
systems; memory, processors and clients are a model. Sizes are 1/{} of those that are named, with
every period of time; rates, latencies, clients and cores are whole. Written by

    {}

"mc-nvm = 1" compares with MC-NVM, of the same workload. Deviations are standard deviations over the
mean: over time of the 30 even parts of the second half, by seed of the whole runs.

## Results

)";

constexpr char kSpread[] = R"(## The spread

The text on Memory Mode saw throughputs that varied much from run to run, the more the larger the
NVRAM, and never with NVCache. It suspects bursts of writes; *Writes Hurt* (section 4.3) suspects
conflicts of direct mapping. Both are in the model: a seed chooses where frames lie, and checkpoints
write in bursts. The largest deviations of all workloads, by seed and over the parts of a run:

)";

}  // namespace

std::string page(const std::vector<Run>& runs, const std::string& command) {
  const Options options = runs.empty() ? Options() : runs.front().options;
  if (options.engine == "memcached") {
    return fmt::format(kStoreIntroduction, options.scale, command) + markdown_tables(runs) +
           std::string(store_page_end());
  }
  if (options.engine == "rocksdb") {
    return fmt::format(kIntroduction, "RocksDB", "TieredCache", options.scale, command, "64-0") +
           markdown_tables(runs) + std::string(page_end());
  }
  const std::string spread = spread_table(runs);
  return fmt::format(kIntroduction, "WiredTiger", "BlockCache", options.scale, command, "none") +
         markdown_tables(runs) + (spread.empty() ? "" : kSpread + spread) + std::string(page_end());
}

}  // namespace nvcache::simulate
