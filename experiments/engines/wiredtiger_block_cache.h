// WiredTiger's own block cache, as a peer of nvcache on the same engine:
//
//   wtcache:dram,size=512MiB[,KEY=VALUE...]
//   wtcache:nvram,size=512MiB,nvram_path=/mnt/pmem     needs a WiredTiger built with memkind
//
// KEY is aggression (seconds that a block may stay unused), full_target, hashsize,
// max_percent_overhead, percent_file_in_dram, system_ram, cache_on_writes or
// cache_on_checkpoint; what is not given is WiredTiger's default.
#pragma once

#include <string>
#include <string_view>

#include "experiments/engines/engine.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "wiredtiger.h"

namespace nvcache {

// "block_cache=(...)" for wiredtiger_open. INVALID_ARGUMENT names what was given and
// what is allowed.
[[nodiscard]] StatusOr<std::string> wiredtiger_block_cache_config(std::string_view spec);

// Adds what WiredTiger's connection statistics tell: the time that threads waited for its
// cache and, with `own_cache`, its block cache as the second tier. A statistic that cannot
// be read stays 0.
void add_wiredtiger_statistics(WT_SESSION* session, bool own_cache, EngineMetrics* metrics);

}  // namespace nvcache
