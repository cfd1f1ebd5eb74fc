// Any bytes as superblock, footer and records of a region, and as the medium of a cache.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "block_cache/face/block_cache_impl.h"
#include "block_cache/region/format.h"
#include "block_cache/region/removal_list.h"
#include "support/power_loss_medium.h"

namespace nvcache {
namespace {

constexpr uint64_t kSizeBytes = 3 << 20;
constexpr uint64_t kRegionBytes = 64 << 10;

void decode(ByteView bytes) {
  constexpr Geometry kGeometry{.region_bytes = 64 << 10};
  (void)Superblock::decode(bytes);
  (void)RegionFooter::decode_of(kGeometry, 0, 0, bytes);
  uint64_t nonce = 0;  // the list's own
  if (bytes.size() >= 16) std::memcpy(&nonce, bytes.data() + 8, sizeof nonce);
  if (const auto list = RemovalList::decode(nonce, bytes)) (void)list->covers({1, 1}, 1);
  std::vector<BlockRecord> records(bytes.size() / sizeof(BlockRecord));
  if (!records.empty()) {
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(BlockRecord));
  }
  const RegionFooter footer{.count = static_cast<uint32_t>(records.size()),
                            .checksum = checksum_records(0, records)};
  if (!is_whole(kGeometry, 0, footer, records)) return;
  for (const BlockRecord& record : records) {
    const uint64_t place = kGeometry.place_of(1, record.offset_grains);
    if (record.size_bytes != 0 && kGeometry.region_of(place) != 1) __builtin_trap();
  }
}

// A valid superblock, and behind the last bytes of a region a footer that fits them.
std::vector<std::byte> image_of(ByteView bytes) {
  std::vector<std::byte> image(kSizeBytes);
  const Superblock superblock{
      .geometry = {.region_bytes = kRegionBytes}, .nonce = 7, .opening = 2, .closed = true};
  superblock.encode(image);
  const uint64_t count = std::min<uint64_t>(bytes.size() / sizeof(BlockRecord), 64);
  std::vector<BlockRecord> records(count);
  if (count > 0) std::memcpy(records.data(), bytes.data(), count * sizeof(BlockRecord));
  const RegionFooter footer{.region = 1,
                            .count = static_cast<uint32_t>(count),
                            .sequence = 3,
                            .checksum = checksum_records(7, records)};
  const uint64_t end = Geometry::kHeadBytes + 2 * kRegionBytes;
  footer.encode(7, MutableBytes(image).subspan(end - RegionFooter::kBytes, RegionFooter::kBytes));
  if (count > 0) {
    std::memcpy(image.data() + end - RegionFooter::tail_bytes(count), records.data(),
                count * sizeof(BlockRecord));
  }
  return image;
}

void open_on(std::vector<std::byte> image, ByteView bytes) {
  static const Config config = *parse_config(
      "nvcache://?size=3MiB&space=regions&region=64KiB&maintenance=0&shards=1&admission=always"
      "&restart=warm");
  auto cache = BlockCacheImpl::make(config, std::make_unique<PowerLossMedium>(std::move(image)),
                                    system_clock());
  if (!cache.ok()) return;
  while ((*cache)->recovering()) std::this_thread::yield();
  for (size_t at = 0; at + sizeof(BlockKey) <= bytes.size(); at += sizeof(BlockRecord)) {
    BlockKey key;
    std::memcpy(&key, bytes.data() + at, sizeof key);
    (void)(*cache)->lookup(key);
  }
}

}  // namespace
}  // namespace nvcache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const nvcache::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  nvcache::decode(bytes);
  nvcache::open_on(nvcache::image_of(bytes), bytes);
  // The bytes instead of the superblock.
  std::vector<std::byte> image(nvcache::kSizeBytes);
  if (size > 0) std::memcpy(image.data(), data, std::min<size_t>(size, image.size()));
  nvcache::open_on(std::move(image), bytes);
  return 0;
}
