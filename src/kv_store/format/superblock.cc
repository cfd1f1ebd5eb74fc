#include "kv_store/format/superblock.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/test_hooks.h"
#include "base/text.h"

namespace nvcache {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kStateAt = kPageBytes;  // two lines, a page apart
constexpr uint64_t kHeadersAt = 3 * kPageBytes;
// Descriptors of a group's 80 that are in use when the medium is full: buckets overflow, groups do
// not.
constexpr uint64_t kUsedPerGroup = 56;
constexpr size_t kWords = 14;  // magic, version, geometry, nonce, check
constexpr size_t kStateWords = 7;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

uint64_t check_of(const uint64_t* words, size_t count, uint64_t salt) {
  return mix64(salt ^ hash_bytes({reinterpret_cast<const char*>(words), count * 8}));
}

bool all_zero(const std::byte* from, uint64_t size_bytes) {
  return size_bytes == 0 ||
         (*from == std::byte{0} && std::memcmp(from, from + 1, size_bytes - 1) == 0);
}

std::array<uint64_t, kWords> words_of(const KvSuperblock& block) {
  const KvGeometry& g = block.geometry;
  std::array<uint64_t, kWords> words = {kKvMagic,
                                        kKvFormatVersion,
                                        g.size_bytes,
                                        g.zone_bytes,
                                        g.zones,
                                        g.groups,
                                        g.version_bits,
                                        g.headers_at,
                                        g.uses_at,
                                        g.table_at,
                                        g.zones_at,
                                        block.nonce,
                                        0,
                                        0};
  words[kWords - 1] = check_of(words.data(), kWords - 1, 0);
  return words;
}

// True if all parts lie on the medium, in order and without overlap.
bool plausible(const KvGeometry& g, uint64_t medium_bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 43;
  if (g.size_bytes > medium_bytes || g.size_bytes > kMost || g.zones < 3 || g.groups == 0 ||
      g.zone_bytes < kPageBytes || g.zone_bytes > (uint64_t{1} << 31) ||
      g.zone_bytes % kKvLineBytes != 0 || g.version_bits < 2 || g.version_bits > 32) {
    return false;
  }
  if (g.zones > g.size_bytes / g.zone_bytes || g.groups > g.size_bytes / kKvGroupSlots)
    return false;
  return g.headers_at == kHeadersAt && g.uses_at == g.headers_at + g.zones * kKvLineBytes &&
         g.table_at == round_up(g.uses_at + g.slots(), kPageBytes) &&
         g.zones_at == round_up(g.table_at + g.slots() * sizeof(KvDescriptor), kPageBytes) &&
         g.zones_at + g.zones * g.zone_bytes <= g.size_bytes;
}

}  // namespace

StatusOr<KvGeometry> plan_geometry(uint64_t size_bytes, uint64_t zone_bytes, uint64_t item_bytes,
                                   uint64_t version_bits) {
  KvGeometry g{.size_bytes = size_bytes, .zone_bytes = zone_bytes, .version_bits = version_bits};
  g.groups = std::max<uint64_t>(1, size_bytes / item_bytes / kUsedPerGroup);
  g.zones = size_bytes / zone_bytes;
  g.headers_at = kHeadersAt;
  g.uses_at = g.headers_at + g.zones * kKvLineBytes;
  g.table_at = round_up(g.uses_at + g.slots(), kPageBytes);
  g.zones_at = round_up(g.table_at + g.slots() * sizeof(KvDescriptor), kPageBytes);
  const uint64_t left = size_bytes > g.zones_at ? (size_bytes - g.zones_at) / zone_bytes : 0;
  if (left < 3) {
    return invalid_argument(
        "size: {} bytes leave {} zones of {} bytes beside {} bytes of table; allowed: 3 zones or "
        "more (a larger size, smaller zones, or a larger item)",
        size_bytes, left, zone_bytes, g.zones_at);
  }
  // Fewer zones need fewer headers; the room that this leaves stays unused.
  g.zones = left;
  g.uses_at = g.headers_at + g.zones * kKvLineBytes;
  g.table_at = round_up(g.uses_at + g.slots(), kPageBytes);
  g.zones_at = round_up(g.table_at + g.slots() * sizeof(KvDescriptor), kPageBytes);
  return g;
}

// An item takes its bytes in a zone, and its share of the table: a descriptor and a mark for each
// place, of which 56 in 80 are in use.
uint64_t planned_item_bytes(uint64_t items, uint64_t item_bytes) {
  constexpr uint64_t kTableBytes =
      (kKvGroupSlots * (sizeof(KvDescriptor) + 1) + kUsedPerGroup - 1) / kUsedPerGroup;
  return items == 0 ? 0 : item_bytes / items + kTableBytes;
}

// A copy of the store pays where a quarter more items find room by it.
uint64_t fitting_item_bytes(const KvGeometry& geometry, uint64_t items, uint64_t item_bytes) {
  const bool is_full = items * 5 > geometry.slots() * 4;
  const uint64_t fitting = planned_item_bytes(items, item_bytes);
  const uint64_t planned = geometry.size_bytes / (geometry.groups * kUsedPerGroup);
  return is_full && fitting + fitting / 4 < planned ? fitting : 0;
}

KvSuperblockFile::KvSuperblockFile(KvMedium& on, uint64_t nonce)
    : on_(on), base_(const_cast<std::byte*>(on.medium->direct().data())), nonce_(nonce) {}

