// When an access to an emulated medium is done: the arithmetic behind
// medium/emulated.h, without clock, lock or bytes. Caller-locked.
//
// All times in ns, sizes in bytes, throughputs in GB/s = bytes per ns; n is the
// size rounded up to the profile's transfer_bytes.
//
//   w(t)  writes in flight, smoothed: dw/dt = (in_flight - w) / settle_ns. A lone
//         short write thus counts by the share of time that writes are in flight,
//         and is felt for about settle_ns after it has ended. A write is in flight
//         from its start until the time the model says it is done, however late
//         the thread that made it wakes up.
//   R(w)  read throughput of the medium, W(v) write throughput: log-linear between
//         the profile's points, v = in_flight, the new write included.
//   f(w)  = R(0) / R(w) >= 1: by how much a read is slower than alone.
//   Reads share one pipe, writes another; each serves in order of arrival.
//     read:  pipe_free = max(now, pipe_free) + n / R(w)
//            done = max(pipe_free, now + (read_latency + n / stream) * f(w))
//     write: pipe_free = max(now, pipe_free) + n / W(v)
//            done = max(pipe_free, now + write_latency)
//   Reads do not slow writes: none of our sources measured it.
//
// load L >= 1: each client stands for L like it, of whom it is the first to be served. An
// access is done as above and keeps its pipe busy for L * n; a write in flight counts as L.
//
// Stores in place go through a processor's cache:
//     store: owed += n; the core goes on at once, unless the cache is full of such
//            bytes: then when owed is down to kProcessorCacheBytes. Between accesses
//            owed falls by W(1) * (time in which no write is in the pipe). While any is
//            owed, in_flight counts one writer more.
//     flush: issued = now + lines * flush_issue (the core is busy with it);
//            accepted = max(issued, done of a write of n)
//     drain: done = max(now, accepted of the caller's flushes) + fence
//   A flush does not wait for what is owed, and does not lessen it: stores are charged
//   by store, or by the flush that follows them, not by both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "medium/profiles.h"

namespace nvcache {

class CostModel {
 public:
  explicit CostModel(const Profile& profile, double load = 1);

  // Starts an access now; returns the time at which it is done. `now_ns` may be
  // a little before that of an earlier call (threads race for the lock): the
  // later of the two counts.
  uint64_t start_read(uint64_t now_ns, uint64_t size_bytes);
  uint64_t start_write(uint64_t now_ns, uint64_t size_bytes);

  // Bytes stored in place that are not flushed; returns when the core may go on.
  uint64_t start_store(uint64_t now_ns, uint64_t offset, uint64_t size_bytes);

  struct Flush {
    uint64_t issued_ns = 0;    // the core may go on
    uint64_t accepted_ns = 0;  // a drain waits for this
  };
  // At most a processor's cache is written back, however long the extent.
  Flush start_flush(uint64_t now_ns, uint64_t offset, uint64_t size_bytes);

  static constexpr uint64_t kProcessorCacheBytes = 30 << 20;  // docs/design/model.md

  // w(now): smoothed writes in flight.
  double writers(uint64_t now_ns);

  // R and W at a number of writers in flight.
  double read_gb_s(double writers) const;
  double write_gb_s(double writers) const;

 private:
  // Logarithm of throughput per point: interpolated linearly.
  using Curve = std::array<double, 3>;
  double interpolate(const Curve& log_gb_s, double writers) const;
  uint64_t advance(uint64_t now_ns);
  void smooth_until(uint64_t when_ns);
  void pay_back(uint64_t until_ns);
  double transfer_bytes(uint64_t size_bytes) const;
  double span_bytes(uint64_t offset, uint64_t size_bytes) const;

  const Profile profile_;
  const double load_;
  std::array<double, 3> points_{};
  Curve log_read_{};
  Curve log_write_{};

  uint64_t last_ns_ = 0;
  double smoothed_writers_ = 0;
  double read_pipe_free_ns_ = 0;
  double write_pipe_free_ns_ = 0;
  double owed_bytes_ = 0;                // stored, and not on the medium yet
  std::vector<uint64_t> write_ends_ns_;  // min-heap: when each write in flight ends
};

}  // namespace nvcache
