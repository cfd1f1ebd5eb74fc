// The reads of clients that are not there: a test machine has fewer cores than a server
// has clients, and what the others ask of a medium is what a read waits for.
//
// For each read that is made, load - 1 more of its size arrive, each at a random time of
// its own within the next kSpreadNs: they are as many as those of load - 1 clients like the
// one that reads, and do not come when it does. The medium serves reads in
// the order of arrival, one transfer after the other. Transfers of S each that keep it busy for
// the share u of the time would make reads that come at random wait for
// S * u / (2 * (1 - u)) in the mean (M/D/1). Here it is somewhat more, for a burst of ours brings a
// burst of theirs, and about half of that for reads that come at even intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/prng.h"

namespace nvcache::rocksdb {

// Caller-locked. The same reads at the same times give the same waits.
class OtherClients {
 public:
  static constexpr uint64_t kSpreadNs = 1'000'000;  // some ten reads of a client of flash

  // `load` clients for each that is there, 1 or more; the medium transfers `read_gb_s`.
  OtherClients(double load, double read_gb_s) : others_(load - 1), read_gb_s_(read_gb_s) {}

  // A read arrives; when the medium is free for it. With a load of 1: at once.
  uint64_t start_read(uint64_t now_ns, uint64_t size_bytes) {
    if (others_ <= 0) return now_ns;
    const uint64_t start_ns = free_at(now_ns);
    const double transfer_ns = static_cast<double>(size_bytes) / read_gb_s_;
    free_ns_ = static_cast<double>(start_ns) + transfer_ns;
    for (owed_ += others_; owed_ >= 1; --owed_) {
      arrivals_.push({now_ns + prng_.below(kSpreadNs), transfer_ns});
    }
    return start_ns;
  }

  // When the medium is done with what has arrived until now.
  uint64_t free_at(uint64_t now_ns) {
    for (; !arrivals_.empty() && arrivals_.top().when_ns <= now_ns; arrivals_.pop()) {
      const Arrival& next = arrivals_.top();
      free_ns_ = std::max(free_ns_, static_cast<double>(next.when_ns)) + next.transfer_ns;
    }
    return std::max(now_ns, static_cast<uint64_t>(free_ns_));
  }

 private:
  struct Arrival {
    uint64_t when_ns = 0;
    double transfer_ns = 0;
    bool operator>(const Arrival& other) const { return when_ns > other.when_ns; }
  };

  const double others_;
  const double read_gb_s_;
  Prng prng_{1};
  double owed_ = 0;     // reads of others that are not scheduled, below 1
  double free_ns_ = 0;  // when the medium is done with what it was given
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
};

}  // namespace nvcache::rocksdb
