// Inspects a medium in regions that is made of any bytes: its superblock has any values under a
// right checksum, its first regions end in footers with right checksums, and the rest is the input,
// again and again. Reads stay within the medium, and what is counted agrees.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "block_cache/region/format.h"
#include "block_cache/region/inspect.h"
#include "nvcache/status.h"

namespace nvcache {
namespace {

constexpr uint64_t kNonce = 7;
constexpr uint64_t kMostBytes = 2 << 20;

// Takes the input from its start.
class Input {
 public:
  explicit Input(ByteView bytes) : bytes_(bytes) {}
  uint32_t word() {
    uint32_t word = 0;
    const size_t taken = std::min(bytes_.size(), sizeof word);
    if (taken != 0) std::memcpy(&word, bytes_.data(), taken);
    bytes_ = bytes_.subspan(taken);
    return word;
  }
  ByteView rest() const { return bytes_; }

 private:
  ByteView bytes_;
};

void repeat(ByteView bytes, MutableBytes into) {
  std::fill(into.begin(), into.end(), std::byte{});
  size_t filled = std::min(bytes.size(), into.size());
  if (filled == 0) return;
  std::memcpy(into.data(), bytes.data(), filled);
  while (filled < into.size()) {
    const size_t count = std::min(filled, into.size() - filled);
    std::memcpy(into.data() + filled, into.data(), count);
    filled += count;
  }
}

Superblock superblock_of(Input& input) {
  const uint32_t shape = input.word();
  return {.geometry = {.grain_bytes = 1u << shape % 32,
                       .unit_bytes = 1u << shape / 32 % 32,
                       .region_bytes = uint64_t{1} << shape / 1024 % 64},
          .nonce = kNonce,
          .opening = input.word(),
          .closed = (shape >> 16 & 1) != 0,
          .immutable_keys = (shape >> 17 & 1) != 0,
          .regions = input.word(),
          .list_number = input.word()};
}

// The regions' own bytes stay; their ends become an index of them.
void seal(const Geometry& geometry, uint32_t region, Input& input, MutableBytes image) {
  const uint64_t count = input.word() % 64;
  const uint64_t end = geometry.end_of(region);
  if (end > image.size() || RegionFooter::tail_bytes(count) > geometry.region_bytes) return;
  std::vector<BlockRecord> records(count);
  const size_t bytes = count * sizeof(BlockRecord);
  std::byte* const at = image.data() + end - RegionFooter::tail_bytes(count);
  if (count != 0) std::memcpy(records.data(), at, bytes);
  for (BlockRecord& record : records) {
    record.offset_grains %= 512;
    record.size_bytes %= 8192;
  }
  if (count != 0) std::memcpy(at, records.data(), bytes);
  const RegionFooter footer{.region = region,
                            .count = static_cast<uint32_t>(count),
                            .sequence = input.word(),
                            .checksum = checksum_records(kNonce, records)};
  footer.encode(kNonce, image.subspan(end - RegionFooter::kBytes, RegionFooter::kBytes));
}

void inspect(ByteView bytes) {
  static std::vector<std::byte> whole(kMostBytes);
  Input input(bytes);
  const MutableBytes image = MutableBytes(whole).first(input.word() % kMostBytes);
  const Superblock superblock = superblock_of(input);
  repeat(input.rest(), image);
  for (uint64_t copy = 0; copy < 2; ++copy) {
    const uint64_t at = copy * Geometry::kCopyBytes;
    if (at + Superblock::kBytes <= image.size()) superblock.encode(image.subspan(at));
  }
  for (uint32_t region = 0; region < 4; ++region) seal(superblock.geometry, region, input, image);
  const auto read = [image](uint64_t offset, MutableBytes into) -> Status {
    if (offset > image.size() || image.size() - offset < into.size()) __builtin_trap();
    std::memcpy(into.data(), image.data() + offset, into.size());
    return ok_status();
  };
  const auto found = inspect_regions(read, image.size(), {.read_blocks = true});
  if (!found.ok()) return;
  BlockTotals live;
  for (const InspectedFile& file : found->files) {
    live.blocks += file.live.blocks;
    live.bytes += file.live.bytes;
  }
  if (live.blocks != found->live.blocks || live.bytes != found->live.bytes) __builtin_trap();
  if (found->damaged_blocks > live.blocks + found->outdated.blocks) __builtin_trap();
  const uint64_t regions = uint64_t{found->sealed_regions()} + found->free_regions +
                           found->damaged_regions + found->missing_regions;
  if (regions != found->region_count) __builtin_trap();
}

}  // namespace
}  // namespace nvcache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nvcache::inspect({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
