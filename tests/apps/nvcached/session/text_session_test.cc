// The text protocol, without the binary one.
#include "apps/nvcached/session/text_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apps/nvcached/protocol_fixture.h"

namespace nvcache::server {
namespace {

using TextFixture = ProtocolFixture<TextSession>;

TEST(TextSession, ALongLineEndsTheConnectionButForAGet) {
  const std::string words(3000, 'x');
  EXPECT_EQ(TextFixture().ask(words), "<closed>");
  EXPECT_EQ(TextFixture().ask("set " + words), "<closed>");
  EXPECT_EQ(TextFixture().ask("get " + words), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(TextFixture().ask("get " + words + " a\r\nmn\r\n"),
            "CLIENT_ERROR bad command line format\r\nMN\r\n");
}

TEST(TextSession, OutputIsBoundedWithinOneRequest) {
  TextFixture fixture;
  fixture.ask("set a 0 0 100000\r\n" + std::string(100000, 'x') + "\r\n");
  Client client(fixture.service, fixture.counters, 0);
  TextSession session(client);
  std::string_view in = "get a a a a a a a a a a a a a a a a a a a a\r\n";
  Output out;
  Turn turn;
  std::string all;
  int full = 0;
  while (!in.empty()) {
    turn = session.turn(in, out);
    EXPECT_LT(out.size(), Turn::kFullOutputBytes + 101'000);
    in = in.substr(turn.used);
    full += turn.next == Turn::kFull;
    all += out.text();
    out.clear();
  }
  EXPECT_GT(full, 3);
  EXPECT_EQ(all.size(), 20 * (100000 + std::string_view("VALUE a 0 100000\r\n\r\n").size()) + 5);
}

TEST(Dumps, NameEveryItemAsMemcachedDoes) {
  TextFixture fixture;
  fixture.ask("set a 0 0 3\r\nxyz\r\nset b:% 0 2000000000 1\r\nx\r\nset gone 0 -1 1\r\nx\r\n");
  EXPECT_EQ(fixture.ask("stats cachedump 1 100\r\n"),
            "ITEM a [3 b; 0 s]\r\nITEM b:% [1 b; 2000000000 s]\r\nEND\r\n");
  EXPECT_EQ(fixture.ask("stats cachedump 1 1\r\n"), "ITEM a [3 b; 0 s]\r\nEND\r\n");
  const std::string now = std::to_string(fixture.now_s);
  EXPECT_EQ(fixture.ask("lru_crawler metadump all\r\n"),
            "key=a exp=-1 la=" + now + " cas=1 fetch=no cls=1 size=54\n" +
                "key=b%3A%25 exp=2000000000 la=" + now + " cas=2 fetch=no cls=1 size=54\nEND\r\n");
  EXPECT_THAT(fixture.ask("get a\r\nlru_crawler metadump all\r\nmn\r\n"),
              testing::AllOf(testing::StartsWith("VALUE a 0 3\r\nxyz\r\nEND\r\nkey=a exp=-1 la="),
                             testing::EndsWith("END\r\nMN\r\n")))
      << "a dump has its turn among other requests";
}

TEST(Dumps, WrongOnesAndForbiddenOnes) {
  TextFixture fixture;
  EXPECT_EQ(fixture.ask("stats cachedump\r\n"), "CLIENT_ERROR bad command line\r\n");
  EXPECT_EQ(fixture.ask("stats cachedump x 1\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(fixture.ask("stats cachedump 100 1\r\n"), "CLIENT_ERROR Illegal slab id\r\n");
  Settings settings = ServiceFixture::make_settings();
  settings.dump_enabled = false;
  TextFixture closed(settings);
  EXPECT_EQ(closed.ask("stats cachedump 1 1\r\n"), "CLIENT_ERROR stats cachedump not allowed\r\n");
  EXPECT_EQ(closed.ask("lru_crawler metadump all\r\n"), "ERROR metadump not allowed\r\n");
}

TEST(TextSession, OnlyAPasswordOpensIt) {
  Settings settings = ServiceFixture::make_settings();
  settings.auth_file = "/nonexistent/users";
  TextFixture fixture(settings);
  EXPECT_FALSE(fixture.service.load_auth_file().ok());
  EXPECT_EQ(fixture.ask("set a 0 0 1\r\n \r\nget a\r\n"),
            "CLIENT_ERROR authentication failure\r\nCLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(fixture.ask("set a 0 0 5000\r\n"), "CLIENT_ERROR unauthenticated\r\n<closed>");
  // A line too long for a command: without authentication, its keys would be served as they arrive.
  (void)fixture.service.items().store("a", "secret", {});
  EXPECT_EQ(fixture.ask("get a" + std::string(3000, ' ')), "<closed>");
}

}  // namespace
}  // namespace nvcache::server
