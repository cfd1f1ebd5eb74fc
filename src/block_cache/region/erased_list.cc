#include "block_cache/region/erased_list.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/hash.h"

namespace nvcache {
namespace {

constexpr uint64_t kListMagic = 0x3164657361726576ull;

struct RawHeader {
  uint64_t magic;
  uint64_t nonce;
  uint64_t checksum;  // of the rest of the header, and of all entries
  uint64_t number;
  uint64_t all_until;
  uint64_t count;
  uint64_t unused[2];
};
static_assert(sizeof(RawHeader) == ErasedList::kHeaderBytes);

RawHeader read_header(ByteView from) {
  RawHeader raw;
  std::memcpy(&raw, from.data(), sizeof raw);
  return raw;
}

uint64_t checksum_of_list(ByteView list) {
  constexpr size_t kFrom = offsetof(RawHeader, number);
  const ByteView rest = list.subspan(kFrom);
  return hash_bytes(std::string_view(reinterpret_cast<const char*>(rest.data()), rest.size()));
}

bool is_before(const BlockKey& a, const BlockKey& b) {
  return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
}

}  // namespace

std::vector<ErasedList::Entry>::iterator ErasedList::at(const BlockKey& key) {
  return std::ranges::lower_bound(entries_, key, is_before, &Entry::key);
}

void ErasedList::add(const BlockKey& key, uint64_t until) {
  const auto found = at(key);
  if (found != entries_.end() && found->key == key) {
    found->until = std::max(found->until, until);
  } else if (entries_.size() < kMost) {
    entries_.insert(found, {key, until});
  } else {
    forget_all(until);
  }
}

void ErasedList::forget_all(uint64_t until) {
  all_until_ = std::max(all_until_, until);
  for (const Entry& each : entries_) all_until_ = std::max(all_until_, each.until);
  entries_.clear();
}

bool ErasedList::covers_by_key(const BlockKey& key, uint64_t sequence) const {
  const auto covered = [&](const BlockKey& by) {
    const auto found = std::ranges::lower_bound(entries_, by, is_before, &Entry::key);
    return found != entries_.end() && found->key == by && sequence < found->until;
  };
  return covered(key) || covered({key.file, kWholeFile});
}

void ErasedList::encode(uint64_t nonce, MutableBytes to) const {
  RawHeader raw{.magic = kListMagic,
                .nonce = nonce,
                .checksum = 0,
                .number = number_,
                .all_until = all_until_,
                .count = entries_.size(),
                .unused = {}};
  std::memcpy(to.data(), &raw, sizeof raw);
  if (!entries_.empty()) {
    std::memcpy(to.data() + kHeaderBytes, entries_.data(), entries_.size() * kEntryBytes);
  }
  raw.checksum = checksum_of_list(to.first(encoded_bytes()));
  std::memcpy(to.data(), &raw, sizeof raw);
}

std::optional<uint64_t> ErasedList::size_in(uint64_t nonce, ByteView header) {
  if (header.size() < kHeaderBytes) return std::nullopt;
  const RawHeader raw = read_header(header);
  if (raw.magic != kListMagic || raw.nonce != nonce) return std::nullopt;
  return kHeaderBytes + std::min<uint64_t>(raw.count, kMost) * kEntryBytes;
}

std::optional<ErasedList> ErasedList::decode(uint64_t nonce, ByteView from) {
  const std::optional<uint64_t> size = size_in(nonce, from);
  if (!size || from.size() < *size) return std::nullopt;
  const RawHeader raw = read_header(from);
  if (raw.count > kMost || raw.checksum != checksum_of_list(from.first(*size))) return std::nullopt;
  ErasedList list;
  list.number_ = raw.number;
  list.all_until_ = raw.all_until;
  list.entries_.resize(raw.count);
  if (raw.count > 0) {
    std::memcpy(list.entries_.data(), from.data() + kHeaderBytes, raw.count * kEntryBytes);
  }
  const auto order = [](const Entry& a, const Entry& b) { return is_before(a.key, b.key); };
  if (!std::ranges::is_sorted(list.entries_, order)) return std::nullopt;
  return list;
}

absl::StatusOr<ErasedList> ErasedList::load(uint64_t nonce, uint64_t until, const Read& read) {
  ErasedList newest;
  int damaged = 0;
  for (uint64_t half = 0; half < 2; ++half) {
    const uint64_t at = Geometry::kRemovedAt + half * kHalfBytes;
    std::vector<std::byte> bytes(kHeaderBytes);
    if (absl::Status status = read(at, bytes); !status.ok()) return status;
    const std::optional<uint64_t> size = size_in(nonce, bytes);
    if (!size) continue;
    bytes.resize(*size);
    if (absl::Status status = read(at, bytes); !status.ok()) return status;
    std::optional<ErasedList> list = decode(nonce, bytes);
    if (!list) {
      ++damaged;
    } else if (list->number() > newest.number()) {
      newest = *std::move(list);
    }
  }
  if (damaged == 2) newest.forget_all(until);
  return newest;
}

}  // namespace nvcache
