// Stock RocksDB as a benchmark engine: direct reads, 4 KiB blocks, no
// compression, bloom filters, the log on but not synced, an LRUCache of the given
// size, and nvcache as its SecondaryCache if a second tier is asked for.
#pragma once

#include <memory>

#include "experiments/engines/engine.h"

namespace nvcache {

std::unique_ptr<EngineKind> make_rocksdb_kind();

}  // namespace nvcache
