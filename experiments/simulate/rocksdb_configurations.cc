#include "experiments/simulate/rocksdb_configurations.h"

#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/servers.h"
#include "experiments/run/profile_files.h"
#include "experiments/simulate/block_tiers.h"
#include "experiments/simulate/option_checks.h"
#include "experiments/simulate/tables.h"

namespace nvcache::simulate {
namespace {

// One of the CPUs of *Hybrid Cache*'s experiments has 24 cores and 48 threads (Table 2, section
// 5.4). How many clients there are it does not say: one for each thread of the hardware.
constexpr uint32_t kClients = 48;

struct PolicyRow {
  std::string_view name;
  std::string_view help;
  BlockCacheKind kind = BlockCacheKind::kTiered;
  std::string_view policy = "dram_first";
};
constexpr PolicyRow kScmOnly = {"scm-only", "no DRAM cache: our tiered cache, in SCM alone"};
constexpr PolicyRow kNaive = {"naive-scm", "RocksDB's own block cache, its blocks in SCM",
                              BlockCacheKind::kNaiveScm};
constexpr PolicyRow kPolicies[] = {
    {"dram-first", "DRAM first"},
    {"scm-first-2", "SCM first, threshold 2", BlockCacheKind::kTiered, "scm_first(2)"},
    {"scm-first-6", "SCM first, threshold 6", BlockCacheKind::kTiered, "scm_first(6)"},
    {"bidir-4", "bidirectional, threshold 4", BlockCacheKind::kTiered, "bidirectional(4)"},
    {"copied", "DRAM first; a hit in SCM is copied, as by nvcache's adapter for RocksDB",
     BlockCacheKind::kCopied},
    kScmOnly,
    kNaive,
    {"memory-mode", "RocksDB's own block cache; DRAM is a cache of SCM, the memory",
     BlockCacheKind::kMemoryMode},
};

RocksdbConfiguration configuration_of(const hybrid_cache::Server& server, const PolicyRow& policy) {
  const auto gb = [](double value) { return static_cast<uint64_t>(value); };
  const bool tiered =
      policy.kind == BlockCacheKind::kTiered || policy.kind == BlockCacheKind::kCopied;
  const bool has_dram_cache = tiered && policy.name != "scm-only";
  return {.name = fmt::format("{}/{}", server.name, policy.name),
          .help = std::string(policy.help),
          .dram_gb = gb(server.dram_gb),
          .scm_gb = gb(server.scm_gb),
          .dram_cache_gb = has_dram_cache ? gb(server.dram_cache_gb) : 0,
          .scm_cache_gb = gb(server.scm_cache_gb),
          .kind = policy.kind,
          .policy = policy.policy};
}

std::vector<RocksdbConfiguration> all_configurations() {
  std::vector<RocksdbConfiguration> rows;
  for (const hybrid_cache::Server& server : hybrid_cache::servers()) {
    if (server.scm_gb > 0) {
      for (const PolicyRow& policy : kPolicies) rows.push_back(configuration_of(server, policy));
      continue;
    }
    rows.push_back(configuration_of(server, {"dram-only", "a block cache in DRAM alone"}));
    if (server.name != hybrid_cache::kBase) continue;
    // Figure 4a: SCM in place of the DRAM.
    hybrid_cache::Server on_scm = server;
    on_scm.scm_cache_gb = server.dram_cache_gb;
    on_scm.scm_gb = server.dram_gb;
    rows.push_back(configuration_of(on_scm, kScmOnly));
    rows.push_back(configuration_of(on_scm, kNaive));
  }
  return rows;
}

// YCSB's records of 1000 bytes: what they are in all at *Writes Hurt*'s sizes (Table 3).
constexpr std::string_view kYcsb[] = {"a", "b", "c", "d", "e"};

}  // namespace

const std::vector<RocksdbConfiguration>& rocksdb_rows() {
  static const auto& rows = *new std::vector<RocksdbConfiguration>(all_configurations());
  return rows;
}

const RocksdbConfiguration* find_rocksdb_configuration(std::string_view name) {
  for (const RocksdbConfiguration& row : rocksdb_rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<Named> rocksdb_configurations() {
  std::vector<Named> list;
  for (const RocksdbConfiguration& row : rocksdb_rows()) {
    list.push_back({row.name, row.help});
  }
  return list;
}

std::vector<Named> rocksdb_workloads() {
  std::vector<Named> list;
  for (const auto& [file, text] : profile_files()) {
    list.push_back({file.substr(0, file.find('.')), "a profile of *Hybrid Cache*"});
  }
  for (const std::string_view name : kYcsb)
    list.push_back({name, find_row(kWorkloads, name)->help});
  return list;
}

Status complete_rocksdb(Options* options) {
  const RocksdbConfiguration& row = *find_rocksdb_configuration(options->configuration);
  const auto given = [&](std::string_view option, uint64_t bytes, uint64_t gb) -> Status {
    if (bytes == 0 || bytes == gb * kGiB) return ok_status();
    return invalid_argument("{}: {} given; allowed with {} are {} GiB, which it names", option,
                            format_bytes(bytes), row.name, gb);
  };
  Status status = given("--page-cache", options->page_cache_bytes, row.dram_cache_gb);
  if (status.ok()) status = given("--tier", options->tier_bytes, row.scm_cache_gb);
  if (!status.ok()) return status;
  if (options->clients == 0) options->clients = kClients;
  options->dram_bytes = row.dram_gb * kGiB;
  options->nvram_bytes = row.scm_gb * kGiB;
  options->page_cache_bytes = row.dram_cache_gb * kGiB;
  options->tier_bytes = row.scm_cache_gb * kGiB;
  if (options->dataset_bytes == 0) {
    const WorkloadRow* const ycsb = find_row(kWorkloads, options->workload);
    if (ycsb != nullptr) {
      options->dataset_bytes = ycsb->dataset_gib * kGiB;
    } else {
      const auto profile = find_workload_profile(options->workload);
      if (!profile.ok()) return profile.status();
      options->dataset_bytes = static_cast<uint64_t>(profile->data_bytes());
    }
  }
  const uint64_t least = kFewestBlocks * kRocksdbBlockBytes * options->scale;
  status = check_size("--dataset", options->dataset_bytes, 16 * least, kMaxBytes);
  for (const uint64_t bytes : {options->page_cache_bytes, options->tier_bytes}) {
    if (status.ok() && bytes > 0) {
      status = check_size("the caches of --config", bytes, least, kMaxBytes);
    }
  }
  return status;
}

}  // namespace nvcache::simulate
