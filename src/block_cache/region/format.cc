#include "block_cache/region/format.h"

#include <bit>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/test_hooks.h"
#include "fmt/format.h"
#include "medium/file_mark.h"
#include "nvcache/status.h"

namespace nvcache {
namespace {

static_assert(std::endian::native == std::endian::little, "records are mapped as they lie");

constexpr uint64_t kFooterMagic = 0x31746f6f66676572ull;
constexpr uint32_t kMostBlockBytes = 1 << 20;  // kMaxBlockBytes
constexpr uint64_t kMostRegionBytes = 1 << 30;

struct RawSuperblock {
  char magic[8];
  uint32_t version;
  uint32_t grain_bytes;
  uint32_t unit_bytes;
  uint32_t flags;
  uint64_t region_bytes;
  uint64_t nonce;
  uint64_t opening;
  uint64_t list_number;    // version 1: the checksum of its list
  uint32_t removed_count;  // version 1: of its list
  uint32_t regions;
  uint64_t owner;
  uint32_t unused[12];
  uint64_t checksum;
};
static_assert(sizeof(RawSuperblock) == Superblock::kBytes);

struct RawFooter {
  uint64_t magic;
  uint64_t sequence;
  uint64_t records_checksum;
  uint32_t region;
  uint32_t count;
  uint64_t unused[3];
  uint64_t checksum;
};
static_assert(sizeof(RawFooter) == RegionFooter::kBytes);

constexpr uint32_t kVersion1 = 1;
constexpr uint32_t kClosed = 1;
constexpr uint32_t kImmutableKeys = 2;

// The checksum of all bytes before it.
template <typename Raw>
uint64_t checksum_of(const Raw& raw, uint64_t seed) {
  const auto* const bytes = reinterpret_cast<const char*>(&raw);
  return fold_multiply(hash_bytes(std::string_view(bytes, offsetof(Raw, checksum))) ^ seed,
                       0x9e3779b97f4a7c15ull);
}

bool plausible(const Geometry& geometry) {
  return std::has_single_bit(geometry.unit_bytes) &&
         geometry.unit_bytes >= Geometry::kLeastUnitBytes &&
         geometry.unit_bytes <= Geometry::kMostUnitBytes &&
         std::has_single_bit(geometry.grain_bytes) && geometry.grain_bytes <= geometry.unit_bytes &&
         std::has_single_bit(geometry.region_bytes) &&
         geometry.region_bytes >= geometry.unit_bytes && geometry.region_bytes <= kMostRegionBytes;
}

}  // namespace

void Superblock::encode(MutableBytes to) const {
  RawSuperblock raw{};
  static_assert(kRegionsHead.size() == sizeof raw.magic);
  std::memcpy(raw.magic, kRegionsHead.data(), sizeof raw.magic);
  raw.version = kVersion;
  raw.grain_bytes = geometry.grain_bytes;
  raw.unit_bytes = geometry.unit_bytes;
  raw.flags = (closed ? kClosed : 0) | (immutable_keys ? kImmutableKeys : 0);
  raw.region_bytes = geometry.region_bytes;
  raw.nonce = nonce;
  raw.opening = opening;
  raw.owner = owner;
  raw.list_number = list_number;
  raw.regions = regions;
  raw.checksum = checksum_of(raw, 0);
  std::memcpy(to.data(), &raw, sizeof raw);
}

StatusOr<std::optional<Superblock>> Superblock::decode(ByteView from) {
  RawSuperblock raw;
  if (from.size() < sizeof raw) return std::optional<Superblock>();
  std::memcpy(&raw, from.data(), sizeof raw);
  if (std::string_view(raw.magic, sizeof raw.magic) != kRegionsHead) {
    return std::optional<Superblock>();
  }
  if (raw.version != kVersion && raw.version != kVersion1) {
    for (const uint32_t version : {kVersion1, kVersion}) {
      RawSuperblock own = raw;
      own.version = version;
      if (raw.checksum == checksum_of(own, 0)) return data_loss_error("a damaged superblock");
    }
    return failed_precondition_error(
        fmt::format("a superblock of version {}; this version of nvcache reads versions {} and {}",
                    raw.version, kVersion1, +kVersion));
  }
  Superblock found;
  found.geometry = {.grain_bytes = raw.grain_bytes,
                    .unit_bytes = raw.unit_bytes,
                    .region_bytes = raw.region_bytes};
  if (raw.checksum != checksum_of(raw, 0) || !plausible(found.geometry)) {
    return data_loss_error("a damaged superblock");
  }
  found.nonce = raw.nonce;
  found.opening = raw.opening;
  found.closed = (raw.flags & kClosed) != 0;
  found.immutable_keys = (raw.flags & kImmutableKeys) != 0;
  found.regions = raw.regions;
  found.owner = raw.owner;  // of version 1: 0
  if (raw.version == kVersion1) {
    found.version_1 = {.count = raw.removed_count, .checksum = raw.list_number};
  } else {
    found.list_number = raw.list_number;
  }
  return std::optional<Superblock>(found);
}

void RegionFooter::encode(uint64_t nonce, MutableBytes to) const {
  RawFooter raw{};
  raw.magic = kFooterMagic;
  raw.sequence = sequence;
  raw.records_checksum = checksum;
  raw.region = region;
  raw.count = count;
  raw.checksum = checksum_of(raw, nonce);
  std::memcpy(to.data(), &raw, sizeof raw);
}

std::optional<RegionFooter> RegionFooter::decode(uint64_t nonce, ByteView from) {
  RawFooter raw;
  if (from.size() < sizeof raw) return std::nullopt;
  std::memcpy(&raw, from.data(), sizeof raw);
  if (raw.magic != kFooterMagic || raw.checksum != checksum_of(raw, nonce)) return std::nullopt;
  return RegionFooter{.region = raw.region,
                      .count = raw.count,
                      .sequence = raw.sequence,
                      .checksum = raw.records_checksum};
}

bool RegionFooter::resembles_one(ByteView from) {
  return from.size() >= sizeof kFooterMagic &&
         std::memcmp(from.data(), &kFooterMagic, sizeof kFooterMagic) == 0;
}

std::optional<RegionFooter> RegionFooter::decode_of(const Geometry& geometry, uint64_t nonce,
                                                    uint32_t region, ByteView from) {
  const std::optional<RegionFooter> footer = decode(nonce, from);
  const bool right =
      footer && footer->region == region && tail_bytes(footer->count) <= geometry.region_bytes;
  return right ? footer : std::nullopt;
}

uint64_t checksum_records(uint64_t nonce, std::span<const BlockRecord> records) {
  const auto* const bytes = reinterpret_cast<const char*>(records.data());
  return hash_bytes(std::string_view(bytes, records.size_bytes())) ^ nonce;
}

bool records_fit(const Geometry& geometry, std::span<const BlockRecord> records) {
  const uint64_t tail_bytes = RegionFooter::tail_bytes(records.size());
  if (tail_bytes > geometry.region_bytes) return false;
  const uint64_t data_bytes = geometry.region_bytes - tail_bytes;
  for (const BlockRecord& record : records) {
    const uint64_t end = uint64_t{record.offset_grains} * geometry.grain_bytes + record.size_bytes;
    if (record.size_bytes > kMostBlockBytes || end > data_bytes) return false;
  }
  return true;
}

bool is_whole(const Geometry& geometry, uint64_t nonce, const RegionFooter& footer,
              std::span<const BlockRecord> records) {
  const bool right =
      test_hooks.skip_region_check || checksum_records(nonce, records) == footer.checksum;
  return records.size() == footer.count && right && records_fit(geometry, records);
}

}  // namespace nvcache
