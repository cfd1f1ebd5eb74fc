// A workload as the runner sees it: what its databases hold, and what its clients do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiments/engines/engine.h"
#include "nlohmann/json.hpp"

namespace nvcache {

// The databases that a workload runs on; several workloads may share them.
struct DatabaseFacts {
  std::string name;        // of their folder
  uint32_t databases = 1;  // side by side
  uint64_t pairs = 0;      // of each
  double pair_bytes = 0;   // on a disk, about
  nlohmann::json source;   // what they are loaded from; equal means they can be used again
};

struct SortedPairs {
  uint64_t count = 0;  // of each database
  SortedPair pair;
};

// One thread of a run. Caller-locked.
class Client {
 public:
  virtual ~Client() = default;

  // Takes the next operation and makes what it writes; its place in Load::operations().
  virtual size_t next(bool measured) = 0;
  // Issues it. This alone is timed.
  virtual Status issue() = 0;
  // Verifies what it read, where issue() did not. DATA_LOSS where that is not what was written.
  virtual Status check() { return ok_status(); }

  uint64_t rows_scanned = 0;
  uint64_t values_verified = 0;
};

// Shared by the clients of one run. Thread-safe.
class LoadRun {
 public:
  virtual ~LoadRun() = default;
  // The engine and the load must outlive it.
  virtual std::unique_ptr<Client> client(uint32_t thread) = 0;
  // Operations due in the first `seconds`; empty: as fast as they go.
  virtual std::optional<double> due(double /*seconds*/) const { return std::nullopt; }
};

// Immutable: thread-safe.
class Load {
 public:
  virtual ~Load() = default;

  virtual std::string name() const = 0;
  // {"name", "title"}, and what a report says of it.
  virtual nlohmann::json describe() const = 0;
  virtual DatabaseFacts database() const = 0;
  // May take seconds.
  virtual SortedPairs sorted_pairs() const = 0;
  virtual std::span<const std::string_view> operations() const = 0;
  // The operation whose percentiles a run reports; empty: all.
  virtual std::optional<size_t> reported_operation() const { return std::nullopt; }
  // For a run with that seed; the same seed gives the same operations.
  virtual std::unique_ptr<LoadRun> begin(KvEngine& engine, uint64_t seed) const = 0;
};

}  // namespace nvcache
