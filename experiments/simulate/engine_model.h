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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/simulate/scheduler.h"
#include "experiments/simulate/simulate.h"

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
  std::string_view base;  // the configuration that others are compared with
  // Checks the sizes, and fills in those that are 0.
  absl::Status (*complete)(Options* options);
  absl::StatusOr<std::unique_ptr<EngineModel>> (*make)(const World& world);
};

absl::Status complete_wiredtiger(Options* options);
absl::StatusOr<std::unique_ptr<EngineModel>> make_wiredtiger(const World& world);
absl::Status complete_memcached(Options* options);
absl::StatusOr<std::unique_ptr<EngineModel>> make_memcached(const World& world);

inline constexpr auto kEngines = std::to_array<EngineRow>({
    {"wiredtiger", "WiredTiger: page cache, blocks that are never overwritten, checkpoints", "none",
     complete_wiredtiger, make_wiredtiger},
    {"memcached", "the systems of NVMcached: the real KvStore in NVRAM or DRAM", "mc-nvm",
     complete_memcached, make_memcached},
});

// INVALID_ARGUMENT names the option, what was given and what is allowed.
absl::Status check_size(std::string_view option, uint64_t bytes, uint64_t least, uint64_t most);

}  // namespace nvcache::simulate
