// Sizes that a cache cannot have, sizes that are no whole grains, sectors larger than a page, and
// what an eviction counts against its budget.
#include <filesystem>

#include "base/text.h"
#include "gmock/gmock.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

using test::holds;
using test::make_block;
using test::put;

// As large as the test says, with nothing behind it.
class VastMedium final : public Medium {
 public:
  VastMedium(uint64_t size_bytes, uint32_t unit_bytes)
      : size_bytes_(size_bytes), traits_{.name = "vast", .io_granularity_bytes = unit_bytes} {}
  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t, MutableBytes) override { return ok_status(); }
  Status write(uint64_t, ByteView) override { return ok_status(); }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  const uint64_t size_bytes_;
  const Traits traits_;
};

Status try_make(uint64_t size_bytes, uint32_t unit_bytes) {
  Config config = *parse_config("nvcache://?size=1MiB&maintenance=0&shards=1");
  config.max_size_bytes = size_bytes;
  return BlockCacheImpl::make(config, std::make_unique<VastMedium>(size_bytes, unit_bytes),
                              system_clock())
      .status();
}

TEST(BlockCacheSize, MoreGrainsThan32BitsCanNameAreRefusedAtOpen) {
  constexpr uint64_t kTiB = uint64_t{1} << 40;
  const Status refused = try_make(kTiB + 4096, 1);
  EXPECT_TRUE(is_invalid_argument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              testing::AllOf(testing::HasSubstr("max_size"), testing::HasSubstr("256 bytes"),
                             testing::HasSubstr("1.00 TiB"), testing::HasSubstr("512 bytes")));
  const Status large = try_make(2 * kTiB + 4096, 512);
  EXPECT_THAT(std::string(large.message()), testing::HasSubstr("grain of 1024 bytes would do"));
  EXPECT_TRUE(try_make(kTiB, 1).ok()) << "the largest that fits";
}

TEST(BlockCacheSize, AShrinkOfADeviceToAnySizeSucceeds) {
  TempDir folder;
  const auto cache = test::open("nvcache://?size=4MiB&medium=file:" + folder.file("blocks") +
                                ",io=direct&admission=always&eviction=clock");
  for (uint64_t i = 0; i < 900; ++i) put(*cache, {1, i}, 4096);
  cache->drain();
  const Status shrunk = cache->resize((1 << 20) + 1001);
  EXPECT_TRUE(shrunk.ok()) << shrunk;
  EXPECT_LE(cache->stats().size_bytes, (1u << 20) + 1001) << "whole grains";
  EXPECT_EQ(cache->stats().size_bytes % 512, 0u);
  EXPECT_LE(cache->stats().used_bytes, cache->stats().size_bytes);
  EXPECT_GT(cache->stats().blocks, 200u);
  const Status grown = cache->resize((2 << 20) + 77);
  EXPECT_TRUE(grown.ok()) << grown;
  EXPECT_GE(cache->stats().size_bytes, 2u << 20);
}

