#include "apps/nvcached/net/status_pages.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>

#include "apps/nvcached/page/embedded.h"
#include "apps/nvcached/protocol/base64.h"
#include "apps/nvcached/service/stats_report.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kCss = "text/css; charset=utf-8";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPrometheus = "text/plain; version=0.0.4";

struct PagePart {
  std::string_view path;
  std::string_view type;
  std::string_view (*text)();
};

constexpr PagePart kPageParts[] = {
    {"/", kHtml, page::page_html},
    {"/page.css", kCss, page::page_css},
    {"/draw.js", kScript, page::draw_js},
    {"/page.js", kScript, page::page_js},
    {"/icon.svg", "image/svg+xml", page::icon_svg},
};

// On every answer, errors too.
constexpr std::pair<const char*, const char*> kAlways[] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
};

PageAnswer found(std::string_view type, std::string body) {
  return {.type = type, .body = std::move(body), .headers = {}};
}

PageAnswer refusal(int code, std::string_view reason, std::string body) {
  return {.code = code, .reason = reason, .body = std::move(body) + "\n", .headers = {}};
}

// Under -Y, metrics need a user of that file, too: HTTP's basic authentication.
bool is_user(const Service& service, const PageRequest& request) {
  constexpr std::string_view kBasic = "Basic ";
  const std::string_view header = request.authorization.value_or("");
  if (!header.starts_with(kBasic)) return false;
  std::string decoded;
  if (!decode_base64(header.substr(kBasic.size()), &decoded)) return false;
  const size_t colon = decoded.find(':');
  if (colon == std::string::npos) return false;
  const std::string_view words = decoded;
  return service.authenticate(words.substr(0, colon), words.substr(colon + 1));
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

bool is_address(std::string_view text) {
  const std::string host(text);
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

PageAnswer starting() {
  PageAnswer answer = refusal(503, "Service Unavailable", "nvcached starts: see /");
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

PageAnswer answer_allowed(const PageRequest& request, const PageSource& source, uint64_t now_ms) {
  const auto* const part = std::ranges::find(kPageParts, request.path, &PagePart::path);
  if (part != std::end(kPageParts)) return found(part->type, std::string(part->text()));
  const bool is_known = request.path == "/status.json" || request.path == "/history.json" ||
                        request.path == "/metrics";
  if (!is_known) return refusal(404, "Not Found", "see / and /metrics");
  if (request.path == "/status.json") {
    return found(kJson, source.service != nullptr
                            ? status_json(*source.service, now_ms)
                            : start_json(source.progress, (now_ms - source.started_ms) / 1000));
  }
  if (source.service == nullptr) return starting();
  if (request.path == "/history.json") return found(kJson, source.history->to_json());
  return found(kPrometheus, prometheus_metrics(*source.service));
}

PageAnswer answer_without_always(const PageRequest& request, const PageSource& source,
                                 uint64_t now_ms) {
  if (!request.is_get) {
    PageAnswer answer = refusal(405, "Method Not Allowed", "allowed: GET and HEAD");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (request.path != "/metrics" && request.on_loopback && request.host &&
      !is_own_host(*request.host, host_name())) {
    return refusal(421, "Misdirected Request",
                   "this port is for browsers on this machine: ask for it as localhost");
  }
  if (source.needs_auth) {
    if (source.service == nullptr) return starting();  // passwords are not read yet
    if (!is_user(*source.service, request)) {
      PageAnswer answer = refusal(401, "Unauthorized", "a user of -Y must sign in");
      answer.headers.emplace_back("WWW-Authenticate", "Basic realm=\"nvcached\"");
      return answer;
    }
  }
  return answer_allowed(request, source, now_ms);
}

}  // namespace

bool is_own_host(std::string_view host, std::string_view own_name) {
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    return close != std::string_view::npos && is_address(host.substr(1, close - 1));
  }
  const std::string name = lower(host.substr(0, host.find(':')));
  return is_address(name) || name == "localhost" || name.ends_with(".localhost") ||
         (!own_name.empty() && name == lower(own_name));
}

PageAnswer answer_of(const PageRequest& request, const PageSource& source, uint64_t now_ms) {
  PageAnswer answer = answer_without_always(request, source, now_ms);
  answer.headers.insert(answer.headers.end(), std::begin(kAlways), std::end(kAlways));
  return answer;
}

}  // namespace nvcache::server
