#include "adapters/wiredtiger/stats_writer.h"

#include <new>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

Status write_whole(const std::string& path, const std::string& text) {
  const int error = replace_file(path, text);
  if (error == 0) return ok_status();
  return permission_denied_error(
      fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
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
    : files_(std::move(files)),
      where_(where),
      complain_(std::move(complain)),
      thread_({.name = "nvcache-stats",
               .interval_seconds = where.interval_seconds,
               .round = [this] { return write_or_complain(), false; },
               .on_exception =
                   [this](const std::string& what) {
                     if (!std::exchange(complained_, true))
                       complain_("writing statistics: " + what);
                   }}) {}

StatusOr<std::unique_ptr<StatsWriter>> StatsWriter::start(
    std::shared_ptr<FileBlockCache> files, const StatsFiles& where,
    std::function<void(const std::string&)> complain) {
  std::unique_ptr<StatsWriter> writer(
      new StatsWriter(std::move(files), where, std::move(complain)));
  if (Status status = writer->write(); !status.ok()) return status;
  if (where.interval_seconds > 0 && !writer->thread_.start()) {
    return resource_exhausted_error("no thread to write the statistics");
  }
  return writer;
}

StatsWriter::~StatsWriter() {
  thread_.stop();
  try {
    const Status status = write();
    if (!status.ok()) complain_(std::string(status.message()));
  } catch (const std::bad_alloc&) {  // the file keeps what it had
  }
}

Status StatsWriter::write() const {
  if (!where_.json_path.empty()) {
    Status status = write_whole(where_.json_path, stats_json(*files_));
    if (!status.ok()) return status;
  }
  if (where_.prometheus_path.empty()) return ok_status();
  return write_whole(where_.prometheus_path, stats_prometheus(*files_));
}

void StatsWriter::write_or_complain() {
  const Status status = write();
  if (!status.ok() && !complained_) complain_(std::string(status.message()));
  complained_ = !status.ok();
}

}  // namespace nvcache
