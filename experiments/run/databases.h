// The folder of a benchmark's databases, which no other run uses at the same time.
//
//   DIR/nvcache-bench.json  marks the folder as one of ours
//   DIR/NAME/               databases as loaded; never changed
//   DIR/NAME.json           what they were loaded from; written when they are complete
//   DIR/run-N/              a copy for one run, or for all of one configuration
//
// A run gets its own copy, so that one that writes does not change what the next one sees. The
// destructor removes what the object made, unless told to keep it; databases that were there
// before stay. Caller-locked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "experiments/engines/engine.h"
#include "experiments/run/load.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct Loaded {
  uint64_t size_bytes = 0;
  double load_seconds = 0;  // 0: they were there

  std::string text() const;  // "532 MiB, loaded in 3.1 s"
};

class Databases {
 public:
  // `db` is what --db says; empty: a temporary folder in $TMPDIR or /var/tmp. FAILED_PRECONDITION
  // if it holds something else, if it cannot be made, or if another run has it.
  [[nodiscard]] static StatusOr<std::unique_ptr<Databases>> take(const std::string& db, bool keep);
  ~Databases();
  Databases(const Databases&) = delete;
  Databases& operator=(const Databases&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // Loads the databases of `load`, or finds them loaded from the same. FAILED_PRECONDITION if they
  // were loaded from something else; RESOURCE_EXHAUSTED if there is no room for them and `copies`
  // copies; CANCELLED when interrupted.
  [[nodiscard]] StatusOr<Loaded> load(EngineKind& kind, const Load& load, uint64_t copies,
                                      const Clock& clock, Progress& progress);
  // The same for databases that something else makes: `make` in a folder that is there, or not
  // called. `source` is what they are loaded from.
  [[nodiscard]] StatusOr<Loaded> load(const std::string& name, const nlohmann::json& source,
                                      const std::function<Status(const std::string& folder)>& make,
                                      const Clock& clock);
  // Removes databases that need not be kept.
  void done_with(const std::string& name);

  // The name of a folder for a run that is not there yet.
  std::string run_folder() { return path("run-" + std::to_string(++runs_)); }
  // Removes all of them.
  void remove_runs();

 private:
  Databases() = default;
  Status lock(const std::string& db);
  Status claim(const std::string& db);
  void remove(const std::string& name);

  std::string path_;
  int descriptor_ = -1;
  bool made_ = false;  // the folder
  bool ours_ = false;
  bool keep_ = false;
  uint64_t runs_ = 0;
  std::set<std::string> loaded_;  // here, and not kept
};

// The bytes of the files in a folder.
uint64_t folder_bytes(const std::string& folder);

}  // namespace nvcache
