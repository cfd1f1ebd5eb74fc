// What was erased durably from a cache whose keys are immutable. Its regions keep the blocks until
// they are written again, so the list says which of them must not come back: a key, or all of a
// file, up to a sequence of regions.
//
// It lies in two halves beside the superblock, and is written whole, to the half that is older: a
// write that is cut short leaves the other one as it was. docs/design/regions.md has the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "block_cache/region/geometry.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"

namespace nvcache {

// Caller-locked. Functions that add may throw std::bad_alloc; then nothing has changed.
class ErasedList {
 public:
  static constexpr uint64_t kHalfBytes = Geometry::kRemovedBytes / 2;
  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kEntryBytes = 24;
  static constexpr size_t kMost = (kHalfBytes - kHeaderBytes) / kEntryBytes;
  // The offset that stands for all of a file. A block that is there goes with the file.
  static constexpr uint64_t kWholeFile = ~uint64_t{0};

  // Regions whose sequence is below `until` do not bring the key back. A list that is full forgets
  // its keys, and covers all that is older.
  void add(const BlockKey& key, uint64_t until);
  // Whether a block of that key, in a region of that sequence, was erased.
  bool covers(const BlockKey& key, uint64_t sequence) const {
    return sequence < all_until_ || (!entries_.empty() && covers_by_key(key, sequence));
  }
  // Covers all regions below.
  void forget_all(uint64_t until);
  // All regions below this are covered, with all that is in them.
  uint64_t all_until() const { return all_until_; }
  bool empty() const { return entries_.empty() && all_until_ == 0; }
  uint64_t number() const { return number_; }

  // Makes it the list that is written next: one number higher.
  void advance() { ++number_; }
  uint64_t encoded_bytes() const { return kHeaderBytes + entries_.size() * kEntryBytes; }
  void encode(uint64_t nonce, MutableBytes to) const;  // encoded_bytes() at least

  // The newer half of a medium that is whole; one that holds nothing if there is none. One that is
  // not whole was cut short, and then the other one counts; if neither is, it covers all below
  // `until`. An error is the medium's.
  using Read = std::function<absl::Status(uint64_t offset, MutableBytes into)>;
  [[nodiscard]] static absl::StatusOr<ErasedList> load(uint64_t nonce, uint64_t until,
                                                       const Read& read);

  // The bytes of a half that lie there, by its header; none if it holds no list of this nonce.
  static std::optional<uint64_t> size_in(uint64_t nonce, ByteView header);
  // Nothing if the bytes are damaged, or cut short.
  static std::optional<ErasedList> decode(uint64_t nonce, ByteView from);

 private:
  struct Entry {
    BlockKey key;
    uint64_t until = 0;
  };
  static_assert(sizeof(Entry) == kEntryBytes);

  bool covers_by_key(const BlockKey& key, uint64_t sequence) const;
  std::vector<Entry>::iterator at(const BlockKey& key);

  std::vector<Entry> entries_;  // by key, each once
  uint64_t all_until_ = 0;
  uint64_t number_ = 0;
};

}  // namespace nvcache
