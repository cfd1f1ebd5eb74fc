// The engines that can be simulated, a row each. To add one, five files: its model (header and
// source, as memcached_model.h), its row (a source as memcached_engine.cc: workloads, memory and
// tier, its tables and its page), two lines here, and its test. Its page tells of the model in
// page_end.txt; counters that no other engine has go into Result (simulate.h) and its JSON.
// engines_test.cc checks each row. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/report_columns.h"
#include "experiments/simulate/simulate.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class MainMemory;
class Tier;

// Of a table: its workload, and what the machine has besides clients and cores (", flash"), as far
// as the configurations do not name it.
struct Heading {
  std::string workload;
  std::string machine;
};

struct EngineRow {
  std::string_view name;
  std::string_view help;
  // The configuration that others are compared with.
  std::string_view base;
  // Its disk and cores by default: those of the paper that it is taken from.
  std::string_view storage;
  uint32_t cores = 0;

  // Its workloads and configurations, and those that are simulated by default.
  std::vector<Named> (*workloads)() = nullptr;
  std::vector<Named> (*configurations)() = nullptr;
  std::span<const std::string_view> default_workloads;
  std::span<const std::string_view> default_configurations;
  // Checks clients and sizes, and fills in those that are 0. Names and scale are checked before.
  Status (*complete)(Options* options) = nullptr;

  // The engine, and what lies around it. Null: DRAM, and no tier but what the engine itself has.
  StatusOr<std::unique_ptr<EngineModel>> (*make)(const World& world) = nullptr;
  std::unique_ptr<MainMemory> (*make_memory)(const Options& options) = nullptr;
  StatusOr<std::unique_ptr<Tier>> (*make_tier)(const Options& options) = nullptr;

  // Of options that need not be complete. Whether the size of the NVRAM makes a difference. Null:
  // it does not, as the configurations have sizes.
  bool (*needs_nvram)(const Options& options) = nullptr;
  // Whether the page cache must fit into the NVRAM. Null: never.
  bool (*nvram_is_memory)(const Options& options) = nullptr;

  // How it is shown. A page begins with introduction(), then come the tables.
  std::span<const Column> columns;
  Heading (*heading)(const Options& options) = nullptr;
  std::string (*introduction)(const Options& options, const std::string& command) = nullptr;
  std::string_view (*page_end)() = nullptr;
  bool shows_spread = false;  // its page has the largest deviations, too
};

extern const EngineRow kWiredtigerEngine;
extern const EngineRow kMemcachedEngine;
extern const EngineRow kRocksdbEngine;

inline constexpr std::array kEngines = {&kWiredtigerEngine, &kMemcachedEngine, &kRocksdbEngine};

inline const EngineRow* find_engine(std::string_view name) {  // null: none
  for (const EngineRow* const row : kEngines) {
    if (row->name == name) return row;
  }
  return nullptr;
}

}  // namespace nvcache::simulate
