#include "apps/nvcached/net/metrics_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.h"

namespace nvcache::server {
namespace {

constexpr int kBacklog = 64;
constexpr timeval kEverySecond = {1, 0};
// All that libevent knows: those that are not allowed are answered so, too.
constexpr int kAllMethods = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                            EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                            EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH;

uint64_t now_ms() { return system_clock().now_ns() / 1'000'000; }

std::optional<std::string_view> header_of(evhttp_request* request, const char* name) {
  const char* value = evhttp_find_header(evhttp_request_get_input_headers(request), name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// Whether the client reached an address of this machine alone.
bool on_loopback(evhttp_request* request) {
  evhttp_connection* connection = evhttp_request_get_connection(request);
  if (connection == nullptr) return true;
  sockaddr_storage own = {};
  socklen_t bytes = sizeof own;
  const int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return true;
  if (own.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(own).sin6_addr);
  }
  return (ntohl(reinterpret_cast<const sockaddr_in&>(own).sin_addr.s_addr) >> 24) == 127;
}

void add_header(evhttp_request* request, const char* name, const std::string& value) {
  if (evhttp_add_header(evhttp_request_get_output_headers(request), name, value.c_str()) != 0) {
    throw std::bad_alloc();
  }
}

}  // namespace

MetricsServer::MetricsServer(bool needs_auth)
    : source_{.history = &history_,
              .progress = {.doing = "Opening the store", .unit = ""},
              .started_ms = now_ms(),
              .needs_auth = needs_auth} {}

MetricsServer::~MetricsServer() {
  loop_.stop();
  if (second_event_ != nullptr) event_free(second_event_);
  if (http_ != nullptr) evhttp_free(http_);
  sockets_.clear();
  sweep();
}

StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::start(
    const Settings& settings, const std::vector<Listening>& sockets) {
  if (sockets.empty()) return std::unique_ptr<MetricsServer>();
  std::unique_ptr<MetricsServer> server(new MetricsServer(!settings.auth_file.empty()));
  if (Status status = server->listen_on(sockets); !status.ok()) return status;
  if (Status status = server->loop_.start(); !status.ok()) return status;
  return server;
}

Status MetricsServer::listen_on(const std::vector<Listening>& sockets) {
  connections_.reserve(kMostConnections);
  if (!loop_.create()) return resource_exhausted_error("cannot create the metrics port's loop");
  http_ = evhttp_new(loop_.base());
  second_event_ = event_new(loop_.base(), -1, EV_PERSIST, on_second, this);
  if (http_ == nullptr || second_event_ == nullptr ||
      event_add(second_event_, &kEverySecond) != 0) {
    return resource_exhausted_error("out of memory for the metrics port");
  }
  evhttp_set_allowed_methods(http_, kAllMethods);
  evhttp_set_max_headers_size(http_, 8192);
  evhttp_set_max_body_size(http_, 0);
  evhttp_set_timeout(http_, kIdleSeconds);
  evhttp_set_gencb(http_, on_request, this);
  evhttp_set_bevcb(http_, on_connection, this);
  port_ = sockets.front().port;
  for (const Listening& socket : sockets) {
    if (Status status = start_listening(socket, kBacklog); !status.ok()) return status;
    evhttp_bound_socket* bound = evhttp_accept_socket_with_handle(http_, socket.fd);
    if (bound == nullptr) {
      close(socket.fd);
      return unavailable_error("cannot accept on the metrics port");
    }
    sockets_.push_back(bound);
    addresses_.push_back("metrics:" + socket.address.substr(socket.address.find(':') + 1));
  }
  return ok_status();
}

void MetricsServer::tell(StartProgress progress) {
  const MutexLock lock(mutex_);
  source_.progress = std::move(progress);
}

void MetricsServer::serve(Service& service) {
  const MutexLock lock(mutex_);
  source_.service = &service;
}

PageSource MetricsServer::source() {
  const MutexLock lock(mutex_);
  return source_;
}

void MetricsServer::on_second(int, short, void* self) {
  auto& server = *static_cast<MetricsServer*>(self);
  server.sweep();
  try {
    Service* const service = server.source().service;
    if (service != nullptr) server.history_.look(*service, now_ms());
  } catch (const std::bad_alloc&) {  // tried again in a second
  }
}

bufferevent* MetricsServer::on_connection(event_base* base, void* self) {
  auto& server = *static_cast<MetricsServer*>(self);
  server.sweep();
  bufferevent* connection = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
  if (connection == nullptr) return nullptr;
  bufferevent_incref(connection);
  server.connections_.push_back(connection);  // it has room for all
  if (server.connections_.size() == kMostConnections) server.listen(false);
  return connection;
}

// Forgets connections that have ended: libevent takes its callbacks off those that it is done with.
void MetricsServer::sweep() {
  const bool full = connections_.size() >= kMostConnections;
  std::erase_if(connections_, [](bufferevent* connection) {
    bufferevent_event_cb on_event = nullptr;
    bufferevent_getcb(connection, nullptr, nullptr, &on_event, nullptr);
    if (on_event != nullptr) return false;
    bufferevent_decref(connection);
    return true;
  });
  if (full && connections_.size() < kMostConnections) listen(true);
}

void MetricsServer::listen(bool on) {
  for (evhttp_bound_socket* socket : sockets_) {
    evconnlistener* listener = evhttp_bound_socket_get_listener(socket);
    (void)(on ? evconnlistener_enable(listener) : evconnlistener_disable(listener));
  }
}

void MetricsServer::on_request(evhttp_request* request, void* self) {
  try {
    static_cast<MetricsServer*>(self)->answer(request);
  } catch (const std::bad_alloc&) {
    evhttp_send_error(request, HTTP_SERVUNAVAIL, "out of memory");
  }
}

void MetricsServer::answer(evhttp_request* request) {
  const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
  const char* path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
  const evhttp_cmd_type method = evhttp_request_get_command(request);
  const PageRequest asked = {.is_get = method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD,
                             .path = path == nullptr ? "" : path,
                             .host = header_of(request, "Host"),
                             .authorization = header_of(request, "Authorization"),
                             .on_loopback = on_loopback(request)};
  const PageAnswer answer = answer_of(asked, source(), now_ms());
  const std::unique_ptr<evbuffer, void (*)(evbuffer*)> body(evbuffer_new(), evbuffer_free);
  const bool has_body = method != EVHTTP_REQ_HEAD;
  if (body == nullptr ||
      (has_body && evbuffer_add(body.get(), answer.body.data(), answer.body.size()) != 0)) {
    throw std::bad_alloc();
  }
  add_header(request, "Content-Type", std::string(answer.type));
  add_header(request, "Content-Length", std::to_string(answer.body.size()));
  for (const auto& [name, value] : answer.headers) add_header(request, name, value);
  evhttp_send_reply(request, answer.code, std::string(answer.reason).c_str(), body.get());
}

}  // namespace nvcache::server
