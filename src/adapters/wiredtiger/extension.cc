// libnvcache_wiredtiger.so, the extension that WiredTiger loads.
//
//   wiredtiger_open(home, NULL, "create,extensions=[/path/libnvcache_wiredtiger.so="
//     "(early_load=true,config=(cache=\"nvcache://?size=1GiB&medium=file:/mnt/x\"))]", &conn)
//
// A wrong configuration fails wiredtiger_open with a message. A medium that cannot be opened does
// not: the database opens without a cache and reports it.
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "adapters/wiredtiger/error_report.h"
#include "adapters/wiredtiger/extension_config.h"
#include "adapters/wiredtiger/file_system.h"
#include "adapters/wiredtiger/guarded.h"
#include "adapters/wiredtiger/shared_caches.h"
#include "adapters/wiredtiger/stats_writer.h"
#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

StatusOr<std::shared_ptr<FileBlockCache>> open_cache(const ExtensionConfig& config,
                                                     const ErrorReport& report) {
  if (config.cache) {
    auto cache = open_shared_cache(*config.cache, config.on_write);
    if (cache.ok() || is_invalid_argument(cache.status())) return cache;
    report.say(nullptr, fmt::format("{}; going on without a cache", cache.status().message()));
  }
  return std::make_shared<FileBlockCache>(nullptr, config.on_write);
}

int load(WT_CONNECTION* connection, WT_CONFIG_ARG* text) {
  const ErrorReport report(connection);
  const auto refuse = [&](const Status& status) {
    report.say(nullptr, std::string(status.message()));
    return EINVAL;
  };
  const auto config = read_extension_config(report.api(), text);
  if (!config.ok()) return refuse(config.status());
  auto opened = open_cache(*config, report);
  if (!opened.ok()) return refuse(opened.status());
  std::shared_ptr<FileBlockCache> files = *std::move(opened);

  std::shared_ptr<StatsWriter> writer;
  if (config->stats.any()) {
    auto started = StatsWriter::start(
        files, config->stats, [report](const std::string& what) { report.say(nullptr, what); });
    if (!started.ok()) return refuse(started.status());
    writer = *std::move(started);
  }
  // When the connection closes, the last statistics are written and the cache is destroyed.
  const int error =
      attach_file_system(connection, std::move(files),
                         {.log_dsync = config->log_dsync,
                          .on_close = [writer = std::move(writer)]() mutable { writer.reset(); }});
  if (error == EPERM) report.say(nullptr, "early_load=true is missing beside config=(...)");
  return error;
}

}  // namespace
}  // namespace nvcache

extern "C" [[gnu::visibility("default")]] int wiredtiger_extension_init(WT_CONNECTION* connection,
                                                                        WT_CONFIG_ARG* config) {
  return nvcache::guarded([&] { return nvcache::load(connection, config); });
}
