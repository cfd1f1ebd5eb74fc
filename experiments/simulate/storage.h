// A disk with a limit of bytes and of operations a second.
//
//   service = max(bytes / throughput, 1 / operations_per_second)
//   read:  done = max(end of service, now + latency + service)
//   write: likewise
//
// Reads are served in order of arrival, and writes are. While both wait, each gets half of the
// disk: a read of service s that finds b of writes waiting takes s + min(b, s), and delays them by
// min(b, s). So the disk never does more than one second's work in a second.
//
// A disk whose dies are followed is a bus before dies. The bus is the above, without the latency;
// reads and writes have one each, and do not share. Behind it each page of 16 KiB has a die to
// itself, any of them as likely as another, and waits until it is free: a read for the latency, a
// write for so long that all dies together write at write_gb_s. Reads wait behind writes, and the
// more there are of both, the longer their tail is. A write is acknowledged from the drive's own
// memory: write_latency_ns, unless its bus or die is behind by more.
//
// Times in ns, sizes in bytes. Caller-locked.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/simulate/tables.h"

namespace nvcache::simulate {

class Storage {
 public:
  explicit Storage(const StorageRow& row) : row_(row), die_ends_ns_(row.dies) {}

  // When a read or a write that begins now is done. `now_ns` may be a little before that of an
  // earlier call.
  uint64_t read(uint64_t now_ns, uint64_t size_bytes);
  uint64_t write(uint64_t now_ns, uint64_t size_bytes);

  // How long the writes that wait now will take.
  uint64_t backlog_ns(uint64_t now_ns) const {
    return writes_end_ns_ > now_ns ? writes_end_ns_ - now_ns : 0;
  }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  uint64_t service_ns(uint64_t size_bytes, double gb_s) const;
  // Behind the bus, from `now_ns` on: each page has a die for so long.
  uint64_t through_dies(uint64_t now_ns, uint64_t size_bytes, uint64_t page_ns);

  const StorageRow row_;
  std::vector<uint64_t> die_ends_ns_;
  uint64_t pages_ = 0;  // so far: which die is next
  uint64_t reads_end_ns_ = 0;
  uint64_t writes_end_ns_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace nvcache::simulate
