#include "apps/nvcached/net/server.h"

#include <event2/event.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "apps/nvcached/net/loop_thread.h"
#include "apps/nvcached/net/metrics_server.h"
#include "apps/nvcached/net/sockets.h"
#include "apps/nvcached/net/udp.h"
#include "apps/nvcached/net/worker.h"
#include "base/descriptors.h"
#include "base/print.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr timeval kSecond = {1, 0};
constexpr std::string_view kTooMany = "ERROR Too many open connections\r\n";
constexpr int kAcceptsPerEvent = 64;

class EventServer final : public Server {
 public:
  explicit EventServer(Service& service) : service_(service) {}
  ~EventServer() override { stop(); }

  Status start(Sockets sockets, std::unique_ptr<MetricsServer> metrics);
  void stop() override;
  const std::vector<std::string>& addresses() const override { return addresses_; }
  int tcp_port() const override { return tcp_port_; }
  int udp_port() const override { return udp_port_; }
  int metrics_port() const override { return metrics_port_; }

 private:
  struct Listener {
    EventServer* server;
    Listening socket;
    event* accepts = nullptr;
    bool paused = false;
  };

  void take(Sockets sockets);
  Status start_loop();
  Status start_udp();
  Status start_metrics(const std::vector<Listening>& sockets);
  static void on_accept(int fd, short what, void* listener);
  static void on_second(int fd, short what, void* self);
  void return_memory();
  bool accept_one(Listener& listener);

  Service& service_;
  std::unique_ptr<TlsContext> tls_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unique_ptr<SocketFile> socket_file_;
  std::unique_ptr<LoopThread> udp_loop_;
  std::vector<std::unique_ptr<UdpEndpoint>> udp_;
  std::vector<std::pair<int, std::string>> udp_addresses_;
  std::vector<std::string> addresses_;
  event* second_event_ = nullptr;
  bool buffers_took_much_ = false;
  int tcp_port_ = 0;
  int udp_port_ = 0;
  int metrics_port_ = 0;
  size_t next_worker_ = 0;
  std::unique_ptr<LoopThread> loop_;
  std::unique_ptr<MetricsServer> metrics_;
};

void EventServer::take(Sockets sockets) {
  socket_file_ = std::move(sockets.file);
  if (!sockets.clients.empty()) tcp_port_ = sockets.clients.front().port;
  for (Listening& socket : sockets.clients) {
    addresses_.push_back(socket.address);
    listeners_.push_back(std::make_unique<Listener>(Listener{this, std::move(socket)}));
  }
  if (!sockets.udp.empty()) udp_port_ = sockets.udp.front().port;
  for (const Listening& socket : sockets.udp) {
    addresses_.push_back(socket.address);
    udp_addresses_.emplace_back(socket.fd, socket.address);
    udp_.push_back(std::make_unique<UdpEndpoint>(service_, socket.fd));
  }
}

Status EventServer::start(Sockets sockets, std::unique_ptr<MetricsServer> metrics) {
  metrics_ = std::move(metrics);
  const std::vector<Listening> metrics_sockets = std::exchange(sockets.metrics, {});
  take(std::move(sockets));
  const Settings& settings = service_.settings();
  if (settings.tls) {
    auto context = make_tls_context(settings);
    if (!context.ok()) return context.status();
    tls_ = *std::move(context);
    service_.note_certificates();
    service_.on_refresh_certs = [this] {
      Status status = tls_->refresh();
      if (status.ok()) service_.note_certificates();
      return status;
    };
  }
  // Called by workers that have clients: all workers are there then.
  const auto find_costliest = [this](const Worker& but) {
    const auto costliest = std::ranges::max_element(workers_, {}, [&](const auto& worker) {
      return worker.get() == &but ? -1 : worker->most_cost();
    });
    return costliest->get() == &but ? nullptr : costliest->get();
  };
  for (int i = 0; i < settings.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(service_, find_costliest));
    if (Status status = workers_.back()->start(); !status.ok()) return status;
  }
  service_.visit_connections = [this](const StatVisitor& visit) {
    for (const auto& listener : listeners_) {
      visit(fmt::format("{}:addr", listener->socket.fd), listener->socket.address);
      visit(fmt::format("{}:state", listener->socket.fd), "conn_listening");
    }
    for (const auto& [fd, address] : udp_addresses_) {
      visit(fmt::format("{}:addr", fd), address);
      visit(fmt::format("{}:state", fd), "conn_read");
    }
    for (const auto& worker : workers_) worker->visit_connections(visit);
  };
  if (Status status = start_loop(); !status.ok()) return status;
  return start_metrics(metrics_sockets);
}

Status EventServer::start_loop() {
  loop_ = std::make_unique<LoopThread>("nvcached accept");
  if (!loop_->create()) return resource_exhausted_error("cannot create an event loop");
  second_event_ = event_new(loop_->base(), -1, EV_PERSIST, on_second, this);
  event_add(second_event_, &kSecond);
  for (const auto& listener : listeners_) {
    Status status = start_listening(listener->socket, service_.settings().backlog);
    if (!status.ok()) return status;
    listener->accepts = event_new(loop_->base(), listener->socket.fd, EV_READ | EV_PERSIST,
                                  on_accept, listener.get());
    if (listener->accepts == nullptr || event_add(listener->accepts, nullptr) != 0) {
      return resource_exhausted_error("cannot watch a listening socket");
    }
  }
  if (Status status = start_udp(); !status.ok()) return status;
  return loop_->start();
}

