// YCSB's operation mixes, records that verify themselves, and replay by seed.
#include "experiments/workload/ycsb.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "experiments/workload/record.h"

namespace nvcache {
namespace {

constexpr uint64_t kStreamSeed = 42;

OperationStream stream_of(const YcsbWorkload& workload, KeySequence& sequence, uint64_t seed) {
  return OperationStream(workload, sequence,
                         make_key_chooser(workload.distribution, sequence, 10'000), seed);
}

struct Mix {
  char workload;
  std::array<double, kOpTypeCount> shares;  // read, update, insert, scan, read-modify-write
};

void PrintTo(const Mix& mix, std::ostream* out) { *out << mix.workload; }

class YcsbMix : public testing::TestWithParam<Mix> {};

TEST_P(YcsbMix, SharesAreThoseOfTheDefinition) {
  SCOPED_TRACE(kStreamSeed);
  const auto workload = ycsb_workload(std::string(1, GetParam().workload));
  ASSERT_TRUE(workload.ok());
  KeySequence sequence(10'000);
  auto stream = stream_of(*workload, sequence, kStreamSeed);
  constexpr int kOps = 50'000;
  std::array<int, kOpTypeCount> counts{};
  for (int i = 0; i < kOps; ++i) {
    const Operation op = stream.next();
    ++counts[static_cast<size_t>(op.type)];
    if (op.type == OpType::kInsert) sequence.acknowledge(op.record);
    if (op.type == OpType::kScan) {
      ASSERT_GE(op.scan_rows, 1u);
      ASSERT_LE(op.scan_rows, 100u);
    }
    ASSERT_LT(op.field, kRecordFields);
    ASSERT_LT(op.record, sequence.count());
  }
  for (size_t i = 0; i < kOpTypeCount; ++i) {
    EXPECT_NEAR(counts[i] / double{kOps}, GetParam().shares[i], 0.01) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Core, YcsbMix,
                         testing::Values(Mix{'a', {0.5, 0.5, 0, 0, 0}},
                                         Mix{'b', {0.95, 0.05, 0, 0, 0}}, Mix{'c', {1, 0, 0, 0, 0}},
                                         Mix{'d', {0.95, 0, 0.05, 0, 0}},
                                         Mix{'e', {0, 0, 0.05, 0.95, 0}},
                                         Mix{'f', {0.5, 0, 0, 0, 0.5}}));

TEST(YcsbWorkload, DistributionsAndMistakes) {
  EXPECT_EQ(ycsb_workload("D")->distribution, Distribution::kLatest);
  EXPECT_EQ(ycsb_workload("e")->distribution, Distribution::kZipfian);
  EXPECT_FALSE(ycsb_workload("c")->writes());
  EXPECT_TRUE(ycsb_workload("f")->writes());
  EXPECT_EQ(ycsb_workload("a")->describe_mix(), "50% read, 50% update");
  for (const char* wrong : {"", "g", "aa", "?"}) {
    const auto workload = ycsb_workload(wrong);
    ASSERT_FALSE(workload.ok()) << wrong;
    EXPECT_NE(workload.status().message().find("a, b, c, d, e and f"), std::string::npos);
  }
}

TEST(OperationStream, SameSeedSameOperationsOtherSeedOthers) {
  const auto workload = ycsb_workload("a").value();
  KeySequence sequence(10'000);
  auto one = stream_of(workload, sequence, thread_seed(kStreamSeed, 0));
  auto same = stream_of(workload, sequence, thread_seed(kStreamSeed, 0));
  auto other = stream_of(workload, sequence, thread_seed(kStreamSeed, 1));
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    const Operation a = one.next(), b = same.next(), c = other.next();
    ASSERT_EQ(a.record, b.record);
    ASSERT_EQ(a.version, b.version);
    ASSERT_EQ(static_cast<int>(a.type), static_cast<int>(b.type));
    differing += a.record != c.record;
  }
  EXPECT_GT(differing, 900);
}

TEST(OperationStream, InsertsTakeNewNumbersInOrder) {
  const auto workload = ycsb_workload("d").value();
  KeySequence sequence(1000);
  auto stream = stream_of(workload, sequence, kStreamSeed);
  uint64_t expected = 1000;
  for (int i = 0; i < 5000; ++i) {
    const Operation op = stream.next();
    if (op.type != OpType::kInsert) continue;
    ASSERT_EQ(op.record, expected++);
    sequence.acknowledge(op.record);
  }
  EXPECT_GT(expected, 1100u);
}

class Record : public testing::Test {
 protected:
  std::string record(std::string_view key, uint64_t version) {
    std::string value(kRecordBytes, '\0');
    fill_record(key, version, std::span<char, kRecordBytes>(value.data(), kRecordBytes));
    return value;
  }
};

TEST_F(Record, KeysAreUserAndHash) {
  EXPECT_EQ(record_key(0), "user" + std::to_string(ycsb_hash(0)));
  EXPECT_LE(record_key(~uint64_t{0}).size(), kMaxKeyBytes);
}

TEST_F(Record, VerifiesAndIsDetermined) {
  const std::string key = record_key(7);
  EXPECT_TRUE(verify_record(key, record(key, 1)).ok());
  EXPECT_EQ(record(key, 1), record(key, 1));
  EXPECT_NE(record(key, 1), record(key, 2));
}

TEST_F(Record, OneFieldMayBeReplaced) {
  const std::string key = record_key(7);
  std::string value = record(key, 1);
  const std::string before = value;
  fill_field(key, 3, 99, std::span<char, kFieldBytes>(value.data() + 300, kFieldBytes));
  EXPECT_TRUE(verify_record(key, value).ok());
  EXPECT_EQ(value.substr(0, 300), before.substr(0, 300));
  EXPECT_NE(value.substr(300, 100), before.substr(300, 100));
  EXPECT_EQ(value.substr(400), before.substr(400));
}

TEST_F(Record, EveryFlippedBitIsFound) {
  const std::string key = record_key(7);
  const std::string good = record(key, 1);
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << (byte % 8)));
    const Status status = verify_record(key, bad);
    ASSERT_FALSE(status.ok()) << byte;
    const std::string field = "field " + std::to_string(byte / kFieldBytes);
    ASSERT_NE(status.message().find(field), std::string::npos) << status;
  }
}

TEST_F(Record, AnotherRecordsValueTheWrongSizeAndSwappedFieldsAreFound) {
  const std::string key = record_key(7);
  const auto foreign = verify_record(key, record(record_key(8), 1));
  EXPECT_NE(foreign.message().find("belongs to another record"), std::string::npos) << foreign;
  const auto shorter = verify_record(key, "abc");
  EXPECT_NE(shorter.message().find("3 bytes instead of 1000"), std::string::npos) << shorter;
  std::string swapped = record(key, 1);
  std::swap_ranges(swapped.begin(), swapped.begin() + 100, swapped.begin() + 100);
  EXPECT_FALSE(verify_record(key, swapped).ok());
}

}  // namespace
}  // namespace nvcache
