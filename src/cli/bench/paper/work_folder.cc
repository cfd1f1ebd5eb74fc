#include "cli/bench/paper/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/bench/copy_folder.h"
#include "cli/output_file.h"
#include "nlohmann/json.hpp"

namespace nvcache::paper {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "nvcache-paper.json";
constexpr char kRun[] = "run";

}  // namespace

uint64_t folder_bytes(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) sum += entry.file_size(error);
  }
  return sum;
}

absl::StatusOr<std::unique_ptr<WorkFolder>> WorkFolder::take(const Options& options) {
  std::unique_ptr<WorkFolder> folder(new WorkFolder);
  if (absl::Status status = folder->open(options); !status.ok()) return status;
  folder->keep_ = options.keep_db;
  return folder;
}

absl::Status WorkFolder::open(const Options& options) {
  std::error_code error;
  if (options.db.empty()) {
    const char* temporary = std::getenv("TMPDIR");
    folder_ = fmt::format("{}/nvcache-paper-XXXXXX",
                          temporary == nullptr || *temporary == 0 ? "/var/tmp" : temporary);
    if (::mkdtemp(folder_.data()) == nullptr) {
      return absl::FailedPreconditionError(
          fmt::format("cannot make a folder {}: {}", folder_, std::strerror(errno)));
    }
    made_ = true;
  } else {
    folder_ = fs::absolute(options.db).string();
    made_ = fs::create_directories(folder_, error);
    if (error) {
      return absl::FailedPreconditionError(
          fmt::format("--db {}: cannot make the folder: {}", options.db, error.message()));
    }
  }
  fd_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0 || ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("--db {}: {}", folder_,
                    errno == EWOULDBLOCK ? "another run is using it" : std::strerror(errno)));
  }
  if (!fs::exists(path(kMarker), error) && !fs::is_empty(folder_, error)) {
    return absl::FailedPreconditionError(
        fmt::format("--db {}: is not empty, and no folder of 'nvcache bench paper'", options.db));
  }
  ours_ = true;
  remove_run();
  return write_file_whole(path(kMarker), "{\"kind\": \"paper_databases\", \"schema\": 1}\n");
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (ours_) {
    remove_run();
    if (!keep_) {
      for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
        fs::remove_all(entry.path(), ignored);
      }
    }
  }
  if (made_ && !keep_) fs::remove(folder_, ignored);
  if (fd_ >= 0) ::close(fd_);
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

absl::Status WorkFolder::mark_loaded(const std::string& name, const std::string& source) {
  const nlohmann::json mark = {{"source", source}};
  return write_file_whole(path(name + ".json"), mark.dump(1) + "\n");
}

void WorkFolder::done_with(const std::string& name) {
  if (keep_) return;
  std::error_code ignored;
  fs::remove(path(name + ".json"), ignored);
  fs::remove_all(path(name), ignored);
}

absl::StatusOr<std::string> WorkFolder::fresh_run() {
  remove_run();
  std::error_code error;
  fs::create_directory(path(kRun), error);
  if (error) {
    return absl::InternalError(fmt::format("cannot make {}: {}", path(kRun), error.message()));
  }
  return path(kRun);
}

absl::StatusOr<std::string> WorkFolder::copy_for_run(const std::string& name) {
  remove_run();
  if (absl::Status status = copy_folder(path(name), path(kRun)); !status.ok()) return status;
  return path(kRun);
}

void WorkFolder::remove_run() {
  std::error_code ignored;
  fs::remove_all(path(kRun), ignored);
  for (const char* file : {"run.wtperf", "run.log", "run.stats.json"}) {
    fs::remove(path(file), ignored);
  }
}

}  // namespace nvcache::paper
