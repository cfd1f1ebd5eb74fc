// Stock WiredTiger as a benchmark engine: one row-store table of WiredTiger's default
// page sizes, direct I/O for data files, no compression, the log on but not synced, a
// cache of the given size, and, if a second tier is asked for, nvcache below it as the file
// system of the connection. WiredTiger's own block cache can take the tier's place.
#pragma once

#include <memory>

#include "experiments/engines/engine.h"

namespace nvcache {

std::unique_ptr<EngineKind> make_wiredtiger_kind();

}  // namespace nvcache
