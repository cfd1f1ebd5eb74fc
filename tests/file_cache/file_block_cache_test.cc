// A block cache beside the reads and writes of files, one after the other.
#include "file_cache/file_block_cache.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

class FileBlockCacheTest : public testing::Test {
 protected:
  void open_cache(const std::string& more = "", OnWrite on_write = OnWrite::kOffer) {
    cache_ = test::open(
        (more.find("size=") == std::string::npos ? "nvcache://?size=4MiB" : "nvcache://?") +
        std::string("&verify=always&eviction=clock") +
        (more.find("admission=") == std::string::npos ? "&admission=always" + more : more));
    files_ = std::make_unique<FileBlockCache>(cache_, on_write);
    file_ = files_->open("a", {.device = 1, .inode = 2, .size_bytes = 1 << 20, .modified_ns = 5});
  }
  // As an engine reads: the cache, else the "file", whose bytes are all `fill`.
  bool read(uint64_t offset, size_t size, uint8_t fill, std::vector<std::byte>* out) {
    out->assign(size, std::byte{0});
    ReadTicket ticket;
    if (file_->read(offset, *out, &ticket)) return true;
    std::fill(out->begin(), out->end(), std::byte{fill});
    file_->count_disk_read(size, true, 100'000);
    file_->offer(offset, *out, ticket);
    return false;
  }
  void write(uint64_t offset, size_t size, uint8_t fill) {
    const std::vector<std::byte> block(size, std::byte{fill});
    const bool was_cached = file_->begin_write({offset, size});
    file_->end_write({offset, size}, block, was_cached);
  }
  uint64_t count(FileCount what) const { return files_->stats()[what]; }

  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<FileBlockCache> files_;
  std::shared_ptr<CachedFile> file_;
  std::vector<std::byte> bytes_;
};

TEST_F(FileBlockCacheTest, ServesWhatWasReadWithTheSameExtentOnly) {
  open_cache();
  EXPECT_FALSE(read(4096, 4096, 7, &bytes_));
  EXPECT_TRUE(read(4096, 4096, 8, &bytes_));
  EXPECT_EQ(bytes_[100], std::byte{7});
  EXPECT_FALSE(read(4096, 8192, 9, &bytes_));
  EXPECT_EQ(bytes_[0], std::byte{9});
  EXPECT_EQ(count(FileCount::kReads), 3u);
  EXPECT_EQ(count(FileCount::kServedReads), 1u);
  EXPECT_EQ(count(FileCount::kDiskReads), 2u);
}

TEST_F(FileBlockCacheTest, AWriteOutdatesAllItOverlaps) {
  open_cache("", OnWrite::kSkip);
  for (uint64_t i = 0; i < 8; ++i) read(i * 4096, 4096, 1, &bytes_);
  write(3 * 4096 + 512, 2 * 4096, 2);  // into 3, over 4, into 5
  for (uint64_t i = 0; i < 8; ++i) {
    const bool outdated = i >= 3 && i <= 5;
    EXPECT_EQ(read(i * 4096, 4096, 2, &bytes_), !outdated) << "block " << i;
  }
  EXPECT_EQ(count(FileCount::kInvalidated), 3u);
}

TEST_F(FileBlockCacheTest, AWrittenBlockIsOfferedAsConfigured) {
  open_cache("", OnWrite::kOffer);
  write(0, 4096, 3);
  EXPECT_TRUE(read(0, 4096, 0, &bytes_));
  EXPECT_EQ(bytes_[5], std::byte{3});
  write(0, 4096, 4);
  EXPECT_TRUE(read(0, 4096, 0, &bytes_));
  EXPECT_EQ(bytes_[5], std::byte{4});

  open_cache("", OnWrite::kSkip);
  write(0, 4096, 3);
  EXPECT_FALSE(read(0, 4096, 3, &bytes_));

  open_cache("", OnWrite::kUpdate);
  write(0, 4096, 3);
  EXPECT_FALSE(read(0, 4096, 3, &bytes_)) << "was not cached before";
  write(0, 4096, 4);
  EXPECT_TRUE(read(0, 4096, 0, &bytes_));
  EXPECT_EQ(bytes_[5], std::byte{4});
}

TEST_F(FileBlockCacheTest, AWrittenBlockComesFromTheWritePath) {
  cache_ = test::open("nvcache://?size=4MiB&admission=no_write_allocate&eviction=clock");
  files_ = std::make_unique<FileBlockCache>(cache_);
  file_ = files_->open("a", {});
  write(0, 4096, 3);
  EXPECT_EQ(cache_->stats().refused[static_cast<size_t>(Reason::kWriteOrigin)], 1u);
}

TEST_F(FileBlockCacheTest, ARefusedBlockLeavesNoTraceAndIsAskedAboutOnce) {
  open_cache("&admission=second_touch");
  write(0, 4096, 3);
  EXPECT_EQ(files_->stats().extents, 0u);
  EXPECT_EQ(cache_->stats().refused[static_cast<size_t>(Reason::kFirstTouch)], 1u);
  EXPECT_FALSE(read(0, 4096, 3, &bytes_)) << "one offer must not count as two touches";
  EXPECT_TRUE(read(0, 4096, 3, &bytes_)) << "the read's offer was the second";
  EXPECT_EQ(count(FileCount::kOffers), 2u);
  EXPECT_EQ(files_->stats().extents, 1u);
}

// A cache that calls back between the admission of a block and its entry.
class PausingCache final : public BlockCache, private Admission::Owner {
 public:
  explicit PausingCache(std::shared_ptr<BlockCache> inner) : inner_(std::move(inner)) {}
  std::function<void()> before_commit, after_commit;