TEST(BlockCacheSize, ASizeThatIsTooSmallIsRefusedAndEvictsNothing) {
  const auto cache = test::open("nvcache://?size=4MiB&admission=always&eviction=clock");
  for (uint64_t i = 0; i < 100; ++i) put(*cache, {1, i}, 4096);
  for (const uint64_t size_bytes : {1u, 65'535u}) {
    const Status refused = cache->resize(size_bytes);
    EXPECT_EQ(refused.code(), StatusCode::kOutOfRange) << refused;
    EXPECT_THAT(std::string(refused.message()),
                testing::HasSubstr("allowed: 0, and 65536 to max_size"));
    EXPECT_EQ(cache->stats().blocks, 100u);
    EXPECT_EQ(cache->stats().size_bytes, 4u << 20);
  }
  EXPECT_TRUE(cache->resize(65'536).ok());
}

// The last slab is partly beyond max_size; a pinned block in it keeps its memory.
TEST(BlockCacheSize, AShrinkUnderAPinAtTheVeryEndSucceeds) {
  const auto cache = test::open("nvcache://?size=300KiB&admission=always&eviction=lru&shards=1");
  for (uint64_t i = 0; i < 75; ++i) ASSERT_TRUE(put(*cache, {1, i}, 4096).admitted());
  const Lookup last = cache->lookup({1, 74});
  ASSERT_TRUE(last.hit());
  const Status shrunk = cache->resize(100 << 10);
  EXPECT_TRUE(shrunk.ok()) << shrunk;
  EXPECT_TRUE(holds(last.pin.bytes(), {1, 74}, 4096));
}

// Takes nothing, and lets "another thread" erase blocks that readers still pin.
class ErasingSink final : public EvictionSink {
 public:
  uint32_t token_of(const BlockKey&) override { return 0; }
  void take(const BlockKey&, ByteView, uint32_t) override {
    for (uint64_t i = 0; i < 5; ++i) store->erase({7, i}, Gone::kForGood);
  }
  BlockStore* store = nullptr;
};

TEST(BlockCacheEviction, BlocksThatOthersRemoveAreNotOnItsBudget) {
  ErasingSink sink;
  const Config config =
      *parse_config("nvcache://?size=1MiB&admission=always&eviction=lru&shards=1&maintenance=0");
  auto medium =
      open_medium("dram", {.size_bytes = 1 << 20, .max_size_bytes = 1 << 20}, system_clock());
  const auto store = *BlockStore::make(config, *std::move(medium), system_clock(), {.sink = &sink});
  sink.store = store.get();
  const std::atomic<uint32_t> generation{0};
  const auto put_bytes = [&](const BlockKey& key, size_t size_bytes) {
    return store->put(key, std::vector<std::byte>(size_bytes), Origin::kRead, {generation, 0});
  };
  std::vector<Lookup> pins;
  for (uint64_t i = 0; i < 5; ++i) {
    const BlockKey key{7, i};
    uint32_t slot = 0;
    ASSERT_TRUE(put_bytes(key, 60 << 10).admitted());
    pins.push_back(store->find(store->hash_of(key), key, {}, &slot));
  }
  uint64_t filled = 0;
  while (store->stats().used_bytes + 4096 <= 1 << 20) put_bytes({1, filled++}, 4096);
  EXPECT_EQ(put_bytes({2, 1}, 32 << 10).reason, Reason::kAdmitted)
      << "eight neighbours of 4 KiB, though 300 KiB went elsewhere meanwhile";
}

// A device whose sectors are larger than a page: every access is whole sectors, from aligned
// memory.
class LargeSectorDevice final : public Medium {
 public:
  static constexpr uint32_t kSectorBytes = 16'384;
  explicit LargeSectorDevice(uint64_t size_bytes) : bytes_(size_bytes) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t offset, MutableBytes into) override {
    if (!aligned(offset, into.data(), into.size())) return invalid_argument_error("EINVAL");
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return ok_status();
  }
  Status write(uint64_t offset, ByteView from) override {
    if (!aligned(offset, from.data(), from.size())) return invalid_argument_error("EINVAL");
    std::memcpy(bytes_.data() + offset, from.data(), from.size());
    return ok_status();
  }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  static bool aligned(uint64_t offset, const void* buffer, uint64_t length) {
    return (offset | length | reinterpret_cast<uintptr_t>(buffer)) % kSectorBytes == 0;
  }
  std::vector<std::byte> bytes_;
  const Traits traits_{.name = "large sectors",
                       .is_device = true,
                       .io_granularity_bytes = kSectorBytes,
                       .flush_granularity_bytes = kSectorBytes};
};

TEST(BlockCacheSectors, LargerThanAPageAreWrittenAndReadWhole) {
  const auto cache = test::make_on("nvcache://?size=4MiB&admission=always&eviction=clock",
                                   std::make_unique<LargeSectorDevice>(4 << 20));
  for (uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(put(*cache, {1, i}, 20'000).admitted());
  cache->drain();
  std::vector<std::byte> room(32'768 + 4096);
  const auto misaligned = 4096 - reinterpret_cast<uintptr_t>(room.data()) % 4096;
  for (uint64_t i = 0; i < 40; ++i) {
    const Lookup lookup = cache->lookup({1, i});
    ASSERT_TRUE(lookup.hit()) << i;
    EXPECT_TRUE(holds(lookup.pin.bytes(), {1, i}, 20'000));
    // At a page, not at a sector.
    const MutableBytes page = MutableBytes(room).subspan(misaligned, 20'000);
    ASSERT_TRUE(cache->lookup({1, i}, {.copy_into = page}).hit());
    EXPECT_TRUE(holds(page, {1, i}, 20'000));
  }
  EXPECT_EQ(cache->stats().medium_errors, 0u);
}

}  // namespace
}  // namespace nvcache
