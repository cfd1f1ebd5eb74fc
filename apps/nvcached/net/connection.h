// A client's socket in an event loop. An idle connection holds no buffers: it reads into its loop's
// buffer, and keeps only the rest of a partial request or of unsent answers. After a number of
// requests (-R) a busy connection gives way to the loop's others. Only the loop's thread uses it,
// except for visit().
#pragma once

#include <event2/event.h>

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "apps/nvcached/net/connection_owner.h"
#include "apps/nvcached/net/pace.h"
#include "apps/nvcached/net/transport.h"
#include "apps/nvcached/session/input.h"
#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/session.h"

namespace nvcache::server {

class Connection {
 public:
  // `owner` and `loop` must outlive it.
  Connection(ConnectionOwner& owner, LoopShare& loop, int fd, std::unique_ptr<Transport> transport,
             std::string address, std::string listen_address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False if the event loop cannot watch the socket.
  bool start(event_base* base);

  // One that waits for buffer memory, until others go or give some back, looks for it again, and
  // goes on if there is.
  void try_again();

  // The cost of its buffers (Pace), if its client takes their bytes slowly; else 0.
  double cost() const { return cost_of(held_bytes_); }
  // It has them for less than two seconds, so that little is known.
  bool holds_anew() const { return holding_seconds_ < kKnownSeconds; }
  // Called once a second.
  void end_second();

  uint32_t active_s() const { return active_s_.load(std::memory_order_relaxed); }
  // Called once a second. Copies values that stay pinned though their client did not read on. False
  // if there is no memory for that: the caller closes the connection.
  bool unpin_stalled();

  // Why the owner closes it, as watchers are told: "error", "idle_timeout" or "shutdown".
  void set_close_reason(const char* reason) { close_reason_ = reason; }

  // For `stats conns`. Any thread may call it.
  void visit(const StatVisitor& visit, uint32_t now_s) const;

  std::list<std::unique_ptr<Connection>>::iterator self;  // in the owner's list

 private:
  static constexpr uint32_t kKnownSeconds = 2;  // neither is whole

  // How it treats the bytes that the client sends. A connection that waits or closes, or whose
  // client watches, serves no request.
  enum class Phase : uint8_t {
    kServing,
    // There is more to serve, but not yet: too much output is pending, or other connections have
    // their turn. Nothing is read or served until the socket is writable; then it serves on.
    kWaiting,
    kWatching,  // for good: what the client sends is dropped
    kClosing,   // for good: until all output is sent
  };

  static void on_event(int fd, short what, void* self);
  double cost_of(uint64_t held_bytes) const;
  void note_taken();
  // Does all that an event, or none, allows. Ends the connection if it is over.
  void handle(short what);
  // Each returns false when the connection is over.
  bool readable();
  bool writable();
  bool serve(Input& input);
  bool flush();
  void wait_for_events();
  bool serve_event(short what);
  // Has the loop watch the socket for this event, or no longer.
  void watch_for(short what, event* by, bool wanted);
  // Turns the connection into a watcher's, and serves it as one.
  bool begin_watching();
  bool pass_on_lines();
  // Tells of a client that came (no reason) or went.
  void tell_watchers(std::string_view event, std::string_view reason = "") const;
  // Whether this connection has the buffer memory that it wants.
  enum class Held : uint8_t {
    kYes,
    kSoon,  // it should wait, and try again
    kNo,    // it must close
  };
  // Takes or gives back buffer memory, so that this connection holds so much. Makes room: slow
  // clients go, those that cost most first.
  Held hold(uint64_t bytes);
  Held make_room_for(uint64_t bytes, uint64_t more_bytes);
  // The same, of memory that is in use already. False: this connection must close.
  bool hold_what_is_there();
  bool refuse();
  bool waits_for_room() const { return waits_at_.has_value(); }
  void end_waiting();
  // Keeps the values of an answer that was sent in part pinned, if there are few of them in the
  // whole server; else copies them, which may have to wait. False if there is no memory for that.
  bool keep_or_copy_pins();
  bool copy_pins();
  void copy_held_pins();

  ConnectionOwner& owner_;
  LoopShare& loop_;
  const int fd_;
  const std::unique_ptr<Transport> transport_;
  const std::string address_;         // the client's
  const std::string listen_address_;  // the server's
  Session session_;
  Input input_;
  Output output_;
  size_t want_ = 0;
  uint64_t held_bytes_ = 0;
  uint64_t held_pins_ = 0;
  Pace pace_;
  uint64_t written_bytes_ = 0;
  uint64_t taken_bytes_ = 0;  // of those written; when that was looked at last
  bool wants_room_ = false;   // this event found too little
  std::optional<std::list<Connection*>::iterator> waits_at_;  // in the loop's list of those
  uint32_t waited_seconds_ = 0;
  uint32_t holding_seconds_ = 0;
  Phase phase_ = Phase::kServing;
  const char* close_reason_ = "normal";
  event* read_event_ = nullptr;
  event* write_event_ = nullptr;
  int watched_for_ = 0;  // EV_READ, EV_WRITE: what the loop watches the socket for
  std::atomic<uint32_t> active_s_;
  std::atomic<const char*> state_{"conn_read"};  // memcached's name for it, for `stats conns`
};

}  // namespace nvcache::server
