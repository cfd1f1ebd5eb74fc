// A thread with its own event loop and the connections that were given to it.
// The server's threads call adopt() and stop(); see each method.
#pragma once

#include <event2/event.h>

#include <atomic>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "apps/nvcached/net/connection.h"
#include "apps/nvcached/net/connection_owner.h"
#include "apps/nvcached/net/loop_thread.h"
#include "base/mutex.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

class Worker final : private ConnectionOwner {
 public:
  // Finds the worker other than this one that has the costliest client. Null: there is no other.
  using FindCostliest = std::function<Worker*(const Worker&)>;

  explicit Worker(Service& service, FindCostliest find_costliest = {})
      : service_(service), find_costliest_(std::move(find_costliest)), share_(service) {}
  ~Worker() { stop(); }
  [[nodiscard]] Status start();
  // Closes all connections and waits for the thread.
  void stop();

  // The accepting thread calls it.
  void adopt(int fd, std::unique_ptr<Transport> transport, std::string address,
             std::string listen_address);
  // Any thread may call these. True if a client's buffers seem to cost more than `cost` (Pace): the
  // one that costs most is closed soon.
  double most_cost() const { return share_.most_cost(); }
  bool ask_to_close_costlier(double cost, bool spares_new);
  void visit_connections(const StatVisitor& visit) const;

 private:
  static constexpr double kNoCost = std::numeric_limits<double>::infinity();

  void remove(Connection& connection) override;
  Gone close_costlier(double cost, bool spares_new) override;
  void try_again_soon() override;

  static void on_second(int fd, short what, void* self);
  static void on_room_tick(int fd, short what, void* self);
  void on_wake();
  void take_adopted();
  void close_those_asked_for();
  void come_within_budget();
  // Closes the one that costs most, for want of buffers. False if none costs more than that.
  bool close_costlier_here(double cost, bool spares_new);
  void end_second();
  void close_idle();
  void unpin_stalled();

  Service& service_;
  const FindCostliest find_costliest_;
  LoopShare share_;
  event* second_event_ = nullptr;
  event* room_event_ = nullptr;  // a moment after a client began to wait for room
  mutable Mutex mutex_;
  std::list<std::unique_ptr<Connection>> adopted_ NVCACHE_GUARDED_BY(mutex_);
  std::list<std::unique_ptr<Connection>> connections_ NVCACHE_GUARDED_BY(mutex_);
  std::atomic<int> asked_to_close_{0};       // how many of those that cost most
  std::atomic<double> asked_cost_{kNoCost};  // and more than that
  std::atomic<bool> asked_spares_new_{true};
  LoopThread loop_{"nvcached worker", [this] { on_wake(); }};
};

}  // namespace nvcache::server
