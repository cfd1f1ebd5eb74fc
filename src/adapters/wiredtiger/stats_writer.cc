#include "adapters/wiredtiger/stats_writer.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

absl::Status write_whole(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  const auto fail = [&](int error) {
    (void)std::remove(partial.c_str());
    return absl::PermissionDeniedError(
        fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
  };
  std::FILE* file = std::fopen(partial.c_str(), "we");
  if (file == nullptr) return fail(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = written ? 0 : errno;
  if (std::fclose(file) != 0 || !written) return fail(written ? errno : error);
  if (std::rename(partial.c_str(), path.c_str()) != 0) return fail(errno);
  return absl::OkStatus();
}

}  // namespace

std::string stats_json(const FileBlockCache& files) {
  const std::string cache = files.cache() == nullptr ? "null" : files.cache()->stats().to_json();
  return fmt::format("{{\"format\": \"nvcache.wiredtiger/1\",\n\"cache\": {},\n\"files\": {}}}\n",
                     cache, files.stats().to_json());
}

std::string stats_prometheus(const FileBlockCache& files) {
  const std::string cache = files.cache() == nullptr ? "" : files.cache()->stats().to_prometheus();
  return cache + files.stats().to_prometheus();
}

StatsWriter::StatsWriter(std::shared_ptr<FileBlockCache> files, const StatsFiles& where,
                         std::function<void(const std::string&)> complain)
    : files_(std::move(files)), where_(where), complain_(std::move(complain)) {}

absl::StatusOr<std::unique_ptr<StatsWriter>> StatsWriter::start(
    std::shared_ptr<FileBlockCache> files, const StatsFiles& where,
    std::function<void(const std::string&)> complain) {
  std::unique_ptr<StatsWriter> writer(
      new StatsWriter(std::move(files), where, std::move(complain)));
  if (absl::Status status = writer->write(); !status.ok()) return status;
  if (where.interval_seconds > 0) {
    writer->thread_ = std::thread([raw = writer.get()] { raw->run(); });
  }
  return writer;
}

StatsWriter::~StatsWriter() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (const absl::Status status = write(); !status.ok()) complain_(std::string(message_of(status)));
}

absl::Status StatsWriter::write() const {
  if (!where_.json_path.empty()) {
    absl::Status status = write_whole(where_.json_path, stats_json(*files_));
    if (!status.ok()) return status;
  }
  if (where_.prometheus_path.empty()) return absl::OkStatus();
  return write_whole(where_.prometheus_path, stats_prometheus(*files_));
}

void StatsWriter::run() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const std::chrono::duration<double> interval(where_.interval_seconds);
  bool complained = false;
  mutex_.lock();
  while (!wakes_.wait_for(mutex_, interval,
                          [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; })) {
    mutex_.unlock();
    const absl::Status status = write();
    if (!status.ok() && !complained) complain_(std::string(message_of(status)));
    complained = !status.ok();
    mutex_.lock();
  }
  mutex_.unlock();
}

}  // namespace nvcache
