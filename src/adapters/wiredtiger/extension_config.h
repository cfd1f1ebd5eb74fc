// The extension's settings, from config=(...).
#pragma once

#include <optional>

#include "adapters/wiredtiger/stats_writer.h"
#include "block_cache/api/config.h"
#include "file_cache/file_block_cache.h"
#include "nvcache/status_or.h"
#include "wiredtiger.h"
#include "wiredtiger_ext.h"

namespace nvcache {

struct ExtensionConfig {
  std::optional<Config> cache;  // none: reads and writes pass through, and are counted
  OnWrite on_write = OnWrite::kOffer;
  StatsFiles stats;
  bool log_dsync = false;  // see FileSystemOptions
};

// INVALID_ARGUMENT names the key, what was given and what is allowed.
[[nodiscard]] StatusOr<ExtensionConfig> read_extension_config(WT_EXTENSION_API* api,
                                                              WT_CONFIG_ARG* text);

}  // namespace nvcache
