// What differ_test.py found beside memcached 1.6.18, each by the commands that showed it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/nvcached/session_fixture.h"

namespace nvcache::server {
namespace {

TEST(MetaAsMemcached, FlagsOfOtherCommandsAreIgnored) {
  SessionFixture fixture;
  EXPECT_EQ(fixture.ask("ms k 1 t N5\r\nx\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("mg k C5 D1 J1 I F5 MI v\r\n"), "VA 1\r\nx\r\n");
  EXPECT_EQ(fixture.ask("md k c f s v\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("ma n N0 J5 F1 R30 h s v\r\n"), "VA 1\r\n5\r\n");
  EXPECT_EQ(fixture.ask("me none x y\r\n"), "EN\r\n");
}

TEST(MetaAsMemcached, ToAddNoCasIsCompared) {
  SessionFixture fixture;
  EXPECT_EQ(fixture.ask("ms absent 2 C7 ME\r\nhi\r\n"), "HD\r\n");
  EXPECT_EQ(fixture.ask("ms absent 2 C7 ME c\r\nho\r\nmg absent v\r\n"), "NS c0\r\nVA 2\r\nhi\r\n");
}

TEST(MetaAsMemcached, ACasOfNoughtIsOfNoValue) {
  SessionFixture fixture;
  fixture.ask("ms a 1\r\nx\r\nms n 1\r\n1\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0\r\ny\r\n"), "EX\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0 I\r\ny\r\n"), "EX\r\n");
  EXPECT_EQ(fixture.ask("ms a 1 C0 MA\r\ny\r\nmg a v\r\n"), "HD\r\nVA 2\r\nxy\r\n");
  EXPECT_EQ(fixture.ask("ma n C0 v\r\n"), "VA 1\r\n2\r\n");
}

TEST(MetaAsMemcached, AStaleNumberThatCountsStaysStale) {
  SessionFixture fixture;
  fixture.ask("ms n 2\r\n10\r\nmg n\r\nmd n I\r\n");
  EXPECT_EQ(fixture.ask("mg n h\r\n"), "HD h1 X W\r\n");
  EXPECT_EQ(fixture.ask("incr n 1\r\nmg n v h\r\n"), "11\r\nVA 2 h1 Z X\r\n11\r\n");
  EXPECT_EQ(fixture.ask("ma n D9 v\r\nmg n v\r\n"), "VA 2\r\n20\r\nVA 2 Z X\r\n20\r\n");
}

TEST(MetaAsMemcached, WhatIsAppendedToAStaleValueIsANewOne) {
  SessionFixture fixture;
  EXPECT_EQ(fixture.ask("ms a 1\r\nx\r\nmd a I\r\nappend a 0 0 1\r\ny\r\nmg a v\r\n"),
            "HD\r\nHD\r\nSTORED\r\nVA 2\r\nxy\r\n");
}

TEST(MetaAsMemcached, ACasIsToldOfASuccessAlone) {
  SessionFixture fixture;
  EXPECT_EQ(fixture.ask("ma none c k Oz\r\n"), "NF knone Oz\r\n");
  fixture.ask("ms n 1\r\n1\r\n");
  EXPECT_EQ(fixture.ask("ma n C77 c Oz\r\n"), "EX Oz\r\n");
  EXPECT_EQ(fixture.ask("md n C77 c Oz\r\n"), "EX Oz\r\n");
  EXPECT_EQ(fixture.ask("ms n 1 C77 c Oz\r\n2\r\n"), "EX c0 Oz\r\n");
}

TEST(MetaAsMemcached, ANumberThatWasMadeIsToldToQuietClients) {
  SessionFixture fixture;
  EXPECT_EQ(fixture.ask("ma a q v N0 J5\r\n"), "VA 1\r\n5\r\n");
  EXPECT_EQ(fixture.ask("ma a q v N0 J5\r\n"), "");
  EXPECT_EQ(fixture.ask("ma none q\r\n"), "NF\r\n");
}

TEST(MetaAsMemcached, AnItemThatExpiresAtOnceIsWonAllTheSame) {
  SessionFixture fixture;
  for (const std::string time : {"N2592001", "N-1"}) {
    EXPECT_EQ(fixture.ask("mg k v " + time + "\r\n"), "VA 0 W\r\n\r\n");
    EXPECT_EQ(fixture.ask("mg k v\r\n"), "EN\r\n");
  }
}

TEST(MetaAsMemcached, FlagsActInTheirOrder) {
  SessionFixture fixture;
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
  SessionFixture fixture;
  fixture.ask("ms a 1 T100\r\nx\r\n");
  EXPECT_EQ(fixture.ask("mg a R2592001\r\nmg a R-1\r\nmg a R0\r\n"), "HD\r\nHD\r\nHD\r\n");
  EXPECT_EQ(fixture.ask("mg a R" + std::to_string(fixture.now_s + 200) + "\r\n"), "HD W\r\n");
  // One that ends at once does not expire before a time that is long ago.
  EXPECT_EQ(fixture.ask("ms b 1\r\nx\r\nmg b T-1 R-1\r\n"), "HD\r\nHD\r\n");
}

TEST(MetaAsMemcached, WhatCountsAsFetched) {
  SessionFixture fixture;
  fixture.ask("ms a 1\r\nx\r\ntouch a 0\r\n");
  EXPECT_EQ(fixture.ask("mg a h u\r\n"), "HD h1\r\n") << "a touch";
  fixture.ask("ms a 1\r\nx\r\nmg a T0 u\r\n");
  EXPECT_EQ(fixture.ask("mg a h\r\n"), "HD h0\r\n") << "not with u";
  fixture.ask("md a I\r\n");
  EXPECT_THAT(fixture.ask("mg a h\r\n"), testing::StartsWith("HD h1")) << "after md I, too";
  fixture.ask("delete a\r\n");
  EXPECT_EQ(fixture.ask("mg a h N0\r\nmg a h\r\n"), "HD h0 W\r\nHD h1 Z\r\n") << "an item of N";
  fixture.ask("ms n 1\r\n1\r\nma n\r\n");
  EXPECT_EQ(fixture.ask("mg n h\r\n"), "HD h0\r\n") << "not by counting";
}

TEST(CountersAsMemcached, WhatIsANumber) {
  const auto answer = [](const std::string& value) {
    SessionFixture fixture;
    fixture.ask("set n 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n");
    return fixture.ask("incr n 1\r\n");
  };
  EXPECT_EQ(answer(" 12"), "13\r\n");
  EXPECT_EQ(answer("+12"), "13\r\n");
  EXPECT_EQ(answer("5 apples"), "6\r\n");
  EXPECT_EQ(answer("000000000000000000000000017"), "18\r\n");
  for (const std::string value : {"", " ", "-1", "1x", "18446744073709551616"}) {
    EXPECT_THAT(answer(value), testing::HasSubstr("non-numeric")) << value;
  }
  SessionFixture fixture;
  fixture.ask("set n 0 0 0\r\n\r\n");
  EXPECT_THAT(fixture.ask("ma n C77\r\n"), testing::HasSubstr("non-numeric"));
}

// A binary request for the key k that gives a cas, and the status of its answer.
BinaryStatus status_with_cas(SessionFixture& fixture, BinaryOp op, char cas) {
  const std::string extras(8, '\0');
  std::string frame{'\x80', static_cast<char>(op), '\0', '\1', static_cast<char>(extras.size())};
  frame.resize(kBinaryHeaderBytes);
  frame[11] = static_cast<char>(extras.size() + 2);
  frame[23] = cas;
  const std::string answer = fixture.ask(frame + extras + "k" + "v");
  return static_cast<BinaryStatus>(parse_binary_header(answer).status);
}

TEST(BinaryAsMemcached, WithACasAddAndReplaceAreSet) {
  SessionFixture fixture;
  EXPECT_EQ(status_with_cas(fixture, BinaryOp::kAdd, 1), BinaryStatus::kNotFound);
  EXPECT_EQ(fixture.ask("set k 0 0 1\r\nx\r\ngets k\r\n"),
            "STORED\r\nVALUE k 0 1 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(status_with_cas(fixture, BinaryOp::kAdd, 9), BinaryStatus::kExists);
  EXPECT_EQ(status_with_cas(fixture, BinaryOp::kAdd, 1), BinaryStatus::kOk);
  EXPECT_EQ(status_with_cas(fixture, BinaryOp::kReplace, 2), BinaryStatus::kOk);
  EXPECT_EQ(status_with_cas(fixture, BinaryOp::kAdd, 0), BinaryStatus::kExists);
}

}  // namespace
}  // namespace nvcache::server
