// The parsers of all three protocols, and sessions that receive requests in pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "apps/nvcached/binary_frame.h"
#include "apps/nvcached/protocol/binary_protocol.h"
#include "apps/nvcached/protocol/key_parser.h"
#include "apps/nvcached/protocol/meta_protocol.h"
#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/session_fixture.h"

namespace nvcache::server {
namespace {

using std::string_literals::operator""s;

TEST(TextLine, IsFoundWithEitherEnd) {
  EXPECT_FALSE(find_line("get a"));
  EXPECT_EQ(find_line("get a\r\nrest")->text, "get a");
  EXPECT_EQ(find_line("get a\r\nrest")->used, 7u);
  EXPECT_EQ(find_line("get a\nrest")->text, "get a");
  EXPECT_EQ(find_line("\n")->text, "");
  EXPECT_FALSE(find_line("\nabc", 1));
  EXPECT_FALSE(find_line("abc", 3));
}

TEST(TextLine, StorageCommandsAreReadWhole) {
  const TextRequest request =
      parse_text_line("cas key 4294967295 -3 17 18446744073709551615 noreply");
  EXPECT_EQ(request.op, TextOp::kCas);
  EXPECT_EQ(request.error, "");
  EXPECT_EQ(request.key, "key");
  EXPECT_EQ(request.flags, 4294967295u);
  EXPECT_EQ(request.exptime, -3);
  EXPECT_EQ(request.value_bytes, 17u);
  EXPECT_EQ(request.cas, UINT64_MAX);
  EXPECT_TRUE(request.has_value);
  EXPECT_TRUE(request.noreply);
}

TEST(TextLine, NumbersThatDoNotFitAreRefused) {
  for (const std::string_view line :
       {"set k 4294967296 0 1", "set k 0 99999999999999999999 1", "set k 0 0 2147483646",
        "set k 0 0 -1", "set k 0 0 1x", "set k 0x1 0 1", "cas k 0 0 1 18446744073709551616"}) {
    const TextRequest request = parse_text_line(line);
    EXPECT_EQ(request.error, kBadFormat) << line;
  }
}

TEST(TextLine, AValueFollowsWhereItsLengthCanBeReadWhateverElseIsWrong) {
  for (const std::string_view line : {"set k 4294967296 0 7", "set k x y 7", "cas k 0 0 7",
                                      "cas k 0 0 7 x noreply", "set k 0 0 7 noreply"}) {
    const TextRequest request = parse_text_line(line);
    EXPECT_TRUE(request.has_value) << line;
    EXPECT_EQ(request.value_bytes, 7u) << line;
  }
  EXPECT_TRUE(parse_text_line("set k 0 0 2147483646").has_value) << "longer than any value";
  for (const std::string_view line :
       {"set k 0 0", "set k 0 0 -1", "set k 0 0 1x", "set k 0 0 9223372036854775808"}) {
    EXPECT_FALSE(parse_text_line(line).has_value) << line;
  }
}

TEST(TextLine, KeysMayBeAsLongAsMemcacheds) {
  const std::string longest(250, 'k');
  EXPECT_EQ(parse_text_line("get " + longest).error, "");
  EXPECT_EQ(parse_text_line("get " + longest + "k").error, kBadFormat);
  EXPECT_EQ(parse_text_line("get a b " + longest + "k").error, kBadFormat);
  EXPECT_EQ(parse_text_line("delete " + longest + "k").error, kBadFormat);
}

TEST(MetaLine, FlagsKeepTheirOrder) {
  const MetaRequest request = parse_meta_line("mg key t v Oxyz T30 k");
  EXPECT_EQ(request.error, "");
  EXPECT_TRUE(request.wants_value);
  EXPECT_TRUE(request.has_exptime);
  EXPECT_EQ(request.exptime, 30);
  std::string order;
  for (const MetaFlag& flag : request.all_flags()) order += flag.name;
  EXPECT_EQ(order, "tvOTk");
}

TEST(MetaLine, EveryFlagOfEveryCommandAtOnceIsTaken) {
  EXPECT_EQ(parse_meta_line("mg Zm9v b c f h k l O1 q s t u v N1 R1 T1 P L").error, "");
  EXPECT_EQ(parse_meta_line("ms Zm9v 1 b c C1 F1 I k O1 q T1 MS S1 P L").error, "");
  EXPECT_EQ(parse_meta_line("md Zm9v b C1 I k O1 q T1 P L").error, "");
  EXPECT_EQ(parse_meta_line("ma Zm9v b C1 N1 J1 D1 T1 MI q t c k v O1 P L").error, "");
}

TEST(KeyParser, TakesOneTo250Bytes) {
  EXPECT_EQ(fault_of_key(0), KeyFault::kMissing);
  EXPECT_EQ(fault_of_key(1), KeyFault::kNone);
  EXPECT_EQ(fault_of_key(250), KeyFault::kNone);
  EXPECT_EQ(fault_of_key(251), KeyFault::kTooLong);
  std::string_view line = "  a bc ";
  EXPECT_EQ(next_key(line).bytes, "a");
  EXPECT_EQ(next_key(line).bytes, "bc");
  EXPECT_EQ(next_key(line).fault, KeyFault::kMissing);
}

TEST(KeyParser, DecodesBase64) {
  std::string storage;
  EXPECT_EQ(key_of(parse_meta_line("mg Zm9v b"), storage).bytes, "foo");
  EXPECT_EQ(key_of(parse_meta_line("mg Zm9v"), storage).bytes, "Zm9v");
  EXPECT_EQ(decode_key("Zm9v", storage).bytes, "foo");
  EXPECT_EQ(decode_key("foo", storage).fault, KeyFault::kNotBase64);
  EXPECT_EQ(decode_key("f**=", storage).fault, KeyFault::kNotBase64);
}

TEST(KeyParser, FindsTheKeysOfALineThatIsStillArriving) {
  const StreamedKey inner = next_streamed_key("  abc d");
  EXPECT_TRUE(inner.complete && inner.key.good() && !inner.last);
  EXPECT_EQ(inner.key.bytes, "abc");
  EXPECT_EQ(inner.used, 6u);
  const StreamedKey last = next_streamed_key("abc\r\nget");
  EXPECT_TRUE(last.complete && last.key.good() && last.last);
  EXPECT_EQ(last.key.bytes, "abc");
  EXPECT_EQ(last.used, 5u);
  const StreamedKey partial = next_streamed_key("  abc");
  EXPECT_FALSE(partial.complete);
  EXPECT_EQ(partial.used, 2u);
  EXPECT_NE(partial.key.fault, KeyFault::kTooLong);
  EXPECT_NE(next_streamed_key(std::string(250, 'k') + "\r").key.fault, KeyFault::kTooLong);
  EXPECT_EQ(next_streamed_key(std::string(252, 'k')).key.fault, KeyFault::kTooLong);
  EXPECT_EQ(next_streamed_key(std::string(251, 'k') + " ").key.fault, KeyFault::kTooLong);
  EXPECT_TRUE(next_streamed_key("\n").last);
  EXPECT_EQ(next_streamed_key("").used, 0u);
}

TEST(BinaryFrame, HeadersSurviveTheRoundTrip) {
  BinaryHeader header;
  header.opcode = 0x1c;
  header.extras_bytes = 4;
  header.key_bytes = 250;
  header.status = 0x81;
  header.body_bytes = 0xfedcba98;
  header.opaque = 0x12345678;
  header.cas = 0x1122334455667788;
  const std::string bytes = format_binary_header(header);
  ASSERT_EQ(bytes.size(), kBinaryHeaderBytes);
  const BinaryHeader again = parse_binary_header(bytes);
  EXPECT_EQ(format_binary_header(again), bytes);
  EXPECT_EQ(again.body_bytes, header.body_bytes);
  EXPECT_EQ(again.cas, header.cas);
}

TEST(BinaryFrame, LengthsMustBeTheOpcodes) {
  const auto status = [](const std::string& frame) {
    return check_binary_header(parse_binary_header(frame));
  };
  EXPECT_EQ(status(binary_frame(0x00, "", "k", "")), BinaryStatus::kOk);
  EXPECT_EQ(status(binary_frame(0x00, "", "", "")), BinaryStatus::kInvalid);
  EXPECT_EQ(status(binary_frame(0x00, "", "k", "v")), BinaryStatus::kInvalid);
  EXPECT_EQ(status(binary_frame(0x01, "12345678", "k", "")), BinaryStatus::kOk);
  EXPECT_EQ(status(binary_frame(0x01, "1234567", "k", "")), BinaryStatus::kInvalid);
  EXPECT_EQ(status(binary_frame(0x01, "12345678", std::string(251, 'k'), "")),
            BinaryStatus::kInvalid);
  EXPECT_EQ(status(binary_frame(0x77, "", "", "")), BinaryStatus::kUnknown);
  BinaryHeader shorter;
  shorter.key_bytes = 10;
  shorter.body_bytes = 9;
  EXPECT_EQ(check_binary_header(shorter), BinaryStatus::kInvalid);
}

// Conversations; after each request the session is ready for the next.
std::vector<std::string> conversations() {
  const std::string eight(8, '\0');
  const std::string counting = "\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\7\0\0\0\0"s;
  std::string multi_get = "set a 1 0 3\r\nabc\r\nget";
  for (int i = 0; i < 900; ++i) multi_get += i % 100 == 0 ? " a" : " b";
  return {
      "set a 1 0 5\r\nhe\r\no\r\nget a b\r\ngets a\r\nadd a 0 0 1\r\nx\r\nappend a 0 0 2\r\n!!\r\n"
      "get a\r\ncas a 0 0 1 1\r\ny\r\nincr a 1\r\ntouch a 5\r\ngat 9 a\r\ndelete a\r\n",
      "set a 0 0 1 noreply\r\n5\r\nincr a 10\r\ndecr a 99 noreply\r\nget a\r\nfoo\r\nstats "
      "reset\r\n",
      "ms a 3 c T9 F7\r\nabc\r\nmg a s v t f k q Oabc\r\nmg none q\r\nmn\r\nmd a q\r\nma n N0 J5 "
      "v\r\n",
      "set a 0 0 3\r\nabcd\r\nget a\r\nset a 0 0 2000000\r\n" + std::string(2000, 'x'),
      multi_get + "\r\nmn\r\n",
      binary_frame(0x01, eight, "k", "value") + binary_frame(0x0c, "", "k", "") +
          binary_frame(0x09, "", "no", "") + binary_frame(0x0e, "", "k", "+") +
          binary_frame(0x00, "", "k", "") + binary_frame(0x05, counting, "n", "") +
          binary_frame(0x16, counting, "n", "") + binary_frame(0x55, "", "abc", "def") +
          binary_frame(0x1d, "\0\0\0\5"s, "k", "") + binary_frame(0x14, "", "k", "") +
          binary_frame(0x0a, "", "", ""),
      binary_frame(0x01, eight, "k", "v") + binary_frame(0x00, "12", "k", "") +
          binary_frame(0x0a, "", "", ""),
  };
}

TEST(Session, AnswersTheSameWhereverARequestIsSplit) {
  for (const std::string& request : conversations()) {
    const std::string whole = SessionFixture().ask(request);
    for (size_t at = 0; at <= request.size(); ++at) {
      SessionFixture fixture;
      const std::string_view parts[] = {std::string_view(request).substr(0, at),
                                        std::string_view(request).substr(at)};
      ASSERT_EQ(fixture.ask_in_parts(parts), whole) << "split at " << at;
    }
  }
}

TEST(Session, AnswersTheSameByteByByte) {
  for (const std::string& request : conversations()) {
    std::vector<std::string_view> bytes;
    for (const char& byte : request) bytes.push_back({&byte, 1});
    EXPECT_EQ(SessionFixture().ask_in_parts(bytes), SessionFixture().ask(request));
  }
}

TEST(Output, GathersTextAndPinnedValuesInOrder) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 9000\r\n" + std::string(9000, 'x') + "\r\n");
  for (const size_t step : {1u, 7u, 5000u, 100000u}) {
    Output out;
    std::string wanted;
    for (int i = 0; i < 5; ++i) {
      Found found = fixture.service.items().get("a");
      out.append("<");
      out.append_value(std::move(found.item.pin), found.value);
      if (i % 2 == 0) out.append(">");
      wanted += "<" + std::string(9000, 'x') + (i % 2 == 0 ? ">" : "");
    }
    EXPECT_EQ(fixture.store.held(), 5u);
    std::string got;
    bool copied = false;
    while (!out.empty()) {
      iovec vectors[3];
      const int count = out.gather(vectors, 3);
      size_t sent = 0;
      for (int i = 0; i < count && sent < step; ++i) {
        const size_t part = std::min(step - sent, vectors[i].iov_len);
        got.append(static_cast<const char*>(vectors[i].iov_base), part);
        sent += part;
      }
      out.consume(sent);
      if (!copied && got.size() > 20000) {
        out.copy_pinned();
        EXPECT_EQ(fixture.store.held(), 0u);
        copied = true;
      }
    }
    EXPECT_EQ(got, wanted) << "in steps of " << step;
    EXPECT_EQ(fixture.store.held(), 0u);
  }
}

}  // namespace
}  // namespace nvcache::server
