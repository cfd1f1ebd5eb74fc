// What a model of a storage engine is to a simulation, and the table of them. To add one: its file,
// and a row here.
//
// An engine is a number of tasks (scheduler.h): a client each, and what works in the background.
// What a task does to caches happens at once; then it waits for the time that it costs. One access
// to a memory, tier or disk at a time: it begins at the time that is now, so that all of them see
// each other's accesses in the order of time. Caller-locked: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "experiments/simulate/rocksdb_configurations.h"
#include "experiments/simulate/scheduler.h"
#include "experiments/simulate/simulate.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class MainMemory;
class Recorder;
class Storage;
class Tier;

// A block on the disk: a leaf page of 32 KiB, WiredTiger's default, of which a split leaves 90%.
inline constexpr uint64_t kBlockBytes = 28 << 10;

// What an engine runs on. All of it outlives the engine.
struct World {
  const Options& options;  // complete, sizes of the whole machine
  Scheduler& time;
  MainMemory& memory;
  Storage& storage;
  Tier* tier;  // null: none
  Recorder& recorder;
};

class EngineModel {
 public:
  virtual ~EngineModel() = default;

  // Its tasks, to be started once. They end with the engine at the latest, which outlives them.
  virtual std::vector<Task> tasks() = 0;
  // Adds what the engine has counted: caches, blocks written, checkpoints.
  virtual void count(Result* result) const = 0;

  // Of a cache that is the engine itself, so far; none where a tier is the cache.
  struct Lookups {
    uint64_t lookups = 0;
    uint64_t hits = 0;
  };
  virtual Lookups lookups() const { return {}; }
};

struct EngineRow {
  std::string_view name;
  std::string_view help;
  // The configuration that others are compared with.
  std::string_view base;
  // Its disk and cores by default: those of the paper that it is taken from.
  std::string_view storage;
  uint32_t cores = 0;
  // What it can be asked for.
  std::vector<Named> (*workloads)() = nullptr;
  std::vector<Named> (*configurations)() = nullptr;
  // Checks clients and sizes, and fills in those that are 0. Names and scale are checked before.
  Status (*complete)(Options* options) = nullptr;
  StatusOr<std::unique_ptr<EngineModel>> (*make)(const World& world) = nullptr;
};

std::vector<Named> wiredtiger_workloads();
std::vector<Named> wiredtiger_configurations();
Status complete_wiredtiger(Options* options);
StatusOr<std::unique_ptr<EngineModel>> make_wiredtiger(const World& world);

std::vector<Named> memcached_workloads();
std::vector<Named> memcached_configurations();
Status complete_memcached(Options* options);
StatusOr<std::unique_ptr<EngineModel>> make_memcached(const World& world);

StatusOr<std::unique_ptr<EngineModel>> make_rocksdb(const World& world);

inline constexpr auto kEngines = std::to_array<EngineRow>({
    {.name = "wiredtiger",
     .help = "WiredTiger: page cache, blocks that are never overwritten, checkpoints",
     .base = "none",
     .storage = "p4800x",
     .cores = 32,
     .workloads = wiredtiger_workloads,
     .configurations = wiredtiger_configurations,
     .complete = complete_wiredtiger,
     .make = make_wiredtiger},
    // It uses no disk; cores as above.
    {.name = "memcached",
     .help = "the systems of NVMcached: the real KvStore in NVRAM or DRAM",
     .base = "mc-nvm",
     .storage = "p4800x",
     .cores = 32,
     .workloads = memcached_workloads,
     .configurations = memcached_configurations,
     .complete = complete_memcached,
     .make = make_memcached},
    {.name = "rocksdb",
     .help = "RocksDB: block cache in DRAM and NVRAM, memtables, leveled compaction",
     .base = "64-0/dram-only",
     .storage = "flash",
     .cores = 24,
     .workloads = rocksdb_workloads,
     .configurations = rocksdb_configurations,
     .complete = complete_rocksdb,
     .make = make_rocksdb},
});

}  // namespace nvcache::simulate
