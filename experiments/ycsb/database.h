// The database that all runs of a benchmark start from.
//
//   DIR/loaded              the records as loaded; never changed
//   DIR/run-N               a copy for one run, or for all of one configuration; it shares
//                           whatever the engine can share
//   DIR/nvcache-bench.json  what is in `loaded`; written when it is complete
//
// A run gets its own copy, so that one that writes does not change what the next
// one sees. The destructor removes what the object made, unless told to keep it; a
// database that was there before stays. Caller-locked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "experiments/engines/engine.h"
#include "experiments/harness/locked_folder.h"
#include "experiments/ycsb/bench_options.h"
#include "nvcache/status_or.h"

namespace nvcache {

class Database {
 public:
  // Loads the records, or finds them loaded by an earlier --keep-db.
  // FAILED_PRECONDITION if options.db holds something else; CANCELLED when
  // interrupted. `engine` must outlive the database.
  [[nodiscard]] static StatusOr<std::unique_ptr<Database>> prepare(EngineKind& engine,
                                                                   const BenchOptions& options,
                                                                   const Clock& clock,
                                                                   Progress& progress);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Makes a copy for one run and returns its folder.
  [[nodiscard]] StatusOr<std::string> fresh_copy();
  void remove_copy(const std::string& folder);

  bool reused() const { return reused_; }
  double load_seconds() const { return load_seconds_; }
  uint64_t size_bytes() const;

 private:
  Database(EngineKind& engine, LockedFolder folder) : engine_(engine), folder_(std::move(folder)) {}

  Status find_loaded(const BenchOptions& options);
  Status check_room(const BenchOptions& options) const;
  Status load(const BenchOptions& options, const Clock& clock, Progress& progress);
  std::string path(const std::string& name) const { return folder_.path(name); }

  EngineKind& engine_;
  LockedFolder folder_;
  bool keep_ = false;
  bool reused_ = false;
  double load_seconds_ = 0;
  uint32_t copies_ = 0;
};

}  // namespace nvcache
