// A model of a storage engine, as a simulation sees it. engines.h has the table of them, and says
// how to add one.
//
// An engine is a number of tasks (scheduler.h): a client each, and what works in the background.
// A task changes caches at once; then it waits for the time that it costs. One access
// to a memory, tier or disk at a time: it begins at the time that is now, so that all of them see
// each other's accesses in the order of time. Caller-locked: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/simulate/scheduler.h"
#include "experiments/simulate/simulate.h"

namespace nvcache::simulate {

class MainMemory;
class Recorder;
class Storage;
class Tier;

// A block on the disk: a leaf page of 32 KiB, WiredTiger's default, of which a split leaves 90%.
inline constexpr uint64_t kBlockBytes = 28 << 10;

// The machine that an engine runs on. All of it outlives the engine.
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

}  // namespace nvcache::simulate