// On a thread of its own, so that a flood of datagrams keeps no client from being accepted.
Status EventServer::start_udp() {
  if (udp_.empty()) return ok_status();
  udp_loop_ = std::make_unique<LoopThread>("nvcached udp");
  bool good = udp_loop_->create();
  for (const auto& endpoint : udp_) good = good && endpoint->start(udp_loop_->base());
  if (!good) return resource_exhausted_error("cannot watch a UDP socket");
  return udp_loop_->start();
}

Status EventServer::start_metrics(const std::vector<Listening>& sockets) {
  if (metrics_ == nullptr) {
    auto started = MetricsServer::start(service_.settings(), sockets);
    if (!started.ok()) return started.status();
    metrics_ = *std::move(started);
  }
  if (metrics_ == nullptr) return ok_status();
  metrics_->serve(service_);
  metrics_port_ = metrics_->port();
  for (const std::string& address : metrics_->addresses()) addresses_.push_back(address);
  return ok_status();
}

// Where buffers take a quarter of --buffer-memory, and a second later, gives back to the system
// what libc keeps of buffers that were freed. Otherwise that may be as much again.
void EventServer::return_memory() {
  const bool take_much = service_.buffers().used() >= service_.buffers().most() / 4;
#ifdef __GLIBC__
  if (take_much || buffers_took_much_) malloc_trim(0);
#endif
  buffers_took_much_ = take_much;
}

void EventServer::on_second(int, short, void* self) {
  auto& server = *static_cast<EventServer*>(self);
  try {
    server.service_.tick();
    for (const std::string& warning : server.service_.new_warnings()) {
      print_to(stderr, "nvcached: {}\n", warning);
    }
  } catch (const std::bad_alloc&) {  // what it had to do is done at the next
  }
  server.return_memory();
  for (const auto& listener : server.listeners_) {
    if (!listener->paused) continue;
    listener->paused = false;
    event_add(listener->accepts, nullptr);
  }
}

void EventServer::on_accept(int, short, void* self) try {
  auto& listener = *static_cast<Listener*>(self);
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    if (!listener.server->accept_one(listener)) break;
  }
} catch (const std::bad_alloc&) {  // that client was closed; others may still wait
}

bool EventServer::accept_one(Listener& listener) {
  sockaddr_storage from = {};
  socklen_t bytes = sizeof from;
  const int fd = accept_nonblocking(listener.socket.fd, reinterpret_cast<sockaddr*>(&from), &bytes);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The socket stays readable, so pause it; on_second() tries again.
      event_del(listener.accepts);
      listener.paused = true;
      print_to(stderr, "nvcached: cannot accept connections for now: {}\n", std::strerror(errno));
    }
    return errno == ECONNABORTED || errno == EINTR;
  }
  const bool is_tls = tls_ != nullptr && listener.socket.tls;
  ConnectionGauges& gauges = service_.connections();
  gauges.total += 1;
  if (gauges.current >= static_cast<uint64_t>(service_.settings().max_connections)) {
    gauges.rejected += 1;
    // A client that waits for a handshake could not read it.
    if (!is_tls) (void)!send(fd, kTooMany.data(), kTooMany.size(), MSG_NOSIGNAL);
    close(fd);
    return true;
  }
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (from.ss_family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::unique_ptr<Transport> transport;
  try {
    transport = is_tls ? tls_->accept(fd) : make_plain_transport(fd);
  } catch (const std::bad_alloc&) {
  }
  if (transport == nullptr) {
    close(fd);
    return true;
  }
  const std::string name =
      from.ss_family == AF_UNIX ? listener.socket.address : name_of(from, "tcp");
  workers_[next_worker_++ % workers_.size()]->adopt(fd, std::move(transport), name,
                                                    listener.socket.address);
  return true;
}

void EventServer::stop() {
  if (loop_ != nullptr) loop_->stop();
  metrics_.reset();
  if (udp_loop_ != nullptr) udp_loop_->stop();
  udp_.clear();
  udp_loop_.reset();
  for (const auto& listener : listeners_) {
    if (listener->accepts != nullptr) event_free(listener->accepts);
    close(listener->socket.fd);
  }
  socket_file_.reset();
  // A worker may be serving `stats conns`, which looks at the other workers.
  for (const auto& worker : workers_) worker->stop();
  service_.visit_connections = nullptr;
  service_.on_refresh_certs = nullptr;
  workers_.clear();
  listeners_.clear();
  if (second_event_ != nullptr) event_free(second_event_);
  second_event_ = nullptr;
  loop_.reset();
}

}  // namespace

StatusOr<std::unique_ptr<Server>> Server::start(Service& service, Sockets sockets,
                                                std::unique_ptr<MetricsServer> metrics) {
  auto server = std::make_unique<EventServer>(service);
  Status status = server->start(std::move(sockets), std::move(metrics));
  if (!status.ok()) return status;
  return server;
}

}  // namespace nvcache::server
