// A thread with its own event loop and the connections that were given to it.
// The server's threads call adopt() and stop(); see each method.
#pragma once

#include <event2/event.h>

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "apps/nvcached/connection.h"
#include "apps/nvcached/loop_thread.h"
#include "base/mutex.h"

namespace nvcache::server {

class Worker {
 public:
  static constexpr size_t kSpareInputBytes = 64 << 10;

  explicit Worker(Service& service) : service_(service), counters_(service.new_counters()) {}
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

  // Only the worker's own connections call these.
  Service& service() { return service_; }
  Counters& counters() { return counters_; }
  event_base* base() { return loop_.base(); }
  Input& spare_input() { return spare_input_; }
  Output& spare_output() { return spare_output_; }
  // After an exception, which may have left a client's bytes in them.
  void empty_spares() {
    spare_input_.consume(spare_input_.size());
    spare_output_.clear();
  }
  void remove(Connection& connection);
  // Closes the connection that goes first (ReadingPace). False if none goes before `wanting`. Looks
  // at every connection of the worker.
  bool close_slowest(const Connection& wanting);
  uint64_t next_turn() { return ++turns_; }
  // A client was of one kind, and is of another.
  void count(ReadingPace::Kind was, ReadingPace::Kind is) {
    if (was == is) return;
    --of_kind_[static_cast<size_t>(was)];
    ++of_kind_[static_cast<size_t>(is)];
  }

 private:
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
  Counters& counters_;
  event* second_event_ = nullptr;
  Input spare_input_;
  Output spare_output_;
  uint64_t turns_ = 0;
  mutable Mutex mutex_;
  std::list<std::unique_ptr<Connection>> adopted_ ABSL_GUARDED_BY(mutex_);
  std::list<std::unique_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
  std::array<std::atomic<int>, ReadingPace::kKinds> of_kind_{};
  std::atomic<int> asked_to_close_{0};  // so many of those that go first
  LoopThread loop_{"nvcached worker", [this] { on_wake(); }};
};

}  // namespace nvcache::server
