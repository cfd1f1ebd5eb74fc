// Differences from memcached 1.6.18 that differ_test.py found, each by the commands that showed it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/nvcached/protocol/binary_protocol.h"
#include "apps/nvcached/session_fixture.h"

namespace nvcache::server {
namespace {

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
