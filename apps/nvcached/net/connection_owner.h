// What a connection needs of the event loop that it lives on. Worker is one; a connection knows it
// by these two alone.
//
// LoopShare: what all connections of a loop share, so that idle ones hold no buffers.
// ConnectionOwner: who keeps the connections, and ends them.
// Only the loop's thread uses either, except for LoopShare::of_kind().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "apps/nvcached/net/reading_pace.h"
#include "apps/nvcached/service/service.h"
#include "apps/nvcached/session/input.h"
#include "apps/nvcached/session/output.h"
#include "base/assert.h"

namespace nvcache::server {

class Connection;

class LoopShare {
 public:
  static constexpr size_t kSpareInputBytes = 64 << 10;

  explicit LoopShare(Service& service) : service_(service), counters_(service.new_counters()) {}

  Service& service() { return service_; }
  Counters& counters() { return counters_; }
  Input& spare_input() { return spare_input_; }
  Output& spare_output() { return spare_output_; }
  // After an exception, which may have left a client's bytes in them.
  void empty_spares() {
    spare_input_.consume(spare_input_.size());
    spare_output_.clear();
  }
  uint64_t next_turn() { return ++turns_; }
  // A client was of one kind, and is of another.
  void count(ReadingPace::Kind was, ReadingPace::Kind is) {
    if (was == is) return;
    const int before = of_kind_[static_cast<size_t>(was)].fetch_sub(1);
    NVCACHE_ASSERT_SLOW(was == ReadingPace::Kind::kHasAll || before > 0);
    ++of_kind_[static_cast<size_t>(is)];
  }
  // How many clients are of this kind, which is not kHasAll. Any thread may call it.
  int of_kind(ReadingPace::Kind kind) const { return of_kind_[static_cast<size_t>(kind)]; }

 private:
  Service& service_;
  Counters& counters_;
  Input spare_input_;
  Output spare_output_;
  uint64_t turns_ = 0;
  std::array<std::atomic<int>, ReadingPace::kKinds> of_kind_{};
};

class ConnectionOwner {
 public:
  // Ends a connection: it is gone when this returns.
  virtual void remove(Connection& connection) = 0;
  // Closes the connection of the loop that goes first (ReadingPace). False if none goes before
  // `wanting`. Looks at every connection of the loop.
  virtual bool close_slowest(const Connection& wanting) = 0;
  // Has a client of another loop closed, soon, that goes before one of this kind. False if there
  // is none.
  virtual bool close_elsewhere(ReadingPace::Kind kind) = 0;

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace nvcache::server
