#include "experiments/run/databases.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/command/interrupt.h"
#include "apps/command/output_file.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kMarker[] = "nvcache-bench.json";
constexpr double kRoomFactor = 1.2;  // indexes, and what a table keeps beside its pairs
constexpr uint64_t kSpareBytes = 256ull << 20;

Status check_room(const std::string& folder, double wanted_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const auto wanted = static_cast<uint64_t>(wanted_bytes * kRoomFactor) + kSpareBytes;
  if (error || space.available >= wanted) return ok_status();
  return resource_exhausted_error(fmt::format(
      "{} of free disk space wanted in {}, {} there: free some, or give another --db or a smaller "
      "database",
      format_bytes(wanted), folder, format_bytes(space.available)));
}

Status load_pairs(EngineKind& kind, const Load& load, const std::string& folder, const Clock& clock,
                  Progress& progress) {
  const DatabaseFacts facts = load.database();
  progress.update(fmt::format("loading {}: sorting keys", facts.name));
  const SortedPairs pairs = load.sorted_pairs();
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  const uint64_t start_ns = clock.now_ns();
  const uint64_t all = pairs.count * facts.databases;
  Mutex mutex;
  const auto show = [&](uint64_t loaded) {
    MutexLock lock(mutex);
    progress.update(fmt::format("loading {}: {:.0f}% of {} pairs, {:.1f} s", facts.name,
                                100.0 * static_cast<double>(loaded) / static_cast<double>(all), all,
                                seconds_between(start_ns, clock.now_ns())));
  };
  const uint32_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  return kind.load(folder, facts.databases, pairs.count, pairs.pair, threads, show);
}

}  // namespace

std::string Loaded::text() const {
  const std::string size = format_bytes(size_bytes);
  return load_seconds > 0 ? fmt::format("{}, loaded in {:.1f} s", size, load_seconds)
                          : size + ", loaded before";
}

StatusOr<std::unique_ptr<Databases>> Databases::take(const std::string& db, bool keep) {
  std::unique_ptr<Databases> databases(new Databases());
  if (Status status = databases->lock(db); !status.ok()) return status;
  if (Status status = databases->claim(db); !status.ok()) return status;
  databases->keep_ = keep;
  return databases;
}

Status Databases::lock(const std::string& db) {
  if (db.empty()) {
    const char* temporary = std::getenv("TMPDIR");
    path_ = fmt::format("{}/nvcache-bench-XXXXXX",
                        temporary == nullptr || *temporary == 0 ? "/var/tmp" : temporary);
    if (::mkdtemp(path_.data()) == nullptr) {
      return failed_precondition_error(
          fmt::format("cannot make a folder {}: {}", path_, std::strerror(errno)));
    }
    made_ = true;
  } else {
    std::error_code error;
    path_ = fs::absolute(db).string();
    made_ = fs::create_directories(path_, error);
    if (error) {
      return failed_precondition_error(
          fmt::format("--db {}: cannot make the folder: {}", db, error.message()));
    }
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string cause =
        errno == EWOULDBLOCK ? "another run is using it" : std::strerror(errno);
    return failed_precondition_error(fmt::format("--db {}: {}", db, cause));
  }
  return ok_status();
}

Status Databases::claim(const std::string& db) {
  std::error_code error;
  if (!fs::exists(path(kMarker), error) && !fs::is_empty(path_, error)) {
    return failed_precondition_error(
        fmt::format("--db {}: is not empty, and holds no databases of 'nvcache bench'", db));
  }
  ours_ = true;
  remove_runs();
  return write_file_whole(path(kMarker), "{\"kind\": \"bench_databases\", \"schema\": 2}\n");
}

Databases::~Databases() {
  if (ours_) {
    remove_runs();
    if (!keep_) {
      for (const std::string& name : loaded_) remove(name);
    }
    // All that is left of ours is the mark.
    std::error_code ignored;
    if (std::distance(fs::directory_iterator(path_, ignored), {}) == 1) {
      fs::remove(path(kMarker), ignored);
    }
  }
  std::error_code ignored;
  if (made_) fs::remove(path_, ignored);  // succeeds only if it is empty
  if (descriptor_ >= 0) ::close(descriptor_);
}

StatusOr<Loaded> Databases::load(EngineKind& kind, const Load& load, uint64_t copies,
                                 const Clock& clock, Progress& progress) {
  const DatabaseFacts facts = load.database();
  json source = facts.source;
  source["engine"] = kind.describe();
  return this->load(
      facts.name, source,
      [&](const std::string& folder) {
        const double all = static_cast<double>(facts.databases * facts.pairs) * facts.pair_bytes;
        Status status = check_room(path_, all * static_cast<double>(1 + copies));
        return status.ok() ? load_pairs(kind, load, folder, clock, progress) : status;
      },
      clock);
}

StatusOr<Loaded> Databases::load(const std::string& name, const json& source,
                                 const std::function<Status(const std::string&)>& make,
                                 const Clock& clock) {
  const std::string mark = path(name + ".json");
  Loaded loaded;
  std::error_code ignored;
  if (std::ifstream file(mark); file) {
    const json found = json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (found.is_discarded() || found.value("source", json()) != source) {
      return failed_precondition_error(fmt::format(
          "{}: holds another database; found {}, wanted {}: give another --db, or "
          "remove it",
          path(name), found.is_discarded() ? "no JSON" : found["source"].dump(), source.dump()));
    }
  } else {
    remove(name);  // what an earlier run did not finish
    loaded_.insert(name);
    fs::create_directory(path(name), ignored);
    const uint64_t start_ns = clock.now_ns();
    if (Status status = make(path(name)); !status.ok()) {
      remove(name);
      return status;
    }
    loaded.load_seconds = seconds_between(start_ns, clock.now_ns());
    Status status = write_file_whole(mark, json{{"source", source}}.dump(1) + "\n");
    if (!status.ok()) return status;
  }
  loaded.size_bytes = folder_bytes(path(name));
  return loaded;
}

void Databases::done_with(const std::string& name) {
  if (!keep_ && loaded_.erase(name) > 0) remove(name);
}

void Databases::remove_runs() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    if (entry.path().filename().string().starts_with("run-")) fs::remove_all(entry, ignored);
  }
}

void Databases::remove(const std::string& name) {
  std::error_code ignored;
  fs::remove(path(name + ".json"), ignored);
  fs::remove_all(path(name), ignored);
}

uint64_t folder_bytes(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) sum += entry.file_size(error);
  }
  return sum;
}

}  // namespace nvcache
