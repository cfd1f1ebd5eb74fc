// RocksDB's trace of block cache accesses, as DB::StartBlockCacheTrace() and db_bench's
// -block_cache_trace_file write it (trace_replay/block_cache_tracer.cc of RocksDB 7.8.3).
//
// A frame is the time (u64), a type (u8), the payload's length (u32) and the payload,
// little-endian. The first frame has the magic words and the version. The payload of an access
// begins with the block's key in the cache, its charge, its column family, level and file, who
// reads, and whether it was a hit and must not be inserted. Keys become 64 bits of a hash; reads
// that insert nothing (compactions) are left out, for they do not change the cache.
#pragma once

#include <memory>

#include "apps/trace/decoder.h"

namespace nvcache {

std::unique_ptr<Decoder> make_rocksdb_decoder();

}  // namespace nvcache
