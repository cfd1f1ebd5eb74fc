// The bytes of the list of removals: a header, keys, runs of outdated regions, and of each region
// with removed blocks its number, how many they are, and their offsets.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "block_cache/region/removal_list.h"

namespace nvcache {
namespace {

constexpr uint64_t kListMagic = 0x32766f6d6572766eull;
// Of version 1 of the superblock, with immutable keys: keys alone.
constexpr uint64_t kKeysMagic = 0x3164657361726576ull;

struct RawHeader {
  uint64_t magic;
  uint64_t nonce;
  uint64_t checksum;  // of the rest of the header, and of all that follows
  uint64_t number;
  uint64_t all_until;
  uint64_t keys;
  uint64_t places_until;
  uint32_t runs;
  uint32_t words;  // of the places
};
static_assert(sizeof(RawHeader) == RemovalList::kHeaderBytes);

RawHeader read_header(ByteView from) {
  RawHeader raw;
  std::memcpy(&raw, from.data(), sizeof raw);
  // The last two words had no meaning.
  if (raw.magic == kKeysMagic) raw.places_until = raw.runs = raw.words = 0;
  return raw;
}

uint64_t checksum_of_list(ByteView list) {
  constexpr size_t kFrom = offsetof(RawHeader, number);
  const ByteView rest = list.subspan(kFrom);
  return hash_bytes(std::string_view(reinterpret_cast<const char*>(rest.data()), rest.size()));
}

class Writer {
 public:
  explicit Writer(MutableBytes to) : to_(to) {}
  void add(const void* from, size_t bytes) {
    if (bytes != 0) std::memcpy(to_.data(), from, bytes);
    to_ = to_.subspan(bytes);
  }

 private:
  MutableBytes to_;
};

}  // namespace

void RemovalList::encode(uint64_t nonce, MutableBytes to) const {
  std::vector<uint32_t> words;
  words.reserve(places_.size() + 2 * groups());
  size_t count_at = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (i == 0 || places_[i].region != places_[i - 1].region) {
      words.push_back(places_[i].region);
      count_at = words.size();
      words.push_back(0);
    }
    ++words[count_at];
    words.push_back(places_[i].offset_grains);
  }
  RawHeader raw{.magic = kListMagic,
                .nonce = nonce,
                .checksum = 0,
                .number = number_,
                .all_until = all_until_,
                .keys = keys_.size(),
                .places_until = places_until_,
                .runs = static_cast<uint32_t>(outdated_.size()),
                .words = static_cast<uint32_t>(words.size())};
  Writer writer(to);
  writer.add(&raw, sizeof raw);
  writer.add(keys_.data(), keys_.size() * sizeof(Key));
  writer.add(outdated_.data(), outdated_.size() * sizeof(Run));
  writer.add(words.data(), words.size() * sizeof(uint32_t));
  raw.checksum = checksum_of_list(to.first(encoded_bytes()));
  std::memcpy(to.data(), &raw, sizeof raw);
}

std::optional<uint64_t> RemovalList::size_in(uint64_t nonce, ByteView header) {
  if (header.size() < kHeaderBytes) return std::nullopt;
  const RawHeader raw = read_header(header);
  if ((raw.magic != kListMagic && raw.magic != kKeysMagic) || raw.nonce != nonce) {
    return std::nullopt;
  }
  const uint64_t bytes = kHeaderBytes + std::min<uint64_t>(raw.keys, kMostKeys) * sizeof(Key) +
                         uint64_t{raw.runs} * sizeof(Run) + uint64_t{raw.words} * sizeof(uint32_t);
  return std::min(bytes, kHalfBytes);
}

std::optional<RemovalList> RemovalList::decode(uint64_t nonce, ByteView from) {
  const std::optional<uint64_t> size = size_in(nonce, from);
  if (!size || from.size() < *size) return std::nullopt;
  const RawHeader raw = read_header(from);
  if (raw.checksum != checksum_of_list(from.first(*size))) return std::nullopt;
  const uint64_t keys_bytes = raw.keys > kMostKeys ? *size : raw.keys * sizeof(Key);
  const uint64_t places_bytes =
      uint64_t{raw.runs} * sizeof(Run) + uint64_t{raw.words} * sizeof(uint32_t);
  if (kHeaderBytes + keys_bytes + places_bytes != *size) return std::nullopt;
  RemovalList list;
  list.number_ = raw.number;
  list.all_until_ = raw.all_until;
  list.places_until_ = raw.places_until;
  const ByteView keys = from.subspan(kHeaderBytes, keys_bytes);
  const ByteView places = from.subspan(kHeaderBytes + keys_bytes, places_bytes);
  if (!list.decode_keys(raw.keys, keys) || !list.decode_places(raw.words, raw.runs, places)) {
    return std::nullopt;
  }
  return list;
}

bool RemovalList::decode_keys(uint64_t count, ByteView from) {
  keys_.resize(count);
  if (count > 0) std::memcpy(keys_.data(), from.data(), from.size());
  return std::ranges::is_sorted(keys_, [](const Key& a, const Key& b) {
    return std::tie(a.key.file, a.key.offset) < std::tie(b.key.file, b.key.offset);
  });
}

bool RemovalList::decode_places(uint64_t word_count, uint64_t run_count, ByteView from) {
  outdated_.resize(run_count);
  std::vector<uint32_t> words(word_count);
  const size_t run_bytes = run_count * sizeof(Run);
  if (run_bytes != 0) std::memcpy(outdated_.data(), from.data(), run_bytes);
  if (word_count != 0) {
    std::memcpy(words.data(), from.data() + run_bytes, word_count * sizeof(uint32_t));
  }
  for (size_t at = 0; at < words.size();) {
    if (words.size() - at < 2 || words.size() - at - 2 < words[at + 1]) return false;
    const uint32_t region = words[at];
    const size_t end = at + 2 + words[at + 1];
    for (at += 2; at < end; ++at) places_.push_back({region, words[at]});
  }
  return std::ranges::is_sorted(places_);
}

RemovalList RemovalList::load(uint64_t nonce, uint64_t least, uint64_t until, const Read& read) {
  RemovalList newest;
  int damaged = 0;
  bool unread = false;
  for (uint64_t half = 0; half < 2; ++half) {
    const uint64_t at = Geometry::kRemovedAt + half * kHalfBytes;
    std::vector<std::byte> bytes(kHeaderBytes);
    unread = unread || !read(at, bytes).ok();
    const std::optional<uint64_t> size = size_in(nonce, bytes);
    if (!size) continue;
    bytes.resize(*size);
    unread = unread || !read(at, bytes).ok();
    std::optional<RemovalList> list = decode(nonce, bytes);
    if (!list) {
      ++damaged;
    } else if (list->number() > newest.number()) {
      newest = *std::move(list);
    }
  }
  if (unread || damaged == 2 || newest.number() < least) newest.forget_all(until);
  return newest;
}

uint64_t checksum_of_version_1(std::span<const RemovalList::Place> removed) {
  return hash_bytes({reinterpret_cast<const char*>(removed.data()), removed.size_bytes()});
}

}  // namespace nvcache
