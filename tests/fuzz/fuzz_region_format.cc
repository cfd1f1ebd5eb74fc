// Any bytes as superblock, footer and records of a region.
#include <cstdint>
#include <cstring>
#include <vector>

#include "block_cache/region/format.h"

namespace nvcache {
namespace {

void decode(ByteView bytes) {
  constexpr Geometry kGeometry{.region_bytes = 64 << 10};
  (void)Superblock::decode(bytes);
  (void)RegionFooter::decode_of(kGeometry, 0, 0, bytes);
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

}  // namespace
}  // namespace nvcache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nvcache::decode({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
