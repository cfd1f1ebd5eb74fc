// What a model of a storage engine is to a simulation, and the table of them. To add one: its file,
// and a row here.
//
// An engine is a number of actors. Actor i below Options::clients is client i; the others work in
// the background. The simulation calls step() of the actor whose time comes first; what a step does
// to caches happens at once, and what it costs is the time at which the next step may begin.
// Caller-locked: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "experiments/simulate/simulate.h"

namespace nvcache::simulate {

class EventClock;
class MainMemory;
class Recorder;
class Storage;
class Tier;

// A block on the disk: a leaf page of 32 KiB, WiredTiger's default, of which a split leaves 90%.
inline constexpr uint64_t kBlockBytes = 28 << 10;

struct Step {
  uint64_t core_until_ns = 0;  // a core is busy with it
  uint64_t until_ns = 0;       // the actor's next step; kNever: none
};
inline constexpr uint64_t kNever = ~uint64_t{0};

// What an engine runs on. All of it outlives the engine.
struct World {
  const Options& options;  // complete, sizes of the whole machine
  MainMemory& memory;
  Storage& storage;
  Tier* tier;  // null: none
  Recorder& recorder;
};

class EngineModel {
 public:
  virtual ~EngineModel() = default;

  virtual uint32_t actors() const = 0;
  // When an actor's first step is; kNever: it has none.
  virtual uint64_t first_ns(uint32_t actor) const = 0;
  virtual Step step(uint32_t actor, uint64_t now_ns) = 0;
  // Adds what the engine has counted: caches, blocks written, checkpoints.
  virtual void count(Result* result) const = 0;
};

struct EngineRow {
  std::string_view name;
  std::string_view help;
};

inline constexpr auto kEngines = std::to_array<EngineRow>({
    {"wiredtiger", "WiredTiger: page cache, blocks that are never overwritten, checkpoints"},
});

}  // namespace nvcache::simulate
