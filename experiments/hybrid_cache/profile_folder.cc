#include "experiments/hybrid_cache/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/command/output_file.h"
#include "base/mutex.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/profile_store.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "nvcache-profiles.json";
constexpr char kRun[] = "run";
constexpr double kPaperGb = 1e9;  // a profile's sizes are decimal

// What databases are loaded from; equal means they can be used again.
std::string source_of(const WorkloadProfile& profile, uint64_t keys, uint64_t seed) {
  const nlohmann::json source = {{"engine", describe_store()},
                                 {"databases", profile.databases},
                                 {"keys", keys},
                                 {"key_bytes", profile.key_bytes},
                                 {"value_least_bytes", profile.value_least_bytes},
                                 {"value_scale_bytes", profile.value_scale_bytes},
                                 {"value_shape", profile.value_shape},
                                 {"value_most_bytes", profile.value_most_bytes},
                                 {"seed", seed}};
  return source.dump();
}

Status check_room(const std::string& folder, double wanted_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const auto wanted = static_cast<uint64_t>(wanted_bytes * 1.5) + (256ull << 20);
  if (error || space.available >= wanted) return ok_status();
  return resource_exhausted_error(fmt::format(
      "{} of free disk space wanted in {}, {} there: free some, or give --db or a smaller --scale",
      format_bytes(wanted), folder, format_bytes(space.available)));
}

// Links what RocksDB never changes, and copies the rest.
Status copy_database(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (!entry.is_regular_file(error) || entry.path().filename() == "LOCK") continue;
    const fs::path copy = to / entry.path().filename();
    if (entry.path().extension() == ".sst") {
      fs::create_hard_link(entry.path(), copy, error);
    } else {
      fs::copy_file(entry.path(), copy, error);
    }
    if (error) break;
  }
  if (!error) return ok_status();
  return internal_error(
      fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), error.message()));
}

}  // namespace

uint64_t scaled_keys(const WorkloadProfile& profile, uint64_t gb_bytes) {
  const double keys =
      static_cast<double>(profile.keys_per_database) * static_cast<double>(gb_bytes) / kPaperGb;
  return std::max(static_cast<uint64_t>(keys), profile.run_keys);
}

StatusOr<std::unique_ptr<ProfileFolder>> ProfileFolder::take(const std::string& db, bool keep) {
  auto locked = LockedFolder::take(db, "nvcache-profiles");
  if (!locked.ok()) return locked.status();
  std::unique_ptr<ProfileFolder> folder(new ProfileFolder(*std::move(locked)));
  std::error_code error;
  if (!fs::exists(folder->path(kMarker), error) && !fs::is_empty(folder->folder_.path(), error)) {
    return failed_precondition_error(fmt::format(
        "--db {}: is not empty, and no folder of 'nvcache bench profile' or 'hybrid'", db));
  }
  folder->ours_ = true;
  folder->keep_ = keep;
  folder->remove_run();
  Status status =
      write_file_whole(folder->path(kMarker), "{\"kind\": \"profile_databases\", \"schema\": 1}\n");
  if (!status.ok()) return status;
  return folder;
}

ProfileFolder::~ProfileFolder() {
  std::error_code ignored;
  if (!ours_) return;
  remove_run();
  if (keep_) return;
  for (const auto& entry : fs::directory_iterator(folder_.path(), ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

bool ProfileFolder::has_loaded(const std::string& name, const std::string& source) const {
  std::ifstream file(path(name + ".json"));
  const auto found = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  return found.is_object() && found.value("source", "") == source;
}

StatusOr<LoadedProfile> ProfileFolder::load(const WorkloadProfile& profile, uint64_t gb_bytes,
                                            uint64_t seed, const Clock& clock, Progress& progress) {
  LoadedProfile loaded;
  loaded.name = profile.name;
  loaded.keys = scaled_keys(profile, gb_bytes);
  const std::string source = source_of(profile, loaded.keys, seed);
  if (!has_loaded(profile.name, source)) {
    remove(profile.name);
    const uint64_t all = loaded.keys * profile.databases;
    Status status =
        check_room(folder_.path(),
                   static_cast<double>(all) * (profile.key_bytes + profile.mean_value_bytes()));
    if (!status.ok()) return status;
    std::error_code error;
    fs::create_directory(path(profile.name), error);
    const uint64_t start_ns = clock.now_ns();
    Mutex mutex;
    const auto show = [&](uint64_t rows) {
      MutexLock lock(mutex);
      progress.update(fmt::format("loading {}: {:.0f}% of {} pairs, {:.1f} s", profile.name,
                                  100.0 * static_cast<double>(rows) / static_cast<double>(all), all,
                                  seconds_between(start_ns, clock.now_ns())));
    };
    const ProfileRecords records(profile, seed);
    status =
        load_store(path(profile.name), records, profile.databases, loaded.keys, mix64(seed), show);
    if (!status.ok()) return status;
    loaded.load_seconds = seconds_between(start_ns, clock.now_ns());
    const nlohmann::json mark = {{"source", source}};
    status = write_file_whole(path(profile.name + ".json"), mark.dump(1) + "\n");
    if (!status.ok()) return status;
  }
  loaded.size_bytes = folder_bytes(path(profile.name));
  return loaded;
}

StatusOr<std::string> ProfileFolder::copy_for_run(const std::string& name) {
  remove_run();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path(name), error)) {
    const fs::path to = fs::path(path(kRun)) / entry.path().filename();
    if (Status status = copy_database(entry.path(), to); !status.ok()) return status;
  }
  if (error) {
    return internal_error(fmt::format("cannot read {}: {}", path(name), error.message()));
  }
  return path(kRun);
}

void ProfileFolder::remove_run() {
  std::error_code ignored;
  fs::remove_all(path(kRun), ignored);
}

void ProfileFolder::remove(const std::string& name) {
  std::error_code ignored;
  fs::remove(path(name + ".json"), ignored);
  fs::remove_all(path(name), ignored);
}

void ProfileFolder::done_with(const std::string& name) {
  if (!keep_) remove(name);
}

}  // namespace nvcache
