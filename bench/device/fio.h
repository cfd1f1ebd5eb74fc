// fio, the disk benchmark that people know, beside the cache.
#pragma once

#include <cstdint>
#include <string>

#include "nvcache/status_or.h"

namespace nvcache::bench {

// Whether it is installed.
bool has_fio();

// Bytes a second of fio's writes of 1 MiB by direct I/O, in order, one or several in flight, into
// the file, which is there and has this size; it is synced at the end. UNAVAILABLE if fio fails.
StatusOr<double> fio_bytes_per_second(const std::string& path, uint64_t size_bytes,
                                      uint32_t in_flight);

}  // namespace nvcache::bench
