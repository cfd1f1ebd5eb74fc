// Who may read what of the metrics port, without sockets.
#include "apps/nvcached/net/status_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "apps/nvcached/session_fixture.h"

namespace nvcache::server {
namespace {

using testing::HasSubstr;

PageRequest get(std::string_view path) {
  return {.is_get = true, .path = path, .host = "localhost:9150", .on_loopback = true};
}

bool has_header(const PageAnswer& answer, std::string_view name) {
  return std::ranges::any_of(answer.headers, [&](const auto& each) { return each.first == name; });
}

TEST(StatusPages, KnowNamesOfThisMachine) {
  for (const char* host : {"localhost", "LOCALHOST:9150", "127.0.0.1", "10.1.2.3:80", "[::1]:9150",
                           "[2001:db8::1]", "me.localhost", "box", "Box:1"}) {
    EXPECT_TRUE(is_own_host(host, "box")) << host;
  }
  for (const char* host :
       {"", ":", "evil.example", "localhost.evil.example", "notlocalhost", "127.0.0.1.evil.example",
        "[evil]", "[::1", "box.evil", "127.0.0.256", "user@127.0.0.1"}) {
    EXPECT_FALSE(is_own_host(host, "box")) << host;
  }
  EXPECT_FALSE(is_own_host("", ""));
}

TEST(StatusPages, RefuseOtherNamesOnLoopbackAlone) {
  SessionFixture fixture;
  StatusHistory history;
  const PageSource source = {.service = &fixture.service, .history = &history};
  for (const char* path : {"/", "/page.js", "/status.json", "/history.json", "/metrics", "/none"}) {
    PageRequest request = get(path);
    const int usual = answer_of(request, source, 0).code;
    EXPECT_EQ(usual, std::string_view(path) == "/none" ? 404 : 200);
    request.host = "evil.example";
    EXPECT_EQ(answer_of(request, source, 0).code, std::string_view(path) == "/metrics" ? 200 : 421);
    request.on_loopback = false;
    EXPECT_EQ(answer_of(request, source, 0).code, usual);
    request.on_loopback = true;
    request.host = std::nullopt;  // no browser
    EXPECT_EQ(answer_of(request, source, 0).code, usual);
  }
}

TEST(StatusPages, TellHowFarTheStartIs) {
  PageSource source = {.progress = {"Resizing the store", "zones", 3, 16}, .started_ms = 1000};
  const PageAnswer answer = answer_of(get("/status.json"), source, 8500);
  EXPECT_EQ(answer.body,
            "{\"state\":\"starting\",\"doing\":\"Resizing the store\",\"unit\":\"zones\","
            "\"done\":3,\"all\":16,\"seconds\":7}");
  EXPECT_EQ(answer_of(get("/"), source, 0).code, 200);
  for (const char* path : {"/metrics", "/history.json"}) {
    const PageAnswer later = answer_of(get(path), source, 0);
    EXPECT_EQ(later.code, 503);
    EXPECT_TRUE(has_header(later, "Retry-After"));
  }
  // Who may read is known only when the passwords are.
  source.needs_auth = true;
  for (const char* path : {"/", "/status.json", "/metrics"}) {
    EXPECT_EQ(answer_of(get(path), source, 0).code, 503) << path;
  }
}

TEST(StatusPages, HaveTheirHeadersWhateverTheAnswer) {
  SessionFixture fixture;
  StatusHistory history;
  const PageSource source = {.service = &fixture.service, .history = &history};
  PageRequest post = get("/");
  post.is_get = false;
  EXPECT_EQ(answer_of(post, source, 0).code, 405);
  EXPECT_TRUE(has_header(answer_of(post, source, 0), "Allow"));
  for (const PageRequest& request : {get("/"), get("/status.json"), get("/none"), post}) {
    const PageAnswer answer = answer_of(request, source, 0);
    for (const char* name : {"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control",
                             "Cross-Origin-Resource-Policy"}) {
      EXPECT_TRUE(has_header(answer, name)) << name;
    }
    EXPECT_FALSE(has_header(answer, "Access-Control-Allow-Origin"));
  }
}

}  // namespace
}  // namespace nvcache::server
