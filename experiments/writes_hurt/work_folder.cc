#include "experiments/writes_hurt/work_folder.h"

#include <filesystem>
#include <fstream>

#include "apps/command/output_file.h"
#include "base/text.h"
#include "experiments/harness/copy_folder.h"
#include "nlohmann/json.hpp"

namespace nvcache::writes_hurt {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "nvcache-paper.json";
constexpr char kRun[] = "run";

}  // namespace

StatusOr<std::unique_ptr<WorkFolder>> WorkFolder::take(const Options& options) {
  auto locked = LockedFolder::take(options.db, "nvcache-paper");
  if (!locked.ok()) return locked.status();
  std::unique_ptr<WorkFolder> folder(new WorkFolder(*std::move(locked)));
  if (Status status = folder->claim(options); !status.ok()) return status;
  folder->keep_ = options.keep_db;
  return folder;
}

Status WorkFolder::claim(const Options& options) {
  std::error_code error;
  if (!fs::exists(path(kMarker), error) && !fs::is_empty(folder_.path(), error)) {
    return failed_precondition_error(fmt::format(
        "--db {}: is not empty, and no folder of 'nvcache bench writes-hurt'", options.db));
  }
  ours_ = true;
  remove_run();
  return write_file_whole(path(kMarker), "{\"kind\": \"paper_databases\", \"schema\": 1}\n");
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!ours_) return;
  remove_run();
  if (keep_) return;
  for (const auto& entry : fs::directory_iterator(folder_.path(), ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

bool WorkFolder::has_loaded(const std::string& name, const std::string& source) {
  std::ifstream file(path(name + ".json"));
  const auto found = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  std::error_code ignored;
  if (found.is_object() && found.value("source", "") == source) return true;
  fs::remove(path(name + ".json"), ignored);
  fs::remove_all(path(name), ignored);
  return false;
}

Status WorkFolder::mark_loaded(const std::string& name, const std::string& source) {
  const nlohmann::json mark = {{"source", source}};
  return write_file_whole(path(name + ".json"), mark.dump(1) + "\n");
}

void WorkFolder::done_with(const std::string& name) {
  if (keep_) return;
  std::error_code ignored;
  fs::remove(path(name + ".json"), ignored);
  fs::remove_all(path(name), ignored);
}

StatusOr<std::string> WorkFolder::fresh_run() {
  remove_run();
  std::error_code error;
  fs::create_directory(path(kRun), error);
  if (error) {
    return internal_error(fmt::format("cannot make {}: {}", path(kRun), error.message()));
  }
  return path(kRun);
}

StatusOr<std::string> WorkFolder::copy_for_run(const std::string& name) {
  remove_run();
  if (Status status = copy_folder(path(name), path(kRun)); !status.ok()) return status;
  return path(kRun);
}

void WorkFolder::remove_run() {
  std::error_code ignored;
  fs::remove_all(path(kRun), ignored);
  for (const char* file : {"run.wtperf", "run.log", "run.stats.json"}) {
    fs::remove(path(file), ignored);
  }
}

}  // namespace nvcache::writes_hurt
