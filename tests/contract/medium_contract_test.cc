// The promises of every medium (medium/medium.h), run on each of them.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kSizeBytes = 1 << 20;
constexpr uint64_t kMaxSizeBytes = 2 << 20;
constexpr uint64_t kPiece = 8192;  // a multiple of every granularity we meet

struct NamedMedium {
  std::string name;
  std::string spec;  // PATH stands for a file in the test's directory, DEVICE for a loop device
  bool failing = false;
  bool may_be_refused = false;  // not every system has it or allows it
};

// Bytes whose start suits every granularity.
class Block {
 public:
  explicit Block(size_t size_bytes = kPiece)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(kPiece, size_bytes)), &std::free),
        size_bytes_(size_bytes) {}
  Block(uint64_t seed, size_t size_bytes) : Block(size_bytes) {
    Prng random(seed);
    for (std::byte& byte : mutable_view()) byte = static_cast<std::byte>(random());
  }
  MutableBytes mutable_view() { return {bytes_.get(), size_bytes_}; }
  ByteView view() const { return {bytes_.get(), size_bytes_}; }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
  size_t size_bytes_;
};

bool same(ByteView a, ByteView b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

void PrintTo(const NamedMedium& medium, std::ostream* out) { *out << medium.name; }

class MediumContract : public testing::TestWithParam<NamedMedium> {
 protected:
  void SetUp() override {
    std::string spec = GetParam().spec;
    if (const size_t at = spec.find("PATH"); at != spec.npos) {
      spec.replace(at, 4, directory_.file("blocks"));
    }
    if (const size_t at = spec.find("DEVICE"); at != spec.npos) {
      device_ = std::make_unique<test::LoopDevice>(kMaxSizeBytes + (2 << 20));
      if (device_->path().empty()) GTEST_SKIP() << "no loop device here: " << device_->why();
      spec.replace(at, 6, device_->path());
    }
    auto opened =
        open_medium(spec, {.size_bytes = kSizeBytes, .max_size_bytes = kMaxSizeBytes}, clock_);
    if (GetParam().may_be_refused &&
        (is_permission_denied(opened.status()) || is_unimplemented(opened.status()))) {
      GTEST_SKIP() << opened.status().message();
    }
    ASSERT_TRUE(opened.ok()) << opened.status();
    medium_ = *std::move(opened);
    if (GetParam().failing) medium_ = std::make_unique<FailingMedium>(std::move(medium_));
  }

  Block read_piece(uint64_t offset) {
    Block into;
    EXPECT_EQ(medium_->read(offset, into.mutable_view()), ok_status());
    return into;
  }

  TempDir directory_{TempDir::on_disk()};
  std::unique_ptr<test::LoopDevice> device_;
  VirtualClock clock_;
  std::unique_ptr<Medium> medium_;
};

TEST_P(MediumContract, HasTheSizeThatWasAskedFor) { EXPECT_EQ(medium_->size_bytes(), kSizeBytes); }

TEST_P(MediumContract, TraitsAgreeWithEachOther) {
  const Traits& traits = medium_->traits();
  EXPECT_FALSE(traits.name.empty());
  EXPECT_EQ(traits.reads != Reads::kByCopy, !medium_->direct().empty());
  const MediumRow* const row = find_medium_row(GetParam().spec);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(traits.emulated, row->is_emulated);
  if (!GetParam().failing) {
    EXPECT_GE(traits.reads, row->reads) << "better than the row says";
  }
  EXPECT_EQ(traits.emulated, traits.name.starts_with("emulated:"));
  EXPECT_GE(traits.io_granularity_bytes, 1u);
  EXPECT_EQ(kPiece % traits.io_granularity_bytes, 0u);
}

TEST_P(MediumContract, ReadsWhatWasWritten) {
  for (const uint64_t offset : {uint64_t{0}, kPiece, kSizeBytes - kPiece}) {
    const Block block(offset + 1, kPiece);
    ASSERT_EQ(medium_->write(offset, block.view()), ok_status());
    EXPECT_TRUE(same(read_piece(offset).view(), block.view())) << "at " << offset;
  }
}

TEST_P(MediumContract, AWriteChangesNothingBesideIt) {
  const Block before(1, kPiece);
  const Block middle(2, kPiece);
  const Block after(3, kPiece);
  ASSERT_EQ(medium_->write(0, before.view()), ok_status());
  ASSERT_EQ(medium_->write(2 * kPiece, after.view()), ok_status());
  ASSERT_EQ(medium_->write(kPiece, middle.view()), ok_status());
  EXPECT_TRUE(same(read_piece(0).view(), before.view()));
  EXPECT_TRUE(same(read_piece(2 * kPiece).view(), after.view()));
}

TEST_P(MediumContract, SmallestAccessIsTheGranularity) {
  const uint32_t unit = medium_->traits().io_granularity_bytes;
  const Block block(7, kPiece);
  ASSERT_EQ(medium_->write(3 * uint64_t{unit}, block.view().first(unit)), ok_status());
  Block into;
  ASSERT_EQ(medium_->read(3 * uint64_t{unit}, into.mutable_view().first(unit)), ok_status());
  EXPECT_TRUE(same(into.view().first(unit), block.view().first(unit)));
}

TEST_P(MediumContract, OffTheGranularityIsRefused) {
  const uint32_t unit = medium_->traits().io_granularity_bytes;
  Block block;
  if (unit == 1) {  // nothing is off it
    EXPECT_EQ(medium_->write(13, block.mutable_view().subspan(7, 5)), ok_status());
    EXPECT_EQ(medium_->read(13, block.mutable_view().subspan(3, 5)), ok_status());
    return;
  }
  const MutableBytes bytes = block.mutable_view();
  EXPECT_TRUE(is_invalid_argument(medium_->read(1, bytes)));
  EXPECT_TRUE(is_invalid_argument(medium_->write(unit / 2, bytes)));
  EXPECT_TRUE(is_invalid_argument(medium_->read(0, bytes.first(unit - 1))));
  EXPECT_TRUE(is_invalid_argument(medium_->write(0, bytes.subspan(1, unit))));
  EXPECT_THAT(std::string(medium_->read(1, bytes).message()),
              testing::HasSubstr("multiples of " + std::to_string(unit)));
}

TEST_P(MediumContract, PastTheEndIsOutOfRange) {
  Block block;
  for (const uint64_t offset :
       {kSizeBytes, kSizeBytes - kPiece / 2, kMaxSizeBytes, ~uint64_t{0} - kPiece + 1}) {
    EXPECT_TRUE(is_out_of_range(medium_->read(offset, block.mutable_view()))) << offset;
    EXPECT_TRUE(is_out_of_range(medium_->write(offset, block.view()))) << offset;
  }
}

TEST_P(MediumContract, InPlaceBytesAreThoseThatReadReturns) {
  if (medium_->traits().reads == Reads::kByCopy) return;  // no such bytes: see the traits' test
  const Block block(11, kPiece);
  ASSERT_EQ(medium_->write(5 * kPiece, block.view()), ok_status());
  ASSERT_EQ(medium_->on_direct_read({5 * kPiece, kPiece}), ok_status());
  ASSERT_GE(medium_->direct().size(), kMaxSizeBytes);
  EXPECT_TRUE(same(medium_->direct().subspan(5 * kPiece, kPiece), block.view()));
}

TEST_P(MediumContract, ShrinkingAndGrowingKeepThePrefixAndTheAddress) {
  const ByteView direct = medium_->direct();
  const Block kept(1, kPiece);
  const Block dropped(2, kPiece);
  ASSERT_EQ(medium_->write(kSizeBytes / 2 - kPiece, kept.view()), ok_status());
  ASSERT_EQ(medium_->write(kSizeBytes - kPiece, dropped.view()), ok_status());

  ASSERT_EQ(medium_->resize(kSizeBytes / 2), ok_status());
  EXPECT_EQ(medium_->size_bytes(), kSizeBytes / 2);
  Block block;
  EXPECT_TRUE(is_out_of_range(medium_->read(kSizeBytes / 2, block.mutable_view())));
  EXPECT_TRUE(same(read_piece(kSizeBytes / 2 - kPiece).view(), kept.view()));

  ASSERT_EQ(medium_->resize(kMaxSizeBytes), ok_status());
  EXPECT_TRUE(same(read_piece(kSizeBytes / 2 - kPiece).view(), kept.view()));
  EXPECT_TRUE(all_zero(read_piece(kSizeBytes - kPiece).view())) << "space was given back";
  ASSERT_EQ(medium_->write(kMaxSizeBytes - kPiece, dropped.view()), ok_status());
  EXPECT_TRUE(same(read_piece(kMaxSizeBytes - kPiece).view(), dropped.view()));
  EXPECT_EQ(medium_->direct().data(), direct.data());
}

TEST_P(MediumContract, ResizingPastTheMaximumOrToNothingIsOutOfRange) {
  for (const uint64_t size_bytes : {kMaxSizeBytes + kPiece, uint64_t{0}}) {
    const Status status = medium_->resize(size_bytes);
    EXPECT_TRUE(is_out_of_range(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(std::to_string(kMaxSizeBytes)));
  }
  EXPECT_EQ(medium_->size_bytes(), kSizeBytes);
}

TEST_P(MediumContract, ADiscardChangesNothingBesideItOrIsRefused) {
  for (uint64_t piece = 0; piece < 3; ++piece) {
    ASSERT_EQ(medium_->write(piece * kPiece, Block(piece + 1, kPiece).view()), ok_status());
  }
  const Status status = medium_->discard({kPiece, kPiece});
  EXPECT_TRUE(status.ok() || is_unimplemented(status)) << status;
  EXPECT_TRUE(same(read_piece(0).view(), Block(1, kPiece).view()));
  EXPECT_TRUE(same(read_piece(2 * kPiece).view(), Block(3, kPiece).view()));
  ASSERT_EQ(medium_->write(kPiece, Block(9, kPiece).view()), ok_status());
  EXPECT_TRUE(same(read_piece(kPiece).view(), Block(9, kPiece).view()));
  EXPECT_FALSE(medium_->discard({kSizeBytes, kPiece}).ok()) << "past the end";
}

TEST_P(MediumContract, FlushAndDrainSucceed) {
  const Block block(1, kPiece);
  ASSERT_EQ(medium_->write(0, block.view()), ok_status());
  EXPECT_EQ(medium_->flush({0, kPiece}), ok_status());
  EXPECT_EQ(medium_->drain(), ok_status());
}

TEST_P(MediumContract, ConcurrentAccessToDisjointExtents) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  constexpr uint64_t kShare = kSizeBytes / kThreads;
  std::vector<std::thread> threads;
  std::vector<int> bad(kThreads, 0);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + static_cast<uint64_t>(t));
      Block into;
      for (int round = 0; round < kRounds; ++round) {
        const uint64_t offset =
            static_cast<uint64_t>(t) * kShare + random.below(kShare / kPiece) * kPiece;
        const Block block(random(), kPiece);
        if (!medium_->write(offset, block.view()).ok()) ++bad[static_cast<size_t>(t)];
        if (!medium_->read(offset, into.mutable_view()).ok()) ++bad[static_cast<size_t>(t)];
        if (!same(into.view(), block.view())) ++bad[static_cast<size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(bad, testing::Each(0));
}

// Elsewhere a page can be taken away while it is read. Also run on DAX: NVCACHE_TEST_DAX says so.
TEST(FileOnDax, IsReadInPlaceThereOnly) {
  const TempDir folder;
  const auto medium =
      open_medium("file:" + folder.file("mapped"), {.size_bytes = kSizeBytes}, system_clock());
  ASSERT_TRUE(medium.ok()) << medium.status();
  const bool on_dax = std::getenv("NVCACHE_TEST_DAX") != nullptr;
  EXPECT_EQ((*medium)->traits().reads, on_dax ? Reads::kInPlaceAsked : Reads::kByCopy);
}

// Every example of every row of the table of media, and a decorator that never fails.
std::vector<NamedMedium> all_media() {
  std::vector<NamedMedium> media = {{.name = "failing_never", .spec = "dram", .failing = true}};
  for (const MediumRow& row : kMedia) {
    for (const std::string_view example : row.examples) {
      NamedMedium medium{.name = std::string(example), .spec = std::string(example)};
      std::replace_if(
          medium.name.begin(), medium.name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      for (const MediumRow& part : kMedia) {
        medium.may_be_refused |= part.may_be_refused && example.find(part.prefix) != example.npos;
      }
      media.push_back(std::move(medium));
    }
  }
  return media;
}

INSTANTIATE_TEST_SUITE_P(Media, MediumContract, testing::ValuesIn(all_media()),
                         [](const testing::TestParamInfo<NamedMedium>& kind) {
                           return kind.param.name;
                         });

}  // namespace
}  // namespace nvcache
