// Shared by the tests of the block cache: blocks whose bytes tell their key, and caches on a
// specification or on the test's own medium.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "block_cache/face/block_cache_impl.h"
#include "gtest/gtest.h"
#include "nvcache/block_cache.h"
#include "support/temp_dir.h"

namespace nvcache::test {

// `version` tells one block of a key from its successor.
inline std::vector<std::byte> make_block(const BlockKey& key, size_t size_bytes,
                                         uint64_t version = 0) {
  std::vector<std::byte> block(size_bytes);
  Prng random(mix64(key.file) ^ mix64(key.offset + 1) ^ mix64(version + 2));
  for (size_t i = 0; i < size_bytes; i += 8) {
    const uint64_t word = random();
    std::memcpy(block.data() + i, &word, std::min<size_t>(8, size_bytes - i));
  }
  return block;
}

inline bool holds(ByteView bytes, const BlockKey& key, size_t size_bytes, uint64_t version = 0) {
  const std::vector<std::byte> want = make_block(key, size_bytes, version);
  return bytes.size() == want.size() && std::memcmp(bytes.data(), want.data(), want.size()) == 0;
}

inline std::unique_ptr<BlockCache> open(const std::string& spec) {
  StatusOr<std::unique_ptr<BlockCache>> cache = open_block_cache(spec);
  EXPECT_TRUE(cache.ok()) << spec << ": " << cache.status();
  return cache.ok() ? *std::move(cache) : nullptr;
}

// A cache on a medium that the test made.
inline std::unique_ptr<BlockCacheImpl> make_on(const std::string& spec,
                                               std::unique_ptr<Medium> medium,
                                               Clock& clock = system_clock()) {
  const StatusOr<Config> config = parse_config(spec);
  EXPECT_TRUE(config.ok()) << config.status();
  StatusOr<std::unique_ptr<BlockCacheImpl>> cache =
      BlockCacheImpl::make(*config, std::move(medium), clock);
  EXPECT_TRUE(cache.ok()) << cache.status();
  return *std::move(cache);
}

inline uint64_t erase_files(BlockCache& cache, const std::vector<uint64_t>& files,
                            Gone gone = Gone::kForGood) {
  const StatusOr<uint64_t> erased = cache.erase(Blocks{.files = files}, gone);
  EXPECT_TRUE(erased.ok()) << erased.status();
  return erased.value_or(0);
}
inline uint64_t erase_file(BlockCache& cache, uint64_t file) { return erase_files(cache, {file}); }

inline Verdict put(BlockCache& cache, const BlockKey& key, size_t size_bytes,
                   uint64_t version = 0) {
  return cache.put(key, make_block(key, size_bytes, version), Origin::kRead);
}

}  // namespace nvcache::test