  Lookup lookup(const BlockKey& key, const LookupOptions& options) override {
    return inner_->lookup(key, options);
  }
  Admission admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                  MissToken token) override {
    admitted_.emplace(inner_->admit(key, size_bytes, origin, token));
    return admitted_->admitted() ? Admission(*this, Admission::Offer{.key = key, .token = {}})
                                 : Admission(admitted_->verdict());
  }
  Verdict commit(const Admission::Offer&, ByteView block) override {
    if (before_commit) std::exchange(before_commit, nullptr)();
    const Verdict verdict = std::move(*admitted_).commit(block);
    if (after_commit) std::exchange(after_commit, nullptr)();
    return verdict;
  }
  bool contains(const BlockKey& key) const override { return inner_->contains(key); }
  StatusOr<uint64_t> erase_blocks(const Blocks& blocks, Gone gone) override {
    return inner_->erase(blocks, gone);
  }
  Status resize(uint64_t size_bytes) override { return inner_->resize(size_bytes); }
  void set_dataset_size(uint64_t size_bytes) override { inner_->set_dataset_size(size_bytes); }
  void note_storage_read(uint64_t took_ns) override { inner_->note_storage_read(took_ns); }
  void drain() override { inner_->drain(); }
  Stats stats() const override { return inner_->stats(); }

 private:
  const std::shared_ptr<BlockCache> inner_;
  std::optional<Admission> admitted_;
};

// A written block is on its way into the cache when the next write of its range begins.
TEST_F(FileBlockCacheTest, APutThatAWriteOvertookIsNeverVisible) {
  const auto pausing =
      std::make_shared<PausingCache>(test::open("nvcache://?size=4MiB&admission=always"));
  cache_ = pausing;
  files_ = std::make_unique<FileBlockCache>(cache_);
  file_ = files_->open("a", {.device = 1, .inode = 2, .size_bytes = 1 << 20, .modified_ns = 5});
  pausing->before_commit = [&] { (void)file_->begin_write({4096, 4096}); };
  pausing->after_commit = [&] {
    EXPECT_EQ(cache_->stats().blocks, 0u) << "the older bytes are in the cache";
  };
  write(4096, 4096, 1);
  file_->end_write({4096, 4096}, std::vector<std::byte>(4096, std::byte{2}), false);
  EXPECT_TRUE(read(4096, 4096, 0, &bytes_));
  EXPECT_EQ(bytes_[0], std::byte{2});
}

TEST_F(FileBlockCacheTest, AFailedWriteOutdatesToo) {
  open_cache();
  read(0, 4096, 1, &bytes_);
  const bool was_cached = file_->begin_write({0, 4096});
  EXPECT_TRUE(was_cached);
  file_->end_write({0, 4096}, {}, was_cached);
  EXPECT_FALSE(read(0, 4096, 2, &bytes_));
}

TEST_F(FileBlockCacheTest, WhatWasReadBeforeAWriteIsNotCachedAfterIt) {
  open_cache("", OnWrite::kSkip);
  std::vector<std::byte> old(8192, std::byte{1});
  ReadTicket before_write, during_write;
  EXPECT_FALSE(file_->read(8192, old, &before_write));
  file_->begin_write({8192 + 512, 512});
  EXPECT_FALSE(file_->read(8192, old, &during_write));
  file_->offer(8192, old, before_write);
  EXPECT_EQ(count(FileCount::kStaleOffers), 1u);
  file_->end_write({8192 + 512, 512}, {}, false);
  file_->offer(8192, old, during_write);
  EXPECT_EQ(count(FileCount::kStaleOffers), 2u);
  EXPECT_FALSE(read(8192, 8192, 2, &bytes_));
  EXPECT_TRUE(read(8192, 8192, 3, &bytes_));
}

