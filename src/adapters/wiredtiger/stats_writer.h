// Writes statistics to files, at an interval and at the end. Each file is written whole under
// another name and then renamed, so that a reader never sees half of one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/background_thread.h"
#include "file_cache/file_block_cache.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct StatsFiles {
  std::string json_path;         // empty: none
  std::string prometheus_path;   // empty: none
  double interval_seconds = 10;  // 0: only at the end

  bool any() const { return !json_path.empty() || !prometheus_path.empty(); }
};

// Owned by one thread. A write that fails is reported once through `complain`, and tried again.
class StatsWriter {
 public:
  // PERMISSION_DENIED when a file cannot be written at the start; RESOURCE_EXHAUSTED when there is
  // no thread.
  [[nodiscard]] static StatusOr<std::unique_ptr<StatsWriter>> start(
      std::shared_ptr<FileBlockCache> files, const StatsFiles& where,
      std::function<void(const std::string&)> complain);
  ~StatsWriter();  // writes once more

 private:
  StatsWriter(std::shared_ptr<FileBlockCache> files, const StatsFiles& where,
              std::function<void(const std::string&)> complain);
  Status write() const;
  void write_or_complain();

  const std::shared_ptr<FileBlockCache> files_;
  const StatsFiles where_;
  const std::function<void(const std::string&)> complain_;
  bool complained_ = false;  // of the thread: the last write failed
  BackgroundThread thread_;
};

// {"format": "nvcache.wiredtiger/1", "cache": {...} or null, "files": {...}}
std::string stats_json(const FileBlockCache& files);
std::string stats_prometheus(const FileBlockCache& files);

}  // namespace nvcache
