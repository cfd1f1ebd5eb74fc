// The meta commands, without the sessions of the other protocols.
#include "apps/nvcached/session/meta_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/service_fixture.h"

namespace nvcache::server {
namespace {

using testing::HasSubstr;

// Finds the lines, as the session of a text client does.
class MetaFixture : public ServiceFixture {
 public:
  std::string ask(std::string_view requests) {
    Client client(service, counters, 0);
    MetaSession session(client);
    return converse({&requests, 1}, [&](std::string_view in, Output& out) -> Turn {
      const auto line = find_line(in);
      if (!line) return {0, Turn::kMore, in.size() + 1};
      return session.turn(line->text, line->used, in, out);
    });
  }
};

TEST(Meta, OneClientWinsTheRightToMakeAStaleValueAnew) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("ms a 1\r\nx\r\nmd a I T30\r\n"), "HD\r\nHD\r\n");
  EXPECT_EQ(fixture.ask("mg a v t\r\n"), "VA 1 t30 X W\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg a v\r\n"), "VA 1 Z X\r\nx\r\n");
  EXPECT_EQ(fixture.ask("ms a 1\r\ny\r\nmg a v\r\n"), "HD\r\nVA 1\r\ny\r\n");
}

TEST(Meta, StaleOutlivesTheServerThatMarkedIt) {
  MetaFixture fixture;
  fixture.ask("ms a 1\r\nx\r\nmd a I\r\n");
  const auto now = [&] { return fixture.now_s; };
  Service restarted(fixture.store, ServiceFixture::make_settings(), now, now);
  EXPECT_TRUE(restarted.items().get("a").stale);
}

TEST(Meta, AnOlderCasWithInvalidateStoresAStaleValue) {
  MetaFixture fixture;
  fixture.ask("ms a 1\r\n1\r\nms a 1\r\n2\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C1\r\n3\r\n"), "EX\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C1 I\r\n3\r\nmg a v\r\n"), "HD\r\nVA 1 X W\r\n3\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C999 I\r\n4\r\n"), "EX\r\n");
}

TEST(Meta, VivifyAndRecacheHaveOneWinner) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("mg a N30 v\r\n"), "VA 0 W\r\n\r\n");
  EXPECT_EQ(fixture.ask("mg a N30 v\r\n"), "VA 0 Z\r\n\r\n");
  fixture.ask("ms b 1 T100\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg b R50\r\n"), "HD\r\n");
  fixture.pass_time(60);
  EXPECT_EQ(fixture.ask("mg b R50\r\nmg b R50\r\n"), "HD W\r\nHD Z\r\n");
}

TEST(Meta, HitBeforeAndLastAccess) {
  MetaFixture fixture;
  fixture.ask("ms a 1\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg a h l u\r\n"), "HD h0 l0\r\n");
  fixture.pass_time(7);
  EXPECT_EQ(fixture.ask("mg a h l\r\n"), "HD h0 l7\r\n");
  EXPECT_EQ(fixture.ask("mg a h l\r\n"), "HD h1 l0\r\n");
  EXPECT_THAT(fixture.ask("me a\r\n"), HasSubstr("ME a exp=-1 la=0 cas=1 fetch=yes"));
}

TEST(MetaAsMemcached, FlagsOfOtherCommandsAreIgnored) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("ms k 1 t N5\r\nx\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("mg k C5 D1 J1 I F5 MI v\r\n"), "VA 1\r\nx\r\n");
  EXPECT_EQ(fixture.ask("md k c f s v\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("ma n N0 J5 F1 R30 h s v\r\n"), "VA 1\r\n5\r\n");
  EXPECT_EQ(fixture.ask("me none x y\r\n"), "EN\r\n");
}

TEST(MetaAsMemcached, ToAddNoCasIsCompared) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("ms absent 2 C7 ME\r\nhi\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("ms absent 2 C7 ME c\r\nho\r\nmg absent v\r\n"), "NS c0\r\nVA 2\r\nhi\r\n");
}

TEST(MetaAsMemcached, ACasOfNoughtIsOfNoValue) {
  MetaFixture fixture;
  fixture.ask("ms a 1\r\nx\r\nms n 1\r\n1\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0\r\ny\r\n"), "EX\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0 I\r\ny\r\n"), "EX\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0 MA\r\ny\r\nmg a v\r\n"), "HD\r\nVA 2\r\nxy\r\n");
  EXPECT_EQ(fixture.ask("ma n C0 v\r\n"), "VA 1\r\n2\r\n");
}

TEST(MetaAsMemcached, ACasIsToldOfASuccessAlone) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("ma none c k Oz\r\n"), "NF knone Oz\r\n");
  fixture.ask("ms n 1\r\n1\r\n");
  EXPECT_EQ(fixture.ask("ma n C77 c Oz\r\n"), "EX Oz\r\n");
  EXPECT_EQ(fixture.ask("md n C77 c Oz\r\n"), "EX Oz\r\n");
  EXPECT_EQ(fixture.ask("ms n 1 C77 c Oz\r\n2\r\n"), "EX c0 Oz\r\n");
}

TEST(MetaAsMemcached, ANumberThatWasMadeIsToldToQuietClients) {
  MetaFixture fixture;
  EXPECT_EQ(fixture.ask("ma a q v N0 J5\r\n"), "VA 1\r\n5\r\n");
  EXPECT_EQ(fixture.ask("ma a q v N0 J5\r\n"), "");
  EXPECT_EQ(fixture.ask("ma none q\r\n"), "NF\r\n");
}

TEST(MetaAsMemcached, AnItemThatExpiresAtOnceIsWonAllTheSame) {
  MetaFixture fixture;
  for (const std::string time : {"N2592001", "N-1"}) {
    EXPECT_EQ(fixture.ask("mg k v " + time + "\r\n"), "VA 0 W\r\n\r\n");
    EXPECT_EQ(fixture.ask("mg k v\r\n"), "EN\r\n");
  }
}

TEST(MetaAsMemcached, FlagsActInTheirOrder) {
  MetaFixture fixture;
  fixture.ask("ms a 1 T100\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg a t T500\r\n"), "HD t100\r\n");
  EXPECT_EQ(fixture.ask("mg a T200 t\r\n"), "HD t200\r\n");
  EXPECT_EQ(fixture.ask("mg a T10 R30\r\n"), "HD W\r\n");
  EXPECT_EQ(fixture.ask("mg b t N30 k T60\r\nmg b t\r\n"), "HD t-1 kb W\r\nHD t60 Z\r\n");
  EXPECT_EQ(fixture.ask("mg c T60 N30 t\r\n"), "HD t30 W\r\n");
  EXPECT_EQ(fixture.ask("ma n t N30 T60\r\nma n t T90\r\nma n t\r\n"),
            "HD t-1\r\nHD t60\r\nHD t90\r\n");
}

TEST(MetaAsMemcached, ATimeOfRecacheMayBeOfTheWallClock) {
  MetaFixture fixture;
  fixture.ask("ms a 1 T100\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg a R2592001\r\nmg a R-1\r\nmg a R0\r\n"), "HD\r\nHD\r\nHD\r\n");
  EXPECT_EQ(fixture.ask("mg a R" + std::to_string(fixture.now_s + 200) + "\r\n"), "HD W\r\n");
  // One that ends at once does not expire before a time that is long ago.
  EXPECT_EQ(fixture.ask("ms b 1\r\nx\r\nmg b T-1 R-1\r\n"), "HD\r\nHD\r\n");
}

}  // namespace
}  // namespace nvcache::server