TEST_F(FileBlockCacheTest, TruncatingOutdatesWhatIsBeyondAndWhatReachesThere) {
  open_cache();
  for (uint64_t i = 0; i < 4; ++i) read(i * 4096, 4096, 1, &bytes_);
  file_->begin_truncate(2 * 4096 + 512);
  file_->end_truncate(2 * 4096 + 512);
  EXPECT_EQ(count(FileCount::kInvalidated), 2u);
  EXPECT_TRUE(read(4096, 4096, 2, &bytes_));
  EXPECT_FALSE(read(2 * 4096, 4096, 2, &bytes_));
  EXPECT_EQ(files_->stats().dataset_bytes, 2 * 4096u + 512);
}

TEST_F(FileBlockCacheTest, AClosedFileKeepsItsBlocksUnlessSomebodyChangedIt) {
  open_cache();
  const FileIdentity closed{.device = 1, .inode = 2, .size_bytes = 1 << 20, .modified_ns = 9};
  read(0, 4096, 1, &bytes_);
  files_->close("a", *file_, closed);
  file_ = files_->open("a", closed);
  EXPECT_TRUE(read(0, 4096, 2, &bytes_));
  files_->close("a", *file_, closed);
  FileIdentity changed = closed;
  changed.modified_ns = 10;
  file_ = files_->open("a", changed);
  EXPECT_FALSE(read(0, 4096, 2, &bytes_));
  EXPECT_EQ(cache_->stats().blocks, 1u) << "the old block is gone";
}

TEST_F(FileBlockCacheTest, AForgottenFileIsCachedNoMore) {
  open_cache();
  read(0, 4096, 1, &bytes_);
  const std::shared_ptr<CachedFile> old = file_;
  files_->forget("a");
  files_->forget("never heard of");
  EXPECT_EQ(cache_->stats().blocks, 0u);
  EXPECT_FALSE(read(0, 4096, 2, &bytes_));
  EXPECT_FALSE(read(0, 4096, 2, &bytes_)) << "removed, though open still";
  file_ = files_->open("a", {});
  EXPECT_FALSE(read(0, 4096, 3, &bytes_)) << "a new file of the same name";
  EXPECT_TRUE(read(0, 4096, 4, &bytes_));
  EXPECT_EQ(bytes_[0], std::byte{3});
}

