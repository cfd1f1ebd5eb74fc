#include "experiments/simulate/storage.h"

#include <algorithm>
#include <cmath>

#include "base/prng.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kDiePageBytes = 16 << 10;
constexpr uint64_t kWriteBufferNs = 10'000'000;  // our choice: some 10 MB

}  // namespace

uint64_t Storage::read(uint64_t now_ns, uint64_t size_bytes) {
  read_bytes_ += size_bytes;
  const uint64_t service = service_ns(size_bytes, row_.read_gb_s);
  const uint64_t start_ns = std::max(now_ns, reads_end_ns_);
  if (row_.dies > 0) {
    reads_end_ns_ = start_ns + service;
    return through_dies(reads_end_ns_, size_bytes, row_.read_latency_ns);
  }
  const uint64_t shared_ns = std::min(backlog_ns(start_ns), service);
  writes_end_ns_ += shared_ns;
  reads_end_ns_ = start_ns + service + shared_ns;
  return std::max(reads_end_ns_, now_ns + row_.read_latency_ns + service);
}

uint64_t Storage::write(uint64_t now_ns, uint64_t size_bytes) {
  written_bytes_ += size_bytes;
  const uint64_t service = service_ns(size_bytes, row_.write_gb_s);
  if (row_.dies > 0) {
    writes_end_ns_ = std::max(now_ns, writes_end_ns_) + service;
    const auto page_ns =
        static_cast<uint64_t>(static_cast<double>(kDiePageBytes * row_.dies) / row_.write_gb_s);
    const uint64_t written_ns = through_dies(writes_end_ns_, size_bytes, page_ns);
    // The drive's memory holds what its dies do in kWriteBufferNs.
    const uint64_t accepted_ns = writes_end_ns_ + row_.write_latency_ns;
    return std::max(accepted_ns, written_ns - std::min(written_ns, kWriteBufferNs));
  }
  // The share that was promised to reads stays theirs; later reads share with this write.
  writes_end_ns_ = std::max({now_ns, writes_end_ns_, reads_end_ns_}) + service;
  return std::max(writes_end_ns_, now_ns + row_.write_latency_ns + service);
}

uint64_t Storage::through_dies(uint64_t now_ns, uint64_t size_bytes, uint64_t page_ns) {
  uint64_t done_ns = now_ns;
  for (uint64_t bytes = 0; bytes < size_bytes; bytes += kDiePageBytes) {
    uint64_t& end_ns = die_ends_ns_[mix64(pages_++) % row_.dies];
    end_ns = std::max(now_ns, end_ns) + page_ns;
    done_ns = std::max(done_ns, end_ns);
  }
  return done_ns;
}

uint64_t Storage::service_ns(uint64_t size_bytes, double gb_s) const {
  const double transfer_ns = static_cast<double>(size_bytes) / gb_s;
  return static_cast<uint64_t>(
      std::llround(std::max(transfer_ns, 1e9 / row_.operations_per_second)));
}

}  // namespace nvcache::simulate
