#include "experiments/simulate/storage.h"

#include <algorithm>
#include <cmath>

namespace nvcache::simulate {

uint64_t Storage::read(uint64_t now_ns, uint64_t size_bytes) {
  read_bytes_ += size_bytes;
  const uint64_t service = service_ns(size_bytes, row_.read_gb_s);
  const uint64_t start_ns = std::max(now_ns, reads_end_ns_);
  const uint64_t shared_ns = std::min(backlog_ns(start_ns), service);
  writes_end_ns_ += shared_ns;
  reads_end_ns_ = start_ns + service + shared_ns;
  return std::max(reads_end_ns_, now_ns + row_.read_latency_ns + service);
}

uint64_t Storage::write(uint64_t now_ns, uint64_t size_bytes) {
  written_bytes_ += size_bytes;
  const uint64_t service = service_ns(size_bytes, row_.write_gb_s);
  // What was promised to reads stays theirs; later reads share with this write.
  writes_end_ns_ = std::max({now_ns, writes_end_ns_, reads_end_ns_}) + service;
  return std::max(writes_end_ns_, now_ns + row_.write_latency_ns + service);
}

uint64_t Storage::service_ns(uint64_t size_bytes, double gb_s) const {
  const double transfer_ns = static_cast<double>(size_bytes) / gb_s;
  return static_cast<uint64_t>(
      std::llround(std::max(transfer_ns, 1e9 / row_.operations_per_second)));
}

}  // namespace nvcache::simulate