// A large file that is gone: a thread erases its blocks, and nothing is served meanwhile.
TEST_F(FileBlockCacheTest, ALargeForgottenFileIsErasedInTheBackground) {
  open_cache("&size=64MiB");
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 10'000; ++i) read(i * 4096, 4096, 1, &bytes_);
    ASSERT_GT(files_->stats().extents, 5000u);
    files_->forget("a");
    for (uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(read(i * 4096, 4096, 2, &bytes_)) << i;
    file_ = files_->open("a", {});
    for (uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(read(i * 4096, 4096, 3, &bytes_)) << i;
    files_->drain();
    EXPECT_EQ(cache_->stats().blocks, 100u) << "those of the new file";
    EXPECT_EQ(files_->stats().extents, 100u);
    for (uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(read(i * 4096, 4096, 4, &bytes_)) << i;
    EXPECT_EQ(bytes_[0], std::byte{3});
  }
  for (uint64_t i = 0; i < 10'000; ++i) read(i * 4096, 4096, 1, &bytes_);
  files_->forget("a");  // and the cache ends before the thread is done
}

// 10,000 erases meet each of the generations that keys share.
TEST_F(FileBlockCacheTest, AForgottenFileMakesNoOfferOfAnotherStale) {
  open_cache("&size=64MiB");
  for (uint64_t i = 0; i < 10'000; ++i) read(i * 4096, 4096, 1, &bytes_);
  const auto other = files_->open("b", {.size_bytes = 1 << 20});
  std::vector<ReadTicket> tickets(100);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(other->read(i * 4096, bytes_, &tickets[i]));
  files_->forget("a");
  files_->drain();
  ASSERT_EQ(cache_->stats().blocks, 0u);
  for (uint64_t i = 0; i < 100; ++i) other->offer(i * 4096, bytes_, tickets[i]);
  EXPECT_EQ(cache_->stats().blocks, 100u);
}

TEST_F(FileBlockCacheTest, TellsTheCacheTheSizeOfOpenFiles) {
  open_cache();
  EXPECT_EQ(cache_->stats().dataset_size_bytes, uint64_t{1} << 20);
  auto other = files_->open("b", {.size_bytes = 4096});
  EXPECT_EQ(cache_->stats().dataset_size_bytes, (uint64_t{1} << 20) + 4096);
  write(1 << 20, 4096, 1);
  other->grow_to(8192);
  other->grow_to(512);
  EXPECT_EQ(cache_->stats().dataset_size_bytes, (uint64_t{1} << 20) + 4096 + 8192);
  files_->close("b", *other, {.size_bytes = 8192});
  EXPECT_EQ(cache_->stats().dataset_size_bytes, (uint64_t{1} << 20) + 4096);
  files_->forget("a");
  EXPECT_EQ(cache_->stats().dataset_size_bytes, 0u);
}

TEST_F(FileBlockCacheTest, TheExtentMapFollowsWhatTheCacheEvicts) {
  open_cache();
  for (uint64_t i = 0; i < 100'000; ++i) read(i * 4096, 4096, 1, &bytes_);
  const uint64_t blocks = cache_->stats().blocks;
  EXPECT_LT(files_->stats().extents, 3 * blocks);
  uint64_t served = 0;
  for (uint64_t i = 99'500; i < 100'000; ++i) served += read(i * 4096, 4096, 1, &bytes_) ? 1 : 0;
  EXPECT_GT(served, 300u);
}

// Blocks enter one file after the other, and evict those of the files before.
TEST_F(FileBlockCacheTest, NoMapKeepsWhatTheCacheEvictedOfAFileThatIsIdle) {
  open_cache("&size=1MiB");
  for (int number = 0; number < 100; ++number) {
    const std::string path = "file" + std::to_string(number);
    file_ = files_->open(path, {});
    for (uint64_t i = 0; i < 256; ++i) read(i * 4096, 4096, 1, &bytes_);
    if (number % 2 == 0) files_->close(path, *file_, {});
  }
  EXPECT_LE(cache_->stats().blocks, 256u);
  // A thread follows: another 25,600 blocks at most, and it is done.
  while (files_->stats().extents > 256 + 1024 + 100 * 16) std::this_thread::yield();
  EXPECT_EQ(files_->stats().files, 51u) << "those that are open";
}

TEST_F(FileBlockCacheTest, AClosedFileIsForgottenWithItsLastBlock) {
  open_cache("&size=1MiB");
  for (int number = 0; number < 100; ++number) {
    const std::string path = "file" + std::to_string(number);
    file_ = files_->open(path, {});
    read(0, 4096, 1, &bytes_);
    files_->close(path, *file_, {});
  }
  EXPECT_GT(files_->stats().metadata_bytes, 100 * sizeof(CachedFile));
  file_ = files_->open("another", {});
  // Each of its blocks evicts one; a thread follows.
  for (uint64_t i = 0; files_->stats().metadata_bytes > 50 * sizeof(CachedFile); ++i) {
    read(i * 4096, 4096, 1, &bytes_);
  }
}

// Each file is the first large one that its cache drops, and two databases drop theirs at once.
TEST_F(FileBlockCacheTest, TwoLargeFilesMayBeForgottenAtOnce) {
  for (int round = 0; round < 20; ++round) {
    open_cache("&size=32MiB");
    const auto other = files_->open("b", {});
    for (uint64_t i = 0; i < 2000; ++i) {
      for (const auto& each : {file_, other}) {
        ReadTicket ticket;
        bytes_.assign(4096, std::byte{1});
        if (!each->read(i * 4096, bytes_, &ticket)) each->offer(i * 4096, bytes_, ticket);
      }
    }
    ASSERT_EQ(cache_->stats().blocks, 4000u);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (const char* path : {"a", "b"}) {
      threads.emplace_back([&, path] {
        for (++ready; ready != 2;) std::this_thread::yield();
        files_->forget(path);
      });
    }
    for (std::thread& each : threads) each.join();
    files_->drain();
    EXPECT_EQ(cache_->stats().blocks, 0u);
  }
}

TEST_F(FileBlockCacheTest, WithoutACacheItCountsAndPassesBy) {
  files_ = std::make_unique<FileBlockCache>(nullptr);
  file_ = files_->open("a", {.size_bytes = 4096});
  const uint64_t before = FileBlockCache::thread_disk_reads();
  EXPECT_FALSE(read(0, 4096, 1, &bytes_));
  EXPECT_FALSE(read(0, 4096, 1, &bytes_));
  write(4096, 4096, 2);
  EXPECT_EQ(FileBlockCache::thread_disk_reads() - before, 2u);
  EXPECT_EQ(count(FileCount::kDiskReads), 2u);
  EXPECT_EQ(count(FileCount::kWrites), 1u);
  EXPECT_EQ(files_->stats().dataset_bytes, 8192u);
}

}  // namespace
}  // namespace nvcache
