// The two faces of an event loop towards its connections. Worker is such a loop; a connection knows
// it by these two alone.
//
// LoopShare: what all connections of a loop share, so that idle ones hold no buffers.
// ConnectionOwner: who keeps the connections, and ends them.
// Only the loop's thread uses either, except for LoopShare::most_cost().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>

#include "apps/nvcached/service/service.h"
#include "apps/nvcached/session/input.h"
#include "apps/nvcached/session/output.h"

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
  // Those that wait for buffer memory, in the order in which they try again.
  std::list<Connection*>& waiting() { return waiting_; }
  // About the highest cost of buffers (Pace) among the clients of the loop. Any thread may ask.
  double most_cost() const { return most_cost_.load(std::memory_order_relaxed); }
  void set_most_cost(double cost) { most_cost_.store(cost, std::memory_order_relaxed); }
  // A client costs so much from now on.
  void note_cost(double cost) {
    if (cost > most_cost()) set_most_cost(cost);
  }

 private:
  Service& service_;
  Counters& counters_;
  Input spare_input_;
  Output spare_output_;
  std::list<Connection*> waiting_;
  std::atomic<double> most_cost_{0};
};

class ConnectionOwner {
 public:
  // Who went for a client that wants room.
  enum class Gone : uint8_t {
    kNobody,
    kSoon,  // a client of another loop
    kOne,   // one of this loop
  };

  // Ends a connection: it is gone when this returns.
  virtual void remove(Connection& connection) = 0;
  // Closes the connection of all whose buffers cost most (Pace), if that is more than `cost`; for a
  // client that is slow itself, none that has its buffers anew. Looks at every connection of the
  // loop.
  virtual Gone close_costlier(double cost, bool spares_new) = 0;
  // Calls try_again() of those that wait, in a moment.
  virtual void try_again_soon() = 0;

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace nvcache::server
