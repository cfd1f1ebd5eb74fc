// A TieredCache on the other side of the boundary, for the code of one version of RocksDB. Forwards
// each call; its own statistics hold no more than RocksDB's info log prints.
//
// Thread-safe. Owns the cache behind it. Costs one indirect call more than a TieredCache.
#pragma once

#include <memory>

#include "adapters/jvm/boundary.h"
#include "adapters/rocksdb/program_cache.h"
#include "nvcache/tiered_cache.h"

namespace nvcache::jvm {

// Null if the specification is wrong, or RocksDB has to be asked itself.
std::shared_ptr<TieredCache> open_far_cache(const Boundary& boundary, std::string_view spec,
                                            const rocksdb::ProgramCache& program,
                                            std::shared_ptr<ObjectCodec> codec);

// Null if the specification is wrong; `problem` is told why.
std::shared_ptr<TieredCache> open_far_cache_by_spec(const Boundary& boundary, std::string_view spec,
                                                    std::shared_ptr<ObjectCodec> codec,
                                                    const Problem& problem);

}  // namespace nvcache::jvm
