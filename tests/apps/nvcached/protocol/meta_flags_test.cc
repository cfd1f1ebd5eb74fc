#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apps/nvcached/protocol/meta_protocol.h"
#include "apps/nvcached/protocol/text_protocol.h"

namespace nvcache::server {
namespace {

TEST(MetaFlags, EveryCommandTakesEveryFlagOfTheOthers) {
  for (const std::string flag :
       {"b",  "c",  "f",  "h",  "k",  "l",  "q",  "s",  "t",  "u",  "v", "I",
        "T5", "N5", "R5", "C5", "F5", "J5", "D5", "O5", "P5", "L5", "S5"}) {
    for (const std::string command : {"mg Zm9v ", "ms Zm9v 1 ", "md Zm9v ", "ma Zm9v "}) {
      EXPECT_EQ(parse_meta_line(command + flag).error, "") << command << flag;
    }
  }
  EXPECT_EQ(parse_meta_line("mg k MX").error, "") << "modes are of ms and ma";
  EXPECT_EQ(parse_meta_line("me k z").error, "");
}

TEST(MetaFlags, AnUnknownOneIsRefusedByAllButMe) {
  for (const std::string flag : {"z", "E5", "K", "1"}) {
    EXPECT_EQ(parse_meta_line("mg k " + flag).error, "CLIENT_ERROR invalid flag") << flag;
    EXPECT_EQ(parse_meta_line("ms k 1 " + flag).error, "CLIENT_ERROR invalid flag") << flag;
    EXPECT_EQ(parse_meta_line("md k " + flag).error, "CLIENT_ERROR invalid or duplicate flag");
    EXPECT_EQ(parse_meta_line("ma k " + flag).error, "CLIENT_ERROR invalid or duplicate flag");
  }
  EXPECT_EQ(parse_meta_line("mg k v v").error, "CLIENT_ERROR duplicate flag");
  EXPECT_EQ(parse_meta_line("mg k \xc3\xa9").error, "CLIENT_ERROR duplicate flag");
}

TEST(MetaFlags, AFaultIsToldAsMemcachedDoes) {
  EXPECT_EQ(parse_meta_line("mg k Tx").error, "CLIENT_ERROR bad token in command line format");
  EXPECT_EQ(parse_meta_line("mg k Jx").error, "CLIENT_ERROR invalid numeric initial value");
  EXPECT_EQ(parse_meta_line("mg k Dx").error, "CLIENT_ERROR invalid numeric delta value");
  EXPECT_EQ(parse_meta_line("mg k Fx").error, kBadFormat);
  EXPECT_EQ(parse_meta_line("mg foo b").error, "CLIENT_ERROR error decoding key");
  EXPECT_EQ(parse_meta_line("me foo b").error, kBadFormat);
  EXPECT_EQ(parse_meta_line("ms k 1 M").error, "CLIENT_ERROR incorrect length for M token");
  EXPECT_EQ(parse_meta_line("ms k 1 MX").error, "CLIENT_ERROR invalid mode for ms M token");
  EXPECT_EQ(parse_meta_line("ma k MX").error, "CLIENT_ERROR invalid mode for ma M token");
  EXPECT_EQ(parse_meta_line("mg k Tx Jx").error, "CLIENT_ERROR invalid numeric initial value")
      << "the last one";
  EXPECT_EQ(parse_meta_line("mg k Tx z").error, "CLIENT_ERROR invalid flag");
}

TEST(MetaFlags, AnOpaqueTokenIsOf31Bytes) {
  const std::string longest(31, 'o');
  for (const std::string command : {"mg k O", "ms k 1 O", "md k O", "ma k O"}) {
    EXPECT_EQ(parse_meta_line(command + longest).error, "") << command;
    EXPECT_EQ(parse_meta_line(command + longest + "o").error, "CLIENT_ERROR opaque token too long");
  }
}

TEST(MetaFlags, NoMoreThanMemcachedTakes) {
  const std::string sixteen = " v k q T1 c f s t C1 F1 I N1 R1 D1 J1 h";
  EXPECT_EQ(parse_meta_line("ms k 1" + sixteen).error, "");
  EXPECT_EQ(parse_meta_line("mg k" + sixteen + " l").error, "");
  EXPECT_EQ(parse_meta_line("ms k 1" + sixteen + " l").error,
            "CLIENT_ERROR options flags too long");
  EXPECT_EQ(parse_meta_line("mg k" + sixteen + " l u").error,
            "CLIENT_ERROR options flags are too long");
}

TEST(TextLine, NoreplyIsTheLastWord) {
  EXPECT_TRUE(parse_text_line("cas a 0 0 1 noreply").noreply);
  EXPECT_TRUE(parse_text_line("set a 0 0 noreply").noreply);
  EXPECT_FALSE(parse_text_line("delete a noreply 0").noreply);
  EXPECT_FALSE(parse_text_line("flush_all noreply 0").noreply);
  EXPECT_NE(parse_text_line("flush_all noreply 0").error, "");
  EXPECT_NE(parse_text_line("verbosity noreply 1").error, "");
}

TEST(TextLine, AWordTooManyIsAnErrorAndItsValueIsSkipped) {
  const TextRequest set = parse_text_line("set a 0 0 5 noreply more");
  EXPECT_EQ(set.error, "ERROR");
  EXPECT_TRUE(set.has_value);
  EXPECT_EQ(set.value_bytes, 5u);
  EXPECT_NE(parse_text_line("delete a 0 0").error, "");
}

TEST(TextLine, NumbersMayHaveAPlus) {
  EXPECT_EQ(parse_text_line("incr a +5").delta, 5u);
  EXPECT_EQ(parse_text_line("touch a +5").exptime, 5);
  EXPECT_EQ(parse_text_line("set a +1 +2 +3").error, "");
  for (const std::string wrong : {"+", "++5", "+-5", "5+"}) {
    EXPECT_NE(parse_text_line("incr a " + wrong).error, "") << wrong;
    EXPECT_NE(parse_text_line("touch a " + wrong).error, "") << wrong;
  }
}

TEST(TextLine, BgetIsGet) { EXPECT_EQ(parse_text_line("bget a").op, TextOp::kGet); }

}  // namespace
}  // namespace nvcache::server
