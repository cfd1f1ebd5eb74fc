// The answers of the metrics port: which path has what, who may read it, and the headers. No
// sockets, and no HTTP beyond one request's words: metrics_server.h has those.
//
//   /               the page for a browser, with /page.css, /draw.js, /page.js, /icon.svg
//   /status.json    what the page polls
//   /history.json   an hour of what its charts show
//   /metrics        Prometheus' text
//
// The page needs nothing from elsewhere, and its policy (CSP) forbids it to ask. No answer lets
// pages of other origins read it. A name that an attacker's DNS server points to 127.0.0.1 would
// make his page one of the same origin: so what listens on a loopback address answers browsers only
// under names that are this machine's. /metrics is as open as ever, for scrapers of any name.
//
// Pure but for the service that is read. May throw std::bad_alloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nvcached/service/service.h"
#include "apps/nvcached/service/status_report.h"

namespace nvcache::server {

struct PageRequest {
  bool is_get = false;  // or a HEAD
  std::string_view path;
  std::optional<std::string_view> host{};           // the Host header, as it came
  std::optional<std::string_view> authorization{};  // that header
  bool on_loopback = false;                         // the address that the client reached
};

struct PageAnswer {
  int code = 200;
  std::string_view reason = "OK";
  std::string_view type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<const char*, const char*>> headers;
};

// The sources of an answer when a request comes. `service` is null before the server serves.
struct PageSource {
  Service* service = nullptr;
  const StatusHistory* history = nullptr;
  StartProgress progress{};
  uint64_t started_ms = 0;
  bool needs_auth = false;
};

PageAnswer answer_of(const PageRequest& request, const PageSource& source, uint64_t now_ms);

// Whether a Host header names this machine: by an address, as localhost, or by `own_name`.
bool is_own_host(std::string_view host, std::string_view own_name);

}  // namespace nvcache::server
