// A client's socket in a worker's event loop. An idle connection holds no buffers: it
// reads into its worker's, and keeps only what is left of a request or of answers. One
// with much to do gives way to its worker's others after so many requests (-R).
// Used by its worker's thread alone, but for visit().
#pragma once

#include <event2/event.h>

#include <atomic>
#include <list>
#include <memory>
#include <string>

#include "apps/nvcached/input.h"
#include "apps/nvcached/session.h"
#include "apps/nvcached/transport.h"

namespace nvcache::server {

class Worker;

class Connection {
 public:
  Connection(Worker& worker, int fd, std::unique_ptr<Transport> transport, std::string address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False if the event loop cannot take it.
  bool start();

  uint32_t active_s() const { return active_s_.load(std::memory_order_relaxed); }
  // For `stats conns`, from any thread.
  void visit(const StatVisitor& visit, uint32_t now_s) const;

  std::list<std::unique_ptr<Connection>>::iterator self;  // the worker's

 private:
  static void on_event(int fd, short what, void* self);
  // Each returns false when the connection is over.
  bool readable();
  bool writable();
  bool serve(Input& input);
  bool flush();
  void watch();

  Worker& worker_;
  const int fd_;
  const std::unique_ptr<Transport> transport_;
  const std::string address_;
  Session session_;
  Input input_;
  Output output_;
  size_t want_ = 0;
  // There is more to serve, but not now: too much output is pending, or it is the turn of
  // others. Nothing is read or served before the socket can be written.
  bool waiting_ = false;
  bool closing_ = false;  // once all output is sent
  event* read_event_ = nullptr;
  event* write_event_ = nullptr;
  bool reading_ = false;
  bool writing_ = false;
  std::atomic<uint32_t> active_s_;
};

}  // namespace nvcache::server
