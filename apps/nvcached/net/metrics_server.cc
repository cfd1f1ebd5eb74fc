#include "apps/nvcached/net/metrics_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "apps/nvcached/protocol/base64.h"
#include "apps/nvcached/service/stats_report.h"

namespace nvcache::server {
namespace {

constexpr int kBacklog = 64;
constexpr int kUnauthorized = 401;

// Under -Y, metrics need a user of that file, too: HTTP's basic authentication.
bool may_see_metrics(const Service& service, evhttp_request* request) {
  if (!service.needs_auth()) return true;
  constexpr std::string_view kBasic = "Basic ";
  const char* given =
      evhttp_find_header(evhttp_request_get_input_headers(request), "Authorization");
  const std::string_view header = given == nullptr ? "" : given;
  if (!header.starts_with(kBasic)) return false;
  std::string decoded;
  if (!decode_base64(header.substr(kBasic.size()), &decoded)) return false;
  const size_t colon = decoded.find(':');
  if (colon == std::string::npos) return false;
  const std::string_view words = decoded;
  return service.authenticate(words.substr(0, colon), words.substr(colon + 1));
}

}  // namespace

MetricsServer::~MetricsServer() {
  if (http_ != nullptr) evhttp_free(http_);
  sockets_.clear();
  sweep();
}

Status MetricsServer::start(event_base* base, const std::vector<Listening>& sockets) {
  connections_.reserve(kMostConnections);
  http_ = evhttp_new(base);
  if (http_ == nullptr) return resource_exhausted_error("out of memory for the metrics port");
  evhttp_set_allowed_methods(http_, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
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

// libevent takes its callbacks off a connection that it is done with.
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
  if (!may_see_metrics(service_, request)) {
    evhttp_add_header(evhttp_request_get_output_headers(request), "WWW-Authenticate",
                      "Basic realm=\"nvcached\"");
    evhttp_send_error(request, kUnauthorized, "a user of -Y must sign in");
    return;
  }
  const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
  const char* path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
  if (path == nullptr || (std::string_view(path) != "/metrics" && std::string_view(path) != "/")) {
    evhttp_send_error(request, HTTP_NOTFOUND, "see /metrics");
    return;
  }
  const std::string text = prometheus_metrics(service_);
  evbuffer* body = evbuffer_new();
  if (body == nullptr) throw std::bad_alloc();
  evbuffer_add(body, text.data(), text.size());
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                    "text/plain; version=0.0.4");
  evhttp_send_reply(request, HTTP_OK, "OK", body);
  evbuffer_free(body);
}

}  // namespace nvcache::server
