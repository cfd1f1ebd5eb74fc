// The binary protocol, without the text one.
#include "apps/nvcached/session/binary_session.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nvcached/binary_frame.h"
#include "apps/nvcached/protocol_fixture.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

using std::string_literals::operator""s;

using BinaryFixture = ProtocolFixture<BinarySession>;

TEST(BinarySession, LeavesTheBytesBehindAValueAsTheyWere) {
  BinaryFixture fixture;
  const std::string eight(8, '\0');
  std::string frames;
  for (int i = 0; i < 20; ++i) frames += binary_frame(0x11, eight, "k" + std::to_string(i), "v");
  const std::string answers = fixture.ask(frames + binary_frame(0x0a, "", "", ""));
  EXPECT_EQ(answers.size(), kBinaryHeaderBytes);
  EXPECT_EQ(fixture.store.stats().items, 20u);
}

// Codes of the answers to these requests, on one connection.
std::vector<uint16_t> codes(BinaryFixture& fixture, const std::string& requests) {
  std::string answers = fixture.ask(requests);
  std::vector<uint16_t> codes;
  while (answers.size() >= kBinaryHeaderBytes) {
    const BinaryHeader header = parse_binary_header(answers);
    codes.push_back(header.status);
    answers.erase(0, kBinaryHeaderBytes + header.body_bytes);
  }
  return codes;
}

class Sasl : public testing::Test {
 protected:
  Settings settings() const {
    Settings settings = ServiceFixture::make_settings();
    settings.auth_file = folder_.file("users");
    settings.sasl = true;
    std::ofstream(settings.auth_file) << "ann:one two\n";
    return settings;
  }
  void SetUp() override { ASSERT_TRUE(fixture_.service.load_auth_file().ok()); }
  static std::string plain(const std::string& message, std::string_view mechanism = "PLAIN",
                           uint8_t opcode = 0x21) {
    return binary_frame(opcode, {}, mechanism, message);
  }
  static std::string set() { return binary_frame(0x01, std::string(8, '\0'), "x", "value"); }

  const TempDir folder_;
  BinaryFixture fixture_{settings()};
};

TEST_F(Sasl, APasswordOpensTheBinaryProtocol) {
  EXPECT_EQ(codes(fixture_, plain("\0ann\0one two"s) + set()), (std::vector<uint16_t>{0, 0}));
  EXPECT_EQ(codes(fixture_, plain("ann\0ann\0one two"s) + set()), (std::vector<uint16_t>{0, 0}));
  EXPECT_EQ(fixture_.count(Count::kAuthCmds), 2u);
  EXPECT_EQ(fixture_.count(Count::kAuthErrors), 0u);
}

TEST_F(Sasl, WithoutItOnlyVersionAndSaslAreAnswered) {
  EXPECT_EQ(codes(fixture_, binary_frame(0x0b, {}, {}, {}) + binary_frame(0x20, {}, {}, {})),
            (std::vector<uint16_t>{0, 0}));
  for (const uint8_t opcode : {0x00, 0x01, 0x04, 0x08, 0x0a, 0x10, 0x1c, 0x77}) {
    EXPECT_EQ(codes(fixture_, binary_frame(opcode, {}, {}, {}) + set()),
              std::vector<uint16_t>{0x20});
  }
  // A success of before does not outlast a failure, nor the connection.
  EXPECT_EQ(codes(fixture_, plain("\0ann\0one two"s) + plain("\0ann\0no"s) + set()),
            (std::vector<uint16_t>{0, 0x20, 0x20}));
  EXPECT_EQ(codes(fixture_, set()), std::vector<uint16_t>{0x20});
}

TEST_F(Sasl, WrongOnesAreCountedAndMayTryAgain) {
  const std::string wrong = plain("\0ann\0one"s) + plain("\0bob\0one two"s) + plain("ann") +
                            plain("bob\0ann\0one two"s) + plain("\0ann\0one two"s, "CRAM-MD5") +
                            plain("\0ann\0one two"s, "PLAIN", 0x22);
  EXPECT_EQ(codes(fixture_, wrong + plain("\0ann\0one two"s) + set()),
            (std::vector<uint16_t>{0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0, 0}));
  EXPECT_EQ(fixture_.count(Count::kAuthErrors), 6u);
  EXPECT_EQ(codes(fixture_, plain("", std::string(40, 'X')) + plain("\0ann\0one two"s)),
            (std::vector<uint16_t>{4, 0}));
  // A body too large is not waited for.
  EXPECT_EQ(codes(fixture_, plain(std::string(2000, 'x')).substr(0, 30)), std::vector<uint16_t>{4});
}

TEST(SaslOff, ItsCommandsAreUnknown) {
  BinaryFixture fixture;
  EXPECT_EQ(
      codes(fixture, binary_frame(0x20, {}, {}, {}) + binary_frame(0x21, {}, "PLAIN", "\0a\0b"s)),
      (std::vector<uint16_t>{0x81, 0x81}));
}

}  // namespace
}  // namespace nvcache::server
