// The databases of workload profiles, loaded once, and copies of them to run on.
//
//   DIR/nvcache-profiles.json  marks the folder as one of ours
//   DIR/NAME/0, NAME/1, ...    the databases of a profile as loaded; never changed
//   DIR/NAME.json              what they were loaded from; written when they are complete
//   DIR/run/0, run/1, ...      the copy that a run writes to
//
// The destructor removes what the object made, unless told to keep it. Caller-locked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "experiments/harness/locked_folder.h"
#include "experiments/workload/profile.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The databases of one profile in the folder.
struct LoadedProfile {
  std::string name;
  uint64_t keys = 0;  // of each database
  uint64_t size_bytes = 0;
  double load_seconds = 0;  // 0: they were there
};

// Keys of each database where a GB of the production host is `gb_bytes`; a run at least.
uint64_t scaled_keys(const WorkloadProfile& profile, uint64_t gb_bytes);

class ProfileFolder {
 public:
  // FAILED_PRECONDITION if `db` holds something else, or if another run uses it. Empty: a
  // temporary folder.
  [[nodiscard]] static StatusOr<std::unique_ptr<ProfileFolder>> take(const std::string& db,
                                                                     bool keep);
  ~ProfileFolder();
  ProfileFolder(const ProfileFolder&) = delete;
  ProfileFolder& operator=(const ProfileFolder&) = delete;

  // Loads the profile's databases, or finds them loaded from the same parameters.
  [[nodiscard]] StatusOr<LoadedProfile> load(const WorkloadProfile& profile, uint64_t gb_bytes,
                                             uint64_t seed, const Clock& clock, Progress& progress);

  // DIR/run as a copy that shares the SST files, which are never changed.
  [[nodiscard]] StatusOr<std::string> copy_for_run(const std::string& name);
  void remove_run();
  // Removes databases that need not be kept.
  void done_with(const std::string& name);

 private:
  explicit ProfileFolder(LockedFolder folder) : folder_(std::move(folder)) {}
  std::string path(const std::string& name) const { return folder_.path(name); }
  bool has_loaded(const std::string& name, const std::string& source) const;
  void remove(const std::string& name);

  LockedFolder folder_;
  bool ours_ = false;
  bool keep_ = false;
};

}  // namespace nvcache
