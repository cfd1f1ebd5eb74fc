// The promises of every medium (medium/medium.h), run on each of them.
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "support/every_medium.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::all_zero;
using test::Block;
using test::kMaxSizeBytes;
using test::kPiece;
using test::kSizeBytes;
using test::NamedMedium;
using test::same;

using MediumContract = test::EveryMedium;

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

TEST_P(MediumContract, ReadsSideBySideWhereItSaysSo) {
  const Traits& traits = medium_->traits();
  EXPECT_EQ(medium_->take_read_queue() != nullptr,
            traits.async != AsyncReads::kOff && !GetParam().failing);
  if (traits.reads != Reads::kByCopy) {
    EXPECT_EQ(traits.async, AsyncReads::kOff);
  }
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

INSTANTIATE_TEST_SUITE_P(Media, MediumContract, testing::ValuesIn(test::all_media()),
                         [](const testing::TestParamInfo<NamedMedium>& kind) {
                           return kind.param.name;
                         });

}  // namespace
}  // namespace nvcache
