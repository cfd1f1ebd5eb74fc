// Numbers of hardware: the emulated media's profiles were built from them (docs/design/model.md).
#include "experiments/reproduce/media_rows.h"

#include <string>
#include <string_view>

#include "experiments/harness/paper_table.h"
#include "medium/cost_model.h"
#include "medium/profiles.h"

namespace nvcache::reproduce {
namespace {

constexpr std::string_view kWatts = "the watts of a server's media are computed with it";
constexpr double kModules = 2;  // of the profiles "optane" and "dram"

const Profile& profile(std::string_view name) { return *find_profile(name); }

double read_gb_s(std::string_view name, double writers) {
  return CostModel(profile(name)).read_gb_s(writers);
}

Row read_beside(const char* id, double writers) {
  return {.id = id,
          .basis = Basis::kTaken,
          .about = "a point of the curve of emulated:optane",
          .finders = {fixed(Source::kModel, number(read_gb_s("optane", writers)),
                            "the model's read throughput")}};
}

Row dram_loss_beside(const char* id, double writers) {
  const double left = read_gb_s("dram", writers) / read_gb_s("dram", 0);
  return {
      .id = id,
      .basis = Basis::kTaken,
      .about = "a point of the curve of emulated:dram",
      .finders = {fixed(Source::kModel, number(100 * (1 - left)), "the model's read throughput")}};
}

Row latency(const char* id, std::string_view name) {
  return {
      .id = id,
      .basis = Basis::kTaken,
      .about = "the profile's read latency",
      .finders = {fixed(Source::kModel, number(static_cast<double>(profile(name).read_latency_ns)),
                        "the profile")},
      .sized_only = true};
}

Row per_module(const char* id, std::string_view name, double modules, std::string_view about) {
  const double dram = read_gb_s("dram", 0) / kModules;
  const double optane = read_gb_s("optane", 0) / kModules;
  const double flash = read_gb_s("flash", 0);
  Ours ours = number(read_gb_s(name, 0) / modules);
  ours.order = dram > optane && optane > flash;
  return {.id = id,
          .basis = Basis::kTaken,
          .about = about,
          .finders = {fixed(Source::kModel, ours, "the profile, for one module")}};
}

// A number of Table 1, as hybrid_cache/servers.h computes with it.
Row medium_fact(const std::string& id, std::string_view about) {
  return {.id = id,
          .basis = Basis::kTaken,
          .about = about,
          .finders = {fixed(Source::kParameter, number(papers::paper_number(id)), "a number a GB")},
          .sized_only = true};
}

}  // namespace

std::vector<Row> writes_hurt_media_rows() {
  return {
      read_beside("medium-read-0w", 0),
      read_beside("medium-read-1w", 1),
      read_beside("medium-read-8w", 8),
      dram_loss_beside("medium-dram-1w", 1),
      dram_loss_beside("medium-dram-8w", 8),
      per_module("medium-read-dimm", "optane", kModules,
                 "half of the 12 GB/s of two modules in emulated:optane"),
  };
}

std::vector<Row> hybrid_cache_media_rows() {
  return {
      latency("latency-dram", "dram"),
      latency("latency-scm", "optane"),
      latency("latency-flash", "flash"),
      per_module("bandwidth-dram", "dram", kModules, "half of emulated:dram's two modules"),
      per_module("bandwidth-scm", "optane", kModules,
                 "emulated:optane has the sequential 12 GB/s of two modules of *Writes Hurt*"),
      per_module("bandwidth-flash", "flash", 1, "the profile's read throughput"),
      medium_fact("power-dram", kWatts),
      medium_fact("power-scm", kWatts),
      medium_fact("power-flash", kWatts),
      medium_fact("cost-scm", "the price that Table 4's costs are computed with"),
      medium_fact("cost-flash", "the cost of a server's media is computed with it"),
  };
}

}  // namespace nvcache::reproduce
