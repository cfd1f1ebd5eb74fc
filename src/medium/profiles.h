// The costs of emulated media: the parameters of the model in medium/cost_model.h.
// Every number's source is in docs/design/model.md. Units: 1 GB/s = 1e9 bytes per
// second = 1 byte per nanosecond.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nvcache {

// Throughput of the whole medium while `writers` writes are in flight.
struct WriterPoint {
  double writers;
  double read_gb_s;   // all readers together
  double write_gb_s;  // all writers together; unused in the point of 0 writers
};

struct Profile {
  std::string_view name;
  // Ascending by writers, from 0; in between throughput is interpolated
  // log-linearly, past the last point it stays.
  std::array<WriterPoint, 3> curve;
  uint64_t read_latency_ns;   // of one small read with nothing else going on
  uint64_t write_latency_ns;  // likewise, until the writer may go on
  double stream_gb_s;         // the most that one read can draw; 0: no such limit
  uint32_t transfer_bytes;    // accesses are charged in multiples of this
  uint64_t settle_ns;         // how long a write is felt: see cost_model.h
  // Making stores in place durable. 0 lines: what write() wrote has arrived already.
  uint32_t flush_line_bytes;  // what one instruction writes back
  uint64_t flush_issue_ns;    // that a core spends on each line
  uint64_t fence_ns;          // of a drain, beside what it waits for
  bool byte_addressable;      // loads and stores reach it; else whole transfers only
};

// optane, dram, cxl, flash.
std::span<const Profile> all_profiles();

// nullptr when there is none of that name.
const Profile* find_profile(std::string_view name);

// "optane, dram, cxl, flash"
std::string profile_names();

}  // namespace nvcache
