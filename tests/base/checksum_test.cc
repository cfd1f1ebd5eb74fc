// Checksums are the same whatever registers they are computed in (here, in those that every
// processor has): blocks that one machine wrote, another has to verify.
#define XXH_INLINE_ALL
#include <span>
#include <string>

#include "base/hash.h"
#include "base/prng.h"
#include "gtest/gtest.h"
#include "xxhash.h"

namespace nvcache {
namespace {

// Sizes around the steps of XXH3: 16, 128, 240, a stripe of 64 and a block of 1024 bytes.
constexpr size_t kSizes[] = {0,   1,   16,   17,   63,   64,   65,    128,   129,   240,
                             241, 512, 1023, 1024, 1025, 4096, 16384, 28672, 28673, 1 << 20};

std::string random_bytes(size_t size_bytes) {
  Prng random(7);
  std::string bytes(size_bytes, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(Checksum, IsXxh3) {
  for (const size_t size_bytes : kSizes) {
    const std::string bytes = random_bytes(size_bytes);
    EXPECT_EQ(hash_bytes(bytes), XXH3_64bits(bytes.data(), bytes.size())) << size_bytes;
  }
}

TEST(Checksum, OfABlockIsXxh3WithAHashOfItsKey) {
  for (const size_t size_bytes : kSizes) {
    const std::string bytes = random_bytes(size_bytes);
    const BlockKey key{size_bytes, 0x9e3779b97f4a7c15};
    const uint64_t expected = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash_key(key, 0));
    EXPECT_EQ(checksum_block(key, std::as_bytes(std::span(bytes))), static_cast<uint32_t>(expected))
        << size_bytes;
  }
}

}  // namespace
}  // namespace nvcache
