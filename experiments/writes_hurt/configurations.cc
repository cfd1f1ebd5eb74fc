#include "experiments/writes_hurt/configurations.h"

#include "base/units.h"
#include "experiments/writes_hurt/scale.h"
#include "fmt/format.h"

namespace nvcache::writes_hurt {
namespace {

std::string mib(uint64_t size_bytes) { return fmt::format("{}MiB", size_bytes >> 20); }

// The paper's caches write in place.
std::string spec(const Options& options, double nvram_gb, const std::string& admission,
                 const std::string& eviction) {
  return fmt::format("nvcache://?size={}&medium={}&space=in_place&admission={}&eviction={}",
                     mib(scaled_bytes(nvram_gb)), options.medium, admission, eviction);
}

std::string small_bypass(double dram_gb) {
  return fmt::format("small_bypass({})", mib(scaled_bytes(dram_gb)));
}

CacheChoice none() { return {std::string(kNone), "no second tier", "", "", ""}; }

std::string block_cache(const std::string& rest) {
  return fmt::format("block_cache=(enabled=true,size={}MB,{})", scaled_bytes(kNvcacheGb) >> 20,
                     rest);
}

// The evictor of *Writes Hurt* wakes once a second. Its window is not published: this is our
// default.
constexpr double kLfruPassSeconds = 1;
constexpr double kLfruWindowSeconds = 10;

// WiredTiger evicts what was unused for that long; its default, 1800 s, by the time factor.
constexpr int kTunedAggressionSeconds = 1800 / static_cast<int>(kTimeFactor);

std::vector<CacheChoice> peers(const Options& options, const std::string& nvram_path) {
  std::vector<CacheChoice> list;
  list.push_back({"admit-all", "alloc-read-write: admits everything, evicts by lfru",
                  spec(options, kNvcacheGb, "always", "lfru"), "offer", ""});
  list.push_back({"open-cas-like", "write-around: admits all reads, updates on write, lru",
                  spec(options, kNvcacheGb, "always", "lru"), "update", ""});
  list.push_back({"wt-dram", "WiredTiger's block cache in plain DRAM, its defaults", "", "",
                  block_cache("type=dram")});
  list.push_back({"wt-dram-tuned",
                  fmt::format("the same, unused blocks leave after {} s", kTunedAggressionSeconds),
                  "", "",
                  block_cache(fmt::format("type=dram,blkcache_eviction_aggression={}",
                                          kTunedAggressionSeconds))});
  if (!nvram_path.empty()) {
    list.push_back({"wt-nvram", "WiredTiger's block cache in a mapped file (no NVRAM, no model)",
                    "", "", block_cache(fmt::format("type=nvram,nvram_path={}", nvram_path))});
  }
  return list;
}

}  // namespace

std::vector<CacheChoice> figure4_choices(const Options& options) {
  const std::string bypass = small_bypass(kSmallDramGb);
  return {none(),
          {"alloc-read-write", "admits every block read or written",
           spec(options, kNvcacheGb, "always", "none"), "offer", ""},
          {"small-bypass", "the same, unless the files fit into DRAM",
           spec(options, kNvcacheGb, bypass, "none"), "offer", ""},
          {"bypass+obp", "small-bypass and OBP at 10%",
           spec(options, kNvcacheGb, bypass + "+obp(0.1)", "none"), "offer", ""}};
}

std::vector<std::string> figure6_names() {
  return {"nvcache", "admit-all", "open-cas-like", "wt-dram", "wt-dram-tuned", "wt-nvram"};
}

std::vector<CacheChoice> figure6_choices(const Options& options, const std::string& nvram_path) {
  std::vector<CacheChoice> all{
      none(),
      {"nvcache", "small-bypass and OBP at 10%, lfru",
       spec(options, kNvcacheGb, small_bypass(kLargeDramGb) + "+obp(0.1)", "lfru"), "offer", ""}};
  for (CacheChoice& peer : peers(options, nvram_path)) all.push_back(std::move(peer));
  if (options.configurations.empty()) return all;
  std::vector<CacheChoice> chosen;
  for (CacheChoice& choice : all) {
    if (choice.name == kNone || options.configurations.contains(choice.name)) {
      chosen.push_back(std::move(choice));
    }
  }
  return chosen;
}

std::vector<CacheChoice> table1_choices(const Options& options) {
  const std::string lfru = fmt::format("lfru({:.4f})&maintenance={:.4f}",
                                       kLfruWindowSeconds / static_cast<double>(kTimeFactor),
                                       kLfruPassSeconds / static_cast<double>(kTimeFactor));
  return {
      {"eager", "every block is admitted, *Writes Hurt*'s LFRU makes room, no OBP holds it back",
       spec(options, kTable1NvcacheGb, "always", lfru), "offer", ""},
      {"eager-lru", "every block is admitted, the least recently used one leaves for it",
       spec(options, kTable1NvcacheGb, "always", "lru"), "offer", ""},
      {"no-eviction", "every block is admitted until the cache is full",
       spec(options, kTable1NvcacheGb, "always", "none"), "offer", ""}};
}

std::vector<CacheChoice> figure7_choices(const Options& options, double nvram_gb) {
  const std::string admission = small_bypass(kLargeDramGb) + "+obp(0.1)";
  return {{fmt::format("open-cas-{:.0f}", nvram_gb), "write-around: admits all reads, lru",
           spec(options, nvram_gb, "no_write_allocate", "lru"), "update", ""},
          {fmt::format("nvcache-{:.0f}", nvram_gb), "small-bypass and OBP at 10%, lfru",
           spec(options, nvram_gb, admission, "lfru"), "offer", ""}};
}

std::string connection_config(const CacheChoice& choice, const Tools& tools, bool snappy,
                              const std::string& stats_path) {
  // wtperf puts the text between quotes and removes backslashes again.
  std::string extensions;
  if (!tools.extension.empty()) {
    std::string config;
    if (!choice.spec.empty()) config += fmt::format("cache=\\\"{}\\\",", choice.spec);
    if (!choice.writes.empty()) config += fmt::format("writes={},", choice.writes);
    extensions = fmt::format("{}=(early_load=true,config=({}stats=\\\"{}\\\",stats_interval=0))",
                             tools.extension, config, stats_path);
  }
  if (snappy) extensions += (extensions.empty() ? "" : ",") + tools.snappy;
  std::string text = fmt::format("extensions=[{}]", extensions);
  if (!choice.block_cache.empty()) text += "," + choice.block_cache;
  return text;
}

}  // namespace nvcache::writes_hurt
