// The blocks that a medium in regions still holds and must not serve again. There is one list on a
// medium, no matter who opened it, or with which promise about keys. It says so in three ways, each
// up to a sequence of regions; what is written later is not meant:
//
//   keys      a key, or all of a file: blocks that were erased durably, or whose region was not
//             read yet when they were erased
//   places    a block of a region: with mutable keys, what was removed and still lies there
//   outdated  regions that were emptied, or given up
//
// The list lies in two halves beside the superblock, and is written whole, to the half that is
// older: a write that is cut short leaves the other one as it was. docs/design/regions.md has the
// bytes. In DRAM: 24 bytes a key, 8 a place, 8 a run of regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "block_cache/index/recovered_block.h"
#include "block_cache/region/geometry.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"

namespace nvcache {

// Caller-locked. Functions that add may throw std::bad_alloc; then nothing has changed.
class RemovalList {
 public:
  static constexpr uint64_t kHalfBytes = Geometry::kRemovedBytes / 2;
  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kKeyBytes = 24;
  static constexpr size_t kMostKeys = (kHalfBytes - kHeaderBytes) / kKeyBytes;
  struct Place {
    uint32_t region = 0;
    uint32_t offset_grains = 0;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Run {  // of regions
    uint32_t first = 0;
    uint32_t count = 0;

    friend bool operator==(const Run&, const Run&) = default;
  };

  // ---- keys

  // Regions whose sequence is below `until` do not bring the key back; with the offset kWholeFile,
  // the file: a block that is there goes with it. A list that is full of keys
  // forgets them, and covers all that is older.
  void add(const BlockKey& key, uint64_t until);
  // Whether a block of that key, in a region of that sequence, is on the list by its key.
  bool covers(const BlockKey& key, uint64_t sequence) const {
    return sequence < all_until_ || (!keys_.empty() && covers_by_key(key, sequence));
  }
  // Covers all regions below.
  void forget_all(uint64_t until);
  // All regions below this are covered, with all that is in them.
  uint64_t all_until() const { return all_until_; }
  size_t keys() const { return keys_.size(); }

  // ---- places

  // `places` in order, `outdated` too and without overlaps. Replaces those that are there.
  void set_places(uint64_t until, std::vector<Place> places, std::vector<Run> outdated);
  // Makes the list short enough for its half: gives up regions, those with the most places first.
  // Then joins runs whose gaps are small, with the regions between them.
  void shorten(size_t most_bytes = kHalfBytes);
  uint64_t places_until() const { return places_until_; }
  std::span<const Place> places() const { return places_; }
  std::span<const Run> outdated() const { return outdated_; }

  // ---- bytes

  bool empty() const {
    return keys_.empty() && all_until_ == 0 && places_.empty() && outdated_.empty();
  }
  uint64_t number() const { return number_; }
  // Of two lists the one with the higher number counts.
  void set_number(uint64_t number) { number_ = number; }
  uint64_t encoded_bytes() const;
  void encode(uint64_t nonce, MutableBytes to) const;  // encoded_bytes() at least

  // The newer half of a medium that is whole; an empty one if there is none. A half that is not
  // whole was cut short, and then the other one counts. If neither is whole, or one cannot be read,
  // or the one that is whole has a number below `least`, the list covers all below `until`.
  using Read = std::function<Status(uint64_t offset, MutableBytes into)>;
  static RemovalList load(uint64_t nonce, uint64_t least, uint64_t until, const Read& read);

  // The bytes of a half that lie there, by its header; none if it holds no list of this nonce.
  static std::optional<uint64_t> size_in(uint64_t nonce, ByteView header);
  // Nothing if the bytes are damaged, or cut short.
  static std::optional<RemovalList> decode(uint64_t nonce, ByteView from);

 private:
  struct Key {
    BlockKey key;
    uint64_t until = 0;
  };
  static_assert(sizeof(Key) == kKeyBytes);

  bool covers_by_key(const BlockKey& key, uint64_t sequence) const;
  bool decode_keys(uint64_t count, ByteView from);
  bool decode_places(uint64_t groups, uint64_t runs, ByteView from);
  size_t groups() const;
  void give_up(std::vector<uint32_t> regions);
  void join_runs(size_t most);

  std::vector<Key> keys_;  // in order, each once
  std::vector<Place> places_;
  std::vector<Run> outdated_;
  uint64_t all_until_ = 0;
  uint64_t places_until_ = 0;
  uint64_t number_ = 0;
};

// The list that version 1 of the superblock kept of what was removed from mutable keys: whole
// regions have this offset.
inline constexpr uint32_t kWholeRegionOfVersion1 = ~uint32_t{0};
// The checksum of that list as it lies on the medium.
uint64_t checksum_of_version_1(std::span<const RemovalList::Place> removed);

}  // namespace nvcache
