#include "experiments/ycsb/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "apps/command/interrupt.h"
#include "apps/command/output_file.h"
#include "base/prng.h"
#include "base/units.h"
#include "experiments/workload/record.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "nvcache-bench.json";
constexpr char kLoaded[] = "loaded";

// What a database of these options is called; equal means it can be used again.
nlohmann::json identity(const EngineKind& engine, const BenchOptions& options) {
  return {{"kind", "bench_database"},     {"schema", 1},
          {"engine", engine.describe()},  {"records", options.records},
          {"record_bytes", kRecordBytes}, {"seed", options.seed}};
}

// Keys of records 0 .. count-1 in byte order, as fixed-size strings (20 digits at
// most, padded with zero bytes, which sort before digits).
using Digits = std::array<char, kMaxKeyBytes>;

std::vector<Digits> sorted_keys(uint64_t count) {
  std::vector<Digits> keys(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = record_key(i);
    std::copy(key.begin(), key.end(), keys[i].begin());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::string key_string(const Digits& digits) {
  return {digits.data(), ::strnlen(digits.data(), digits.size())};
}

}  // namespace

StatusOr<std::unique_ptr<Database>> Database::prepare(EngineKind& engine,
                                                      const BenchOptions& options,
                                                      const Clock& clock, Progress& progress) {
  auto folder = LockedFolder::take(options.db, "nvcache-bench");
  if (!folder.ok()) return folder.status();
  std::unique_ptr<Database> database(new Database(engine, *std::move(folder)));
  if (Status status = database->find_loaded(options); !status.ok()) return status;
  if (!database->reused_) {
    if (Status status = database->check_room(options); !status.ok()) return status;
    if (Status status = database->load(options, clock, progress); !status.ok()) return status;
  }
  database->keep_ = options.keep_db || database->reused_;
  return database;
}

Database::~Database() {
  if (keep_) return;
  std::error_code ignored;
  fs::remove_all(path(kLoaded), ignored);
  fs::remove(path(kMarker), ignored);
}

Status Database::find_loaded(const BenchOptions& options) {
  std::ifstream marker(path(kMarker));
  std::error_code error;
  if (!marker) {
    if (fs::is_empty(folder_.path(), error)) return ok_status();
    keep_ = true;  // not ours: touch nothing
    return failed_precondition_error(fmt::format(
        "--db {}: is not empty, and holds no database that 'nvcache bench' finished loading",
        options.db));
  }
  keep_ = true;
  const auto found = nlohmann::json::parse(marker, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json wanted = identity(engine_, options);
  if (found != wanted) {
    return failed_precondition_error(
        fmt::format("--db {}: holds another database; found {}, wanted {}", options.db,
                    found.is_discarded() ? "no JSON" : found.dump(), wanted.dump()));
  }
  for (const auto& entry : fs::directory_iterator(folder_.path(), error)) {
    if (entry.path().filename().string().starts_with("run-")) fs::remove_all(entry.path(), error);
  }
  reused_ = true;
  return ok_status();
}

Status Database::check_room(const BenchOptions& options) const {
  // The records once, and as much again for what a run writes beside them. Copies that
  // share nothing come on top: one, or one for each configuration.
  uint64_t times = 2;
  if (!engine_.clones_share_blocks())
    times += options.keep_tier ? options.configurations.size() : 1;
  const uint64_t wanted = times * options.records * (kRecordBytes + 100) + (256ull << 20);
  std::error_code error;
  const fs::space_info space = fs::space(folder_.path(), error);
  if (error || space.available >= wanted) return ok_status();
  return resource_exhausted_error(fmt::format(
      "{} of free disk space wanted for {} records, {} there: free some, or give --db or fewer "
      "--records",
      format_bytes(wanted), options.records, format_bytes(space.available)));
}

Status Database::load(const BenchOptions& options, const Clock& clock, Progress& progress) {
  const uint64_t start_ns = clock.now_ns();
  progress.update(fmt::format("loading {} records: sorting keys", options.records));
  const std::vector<Digits> keys = sorted_keys(options.records);
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  const uint64_t version = mix64(options.seed);
  const SortedRecord record = [&](uint64_t i, std::string* key, std::string* value) {
    *key = key_string(keys[i]);
    value->resize(kRecordBytes);
    fill_record(*key, version, std::span<char, kRecordBytes>(value->data(), kRecordBytes));
  };
  Mutex mutex;
  const auto show = [&](uint64_t loaded) {
    MutexLock lock(mutex);
    progress.update(
        fmt::format("loading: {:.0f}% of {} records, {:.1f} s",
                    100.0 * static_cast<double>(loaded) / static_cast<double>(keys.size()),
                    keys.size(), seconds_between(start_ns, clock.now_ns())));
  };
  const uint32_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  if (Status status = engine_.load(path(kLoaded), keys.size(), record, threads, show);
      !status.ok()) {
    return status;
  }
  load_seconds_ = seconds_between(start_ns, clock.now_ns());
  return write_file_whole(path(kMarker), identity(engine_, options).dump(2) + "\n");
}

StatusOr<std::string> Database::fresh_copy() {
  const std::string copy = path(fmt::format("run-{}", ++copies_));
  if (Status status = engine_.clone(path(kLoaded), copy); !status.ok()) {
    remove_copy(copy);
    return status;
  }
  return copy;
}

void Database::remove_copy(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

uint64_t Database::size_bytes() const { return folder_bytes(path(kLoaded)); }

}  // namespace nvcache
