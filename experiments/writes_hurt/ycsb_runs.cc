#include "experiments/writes_hurt/ycsb_runs.h"

#include <utility>

#include "base/text.h"
#include "experiments/workload/record.h"
#include "experiments/writes_hurt/configurations.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/ycsb/ycsb_command.h"

namespace nvcache::writes_hurt {
namespace {

using nlohmann::json;

constexpr double kFigure7NvramGb[] = {64, 128, 252};
constexpr uint64_t kRowBytes = kRecordBytes + 60;  // with its key, on disk

BenchOptions bench_options(const Options& options, const YcsbRow& row, const std::string& folder,
                           double dram_gb) {
  BenchOptions bench;
  bench.engine = options.engine;
  bench.records = ycsb_records(row.dataset_gb);
  bench.threads = scaled_threads(row.threads);
  bench.seconds = options.ycsb_seconds;
  bench.warmup_seconds = options.ycsb_warmup_seconds;
  bench.rounds = 1;  // rounds are gone through outside, over all memory sizes
  // Direct I/O leaves the OS nothing to cache: the engine's cache has all the DRAM.
  bench.dram_cache_bytes = scaled_bytes(dram_gb);
  bench.db = folder;
  bench.keep_db = true;
  bench.command = options.command;
  return bench;
}

class YcsbRunner {
 public:
  YcsbRunner(const Options& options, WorkFolder& folder, const Clock& clock)
      : options_(options), folder_(folder), clock_(clock) {}

  Status run(const YcsbRow& row) {
    name_ = fmt::format("ycsb-{}", row.letter);
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      if (options_.figures.contains(7)) {
        if (Status status = figure7(row, round); !status.ok()) return status;
      }
      if (options_.figures.contains(8)) {
        if (Status status = figure8(row, round); !status.ok()) return status;
      }
    }
    folder_.done_with(name_);
    return ok_status();
  }

  YcsbRuns take() { return std::move(result_); }

 private:
  Status figure7(const YcsbRow& row, uint32_t round) {
    BenchOptions bench = bench_options(options_, row, folder_.path(name_), kLargeDramGb);
    bench.configurations.push_back({std::string(kNone), ""});
    for (const double nvram_gb : kFigure7NvramGb) {
      for (CacheChoice& choice : figure7_choices(options_, nvram_gb)) {
        bench.configurations.push_back({std::move(choice.name), std::move(choice.spec)});
      }
    }
    return run(row, bench, round, {{"figure", 7}, {"dram_gb", kLargeDramGb}});
  }

  Status figure8(const YcsbRow& row, uint32_t round) {
    for (const CostRow& split : table4()) {
      BenchOptions bench = bench_options(options_, row, folder_.path(name_), split.dram_gb);
      if (split.nvram_gb == 0) {
        bench.configurations.push_back({std::string(kNone), ""});
      } else {
        CacheChoice choice = figure7_choices(options_, split.nvram_gb)[1];
        bench.configurations.push_back({std::move(choice.name), std::move(choice.spec)});
      }
      Status status =
          run(row, bench, round,
              {{"figure", 8}, {"dram_gb", split.dram_gb}, {"nvram_gb", split.nvram_gb}});
      if (!status.ok()) return status;
    }
    return ok_status();
  }

  Status run(const YcsbRow& row, BenchOptions& bench, uint32_t round, const json& more) {
    auto workload = ycsb_workload(std::string_view(&row.letter, 1));
    if (!workload.ok()) return workload.status();
    bench.workloads.push_back(*workload);
    const auto document = run_bench(bench, clock_);
    if (!document.ok()) return document.status();
    if (result_.engine.is_null()) result_.engine = (*document)["engine"];
    const json& bytes = (*document)["setup"]["database_bytes"];
    if (seen_ != name_) {
      result_.databases.push_back(
          {{"workload", name_}, {"bytes", bytes}, {"records", bench.records}});
      seen_ = name_;
    }
    for (json entry : (*document)["runs"]) {
      entry.erase("series");
      entry.erase("latency");
      entry["round"] = round;
      entry.update(more);
      result_.runs.push_back(std::move(entry));
    }
    return ok_status();
  }

  const Options& options_;
  WorkFolder& folder_;
  const Clock& clock_;
  std::string name_;
  std::string seen_;
  YcsbRuns result_;
};

}  // namespace

uint64_t ycsb_records(double dataset_gb) { return scaled_bytes(dataset_gb) / kRowBytes; }

StatusOr<YcsbRuns> run_ycsb(const Options& options, WorkFolder& folder, const Clock& clock) {
  YcsbRunner runner(options, folder, clock);
  for (const YcsbRow& row : table3()) {
    if (options.ycsb.find(row.letter) == std::string::npos) continue;
    if (Status status = runner.run(row); !status.ok()) return status;
  }
  return runner.take();
}

}  // namespace nvcache::writes_hurt
