// *NVMcached* (APSys '16): the key-value store by `nvcache bench nvmcached`, or by a small run of
// this command (own_runs.h).
#include <algorithm>
#include <string>

#include "experiments/nvmcached/nvmcached_options.h"
#include "experiments/reproduce/rows.h"
#include "experiments/workload/kv_trace.h"
#include "fmt/format.h"
#include "kv_store/format/layout.h"

namespace nvcache::reproduce {
namespace {

using figures::ratios_of;
using figures::runs_of;
using nlohmann::json;

constexpr std::string_view kMissingKv =
    "results of 'nvcache bench nvmcached --json', or this command without --no-runs";
// The paper emulated NVM by DRAM with CLFLUSH: the profile that stands for it.
constexpr std::string_view kPlatform = "emulated:dram";
constexpr std::string_view kOurSystem = "NVMcached";
constexpr std::string_view kBaseSystem = "MC-NVM";

Finding kv_finding(const Evidence& evidence, Ours ours, const std::string& more) {
  std::string names;
  for (const Evidence::Document* document : evidence.of(kKvFormat)) {
    const json& setup = document->json.at("setup");
    names += fmt::format("{}{}: 64 GB are {} MiB", names.empty() ? "" : "; ", document->name,
                         setup.value("cache_bytes", uint64_t{0}) >> 20);
  }
  return {Source::kReal, std::move(ours), names + "; " + more};
}

std::optional<double> kv_ops(const json& run) {
  const json& metrics = run.at("metrics");
  if (!metrics.contains("ops_per_second")) return std::nullopt;
  return metrics["ops_per_second"].get<double>();
}

std::optional<double> over_mc_nvm(const Evidence& evidence, const std::string& workload) {
  return median(collect(evidence, kKvFormat, [&](const json& document) {
    const json& runs = document.at("runs");
    return ratios_of(runs_of(runs, workload, kPlatform, kOurSystem),
                     runs_of(runs, workload, kPlatform, kBaseSystem), kv_ops);
  }));
}

std::optional<Finding> trace_speedup(const Evidence& evidence, const char* trace) {
  const auto ratio = over_mc_nvm(evidence, trace);
  if (!ratio) return std::nullopt;
  return kv_finding(evidence, number(*ratio), fmt::format("EMULATED {}", kPlatform));
}

// The greatest over sizes of values and mixes.
std::optional<Finding> mixes_speedup(const Evidence& evidence) {
  std::optional<double> most;
  std::string at;
  for (const Evidence::Document* document : evidence.of(kKvFormat)) {
    for (const json& run : document->json.at("runs")) {
      const auto workload = run.at("workload").get<std::string>();
      if (!workload.ends_with("% GET")) continue;
      const auto ratio = over_mc_nvm(evidence, workload);
      if (!ratio || (most && *ratio <= *most)) continue;
      most = ratio;
      at = workload;
    }
  }
  if (!most) return std::nullopt;
  return kv_finding(evidence, number(*most), fmt::format("EMULATED {}; {}", kPlatform, at));
}

// The median over the traces of bytes lost, in %.
std::optional<Finding> crash_loss(const Evidence& evidence) {
  const auto shares = collect(evidence, kKvFormat, [](const json& document) {
    std::vector<double> values;
    for (const json& crash : document.value("crashes", json::array())) {
      if (crash.at("system") == kOurSystem) {
        values.push_back(100 * crash.at("bytes_lost_share").get<double>());
      }
    }
    return values;
  });
  const auto middle = median(shares);
  if (!middle) return std::nullopt;
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  return kv_finding(
      evidence, number(*middle),
      fmt::format("bytes of {} crashes, {:.3f} to {:.3f}%", shares.size(), *least, *most));
}

Row mix_row(const char* id, const char* name) {
  std::vector<Finder> finders;
  const auto traces = nvmcached::parse_traces(nvmcached::kv_traces_text());
  if (traces.ok()) {
    for (const nvmcached::Trace& trace : *traces) {
      if (trace.name != name) continue;
      finders.push_back(
          fixed(Source::kParameter, numbers({trace.get, trace.set, trace.del}), "the traces"));
    }
  }
  return {.id = id,
          .basis = Basis::kTaken,
          .about = "the mix of the trace that is remade",
          .finders = std::move(finders)};
}

}  // namespace

// Constants that no header of the store shows are given as numbers here; a test holds them to it.
std::vector<Row> nvmcached_rows() {
  return {
      {.id = "kv-real",
       .about = "the time of a flushed line, 100 ns, is derived from the paper's section 3.1",
       .finders = {[](const Evidence& e) { return trace_speedup(e, "VAR"); }},
       .missing = kMissingKv},
      {.id = "kv-real-sys",
       .about = "a small cache: its write cache holds more of the trace's keys",
       .finders = {[](const Evidence& e) { return trace_speedup(e, "SYS"); }},
       .missing = kMissingKv},
      {.id = "kv-synthetic",
       .about = "few large values fit a small cache, and most SETs find theirs in the write cache",
       .finders = {mixes_speedup},
       .missing = kMissingKv},
      {.id = "kv-loss",
       .about = "beside the bytes that are destroyed, the write cache's are lost",
       .finders = {crash_loss},
       .missing = kMissingKv},
      parameter("kv-crash-drop", nvmcached::kPaperDropBytes / (1 << 20),
                "the crash takes this share of 64 GB"),
      mix_row("kv-mix-app", "APP"),
      mix_row("kv-mix-etc", "ETC"),
      mix_row("kv-mix-sys", "SYS"),
      mix_row("kv-mix-usr", "USR"),
      mix_row("kv-mix-var", "VAR"),
      parameter("kv-slots", kKvBucketSlots, "slots of a bucket of the table"),
      parameter("kv-hot-stable", 80, "the paper's rule of cleaning"),
      parameter("kv-write-mru", 1024, "the list of the write cache"),
      parameter("kv-write-hits", 3, "writes that make a key hot"),
      parameter("kv-key", nvmcached::mixed_trace(100, 50, 0.5).key_bytes, "the keys of the mixes"),
  };
}

}  // namespace nvcache::reproduce
