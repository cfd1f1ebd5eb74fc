// A thread with its own event loop and the connections that were given to it.
// The server's threads call adopt() and stop(); see each method.
#pragma once

#include <event2/event.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "apps/nvcached/net/connection.h"
#include "apps/nvcached/net/connection_owner.h"
#include "apps/nvcached/net/loop_thread.h"
#include "base/mutex.h"

namespace nvcache::server {

class Worker final : private ConnectionOwner {
 public:
  // Has a client of a worker other than this one closed, as close_one_before(). May be empty.
  using CloseElsewhere = std::function<bool(const Worker&, ReadingPace::Kind)>;

  explicit Worker(Service& service, CloseElsewhere close_elsewhere = {})
      : service_(service), close_elsewhere_(std::move(close_elsewhere)), share_(service) {}
  ~Worker() { stop(); }
  [[nodiscard]] absl::Status start();
  // Closes all connections and waits for the thread.
  void stop();

  // The accepting thread calls it.
  void adopt(int fd, std::unique_ptr<Transport> transport, std::string address,
             std::string listen_address);
  // Any thread may call these. True if there is a client that surely goes before one of this kind,
  // as a dead one does before a new one: it is closed soon.
  bool close_one_before(ReadingPace::Kind kind);
  void visit_connections(const StatVisitor& visit) const;

 private:
  void remove(Connection& connection) override;
  bool close_slowest(const Connection& wanting) override;
  bool close_elsewhere(ReadingPace::Kind kind) override;

  static void on_second(int fd, short what, void* self);
  void on_wake();
  void take_adopted();
  void close_those_asked_for();
  void come_within_budget();
  bool close_one_that_does_not_read();
  // Closes the one that goes first of those that may go, for want of buffers. False if none may.
  bool close_first(absl::FunctionRef<bool(const Connection&)> may_go);
  void end_second();
  void close_idle();
  void unpin_stalled();

  Service& service_;
  const CloseElsewhere close_elsewhere_;
  LoopShare share_;
  event* second_event_ = nullptr;
  mutable Mutex mutex_;
  std::list<std::unique_ptr<Connection>> adopted_ ABSL_GUARDED_BY(mutex_);
  std::list<std::unique_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> asked_to_close_{0};  // how many of those that go first
  LoopThread loop_{"nvcached worker", [this] { on_wake(); }};
};

}  // namespace nvcache::server
