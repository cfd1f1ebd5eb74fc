// The databases that wtperf's runs start from.
//
//   DIR/nvcache-paper.json     marks the folder as one of ours
//   DIR/WORKLOAD.VARIANT/      as loaded; never changed
//   DIR/WORKLOAD.VARIANT.json  what it was loaded from; written when it is complete
//   DIR/run/, DIR/ycsb-x/      the run that goes on; YCSB's databases
//
// Destroying the object removes what it made, unless told to keep it. Caller-locked.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "experiments/harness/locked_folder.h"
#include "experiments/writes_hurt/writes_hurt_options.h"
#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

class WorkFolder {
 public:
  // FAILED_PRECONDITION if options.db holds something else, or another run uses it.
  [[nodiscard]] static StatusOr<std::unique_ptr<WorkFolder>> take(const Options& options);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::string path(const std::string& name) const { return folder_.path(name); }

  // True if `name` was loaded from `source` before; removes it if from something else.
  bool has_loaded(const std::string& name, const std::string& source);
  [[nodiscard]] Status mark_loaded(const std::string& name, const std::string& source);
  // Removes a database that need not be kept.
  void done_with(const std::string& name);

  // An empty DIR/run.
  [[nodiscard]] StatusOr<std::string> fresh_run();
  // DIR/run as a copy of a loaded database.
  [[nodiscard]] StatusOr<std::string> copy_for_run(const std::string& name);
  void remove_run();

 private:
  explicit WorkFolder(LockedFolder folder) : folder_(std::move(folder)) {}
  Status claim(const Options& options);

  LockedFolder folder_;
  bool ours_ = false;
  bool keep_ = false;
};

}  // namespace nvcache::writes_hurt