StatusOr<bool> KvSuperblockFile::load(KvSuperblock* superblock, KvState* state) {
  if (on_.medium->size_bytes() < kHeadersAt) {
    return invalid_argument("medium: {} bytes; allowed: {} or more", on_.medium->size_bytes(),
                            kHeadersAt);
  }
  const uint64_t magic = load_word(base_, std::memory_order_relaxed);
  if (magic == kKvFormattingMagic) return false;
  if (magic != kKvMagic) {
    if (all_zero(base_, kHeadersAt)) return false;
    return failed_precondition_error(
        "the medium holds something that is not a key-value store; nothing was changed. "
        "Allowed: a new or empty file, or one that holds a store");
  }
  auto parsed = parse();
  if (!parsed.ok()) return parsed.status();
  nonce_ = parsed->nonce;
  if (!load_state(state, nonce_)) {
    return failed_precondition_error(
        "the store's state is damaged in both of its copies; nothing was changed. Remove the file "
        "to start with an empty store");
  }
  *superblock = *parsed;
  return true;
}

StatusOr<KvSuperblock> KvSuperblockFile::parse() const {
  std::array<uint64_t, kWords> words;
  std::memcpy(words.data(), base_, sizeof(words));
  if (words[1] != kKvFormatVersion) {
    return failed_precondition_error(
        fmt::format("the medium holds a store of format version {}; this program reads version {}; "
                    "nothing was changed",
                    words[1], kKvFormatVersion));
  }
  KvSuperblock block;
  block.geometry = {.size_bytes = words[2],
                    .zone_bytes = words[3],
                    .zones = words[4],
                    .groups = words[5],
                    .version_bits = words[6],
                    .headers_at = words[7],
                    .uses_at = words[8],
                    .table_at = words[9],
                    .zones_at = words[10]};
  block.nonce = words[11];
  if (words[kWords - 1] != check_of(words.data(), kWords - 1, 0) ||
      !plausible(block.geometry, on_.medium->size_bytes())) {
    return failed_precondition_error(
        "the store's superblock is damaged; nothing was changed. Remove the file to start with an "
        "empty store");
  }
  return block;
}

bool KvSuperblockFile::load_state(KvState* state, uint64_t nonce) const {
  bool found = false;
  for (const uint64_t at : {kStateAt, kStateAt + kPageBytes}) {
    std::array<uint64_t, kStateWords> words;
    std::memcpy(words.data(), base_ + at, sizeof(words));
    if (words[kStateWords - 1] != check_of(words.data(), kStateWords - 1, nonce)) continue;
    if (found && words[0] <= state->sequence) continue;
    found = true;
    *state = {.sequence = words[0],
              .cas = words[1],
              .outdated_cas = words[4],
              .boot = words[2],
              .clean = (words[3] & 1) != 0,
              .invalidates = (words[3] & 2) != 0,
              .power = (words[3] & 4) != 0,
              .torn = (words[3] & 8) != 0};
  }
  return found;
}

Status KvSuperblockFile::write_state(const KvState& state) {
  std::array<uint64_t, kStateWords> words = {
      state.sequence, state.cas, state.boot,
      uint64_t{state.clean} | uint64_t{state.invalidates} << 1 | uint64_t{state.power} << 2 |
          uint64_t{state.torn} << 3,
      state.outdated_cas};
  words[kStateWords - 1] = check_of(words.data(), kStateWords - 1, nonce_);
  const uint64_t at = kStateAt + (state.sequence % 2) * kPageBytes;
  std::memcpy(base_ + at, words.data(), sizeof(words));
  if (test_hooks.skip_state_flush) return ok_status();
  return persist(at, sizeof(words));
}

Status KvSuperblockFile::format(const KvSuperblock& superblock, uint64_t cas) {
  const KvGeometry& g = superblock.geometry;
  const bool again = load_word(base_, std::memory_order_relaxed) == kKvFormattingMagic;
  // Checked before anything is written: another program's file may start with zeros.
  for (uint64_t at = kHeadersAt; !again && !on_.blank && at < g.zones_at; at += kPageBytes) {
    if (!all_zero(base_ + at, kPageBytes)) {
      return failed_precondition_error(
          "the medium holds something that is not a key-value store; nothing was changed. "
          "Allowed: a new or empty file, or one that holds a store");
    }
  }
  if (Status status = begin_format(); !status.ok()) return status;
  if (again) std::memset(base_ + 8, 0, g.zones_at - 8);
  return finish_format(superblock, cas);
}

Status KvSuperblockFile::replace(const KvSuperblock& superblock, uint64_t cas) {
  if (Status status = begin_format(); !status.ok()) return status;
  if (!test_hooks.keep_old_table) std::memset(base_ + 8, 0, superblock.geometry.zones_at - 8);
  return finish_format(superblock, cas);
}

// From here on the medium holds no store, until the last word is there.
Status KvSuperblockFile::begin_format() {
  store_word(base_, kKvFormattingMagic, std::memory_order_relaxed);
  return persist(0, 8);
}

Status KvSuperblockFile::finish_format(const KvSuperblock& superblock, uint64_t cas) {
  const KvGeometry& g = superblock.geometry;
  nonce_ = superblock.nonce;
  for (uint64_t zone = 0; zone < g.zones; ++zone) {
    store_word(base_ + g.headers_at + zone * kKvLineBytes, kv_version_word(1, zone, nonce_),
               std::memory_order_relaxed);
  }
  if (Status status = persist(kPageBytes, g.zones_at - kPageBytes); !status.ok()) {
    return status;
  }
  if (Status status = write_state(
          {.sequence = 1, .cas = cas, .clean = true, .invalidates = true, .power = true});
      !status.ok()) {
    return status;
  }
  const auto words = words_of(superblock);
  std::memcpy(base_ + 8, words.data() + 1, sizeof(words) - 8);
  if (Status status = persist(0, sizeof(words)); !status.ok()) return status;
  store_word(base_, kKvMagic, std::memory_order_relaxed);
  return persist(0, 8);
}

}  // namespace nvcache
