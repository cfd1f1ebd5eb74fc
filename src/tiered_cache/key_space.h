// The keys of one cache in a lower tier that several caches share.
//
// Two caches may mean different bytes by one key. So a key in a shared tier begins with the tag of
// its cache (24 bits of `file`), which no other cache of the tier has at the time: keys of two
// caches are never the same. The rest of the key is mixed with a seed of the cache's own, of 64
// bits, so that a cache does not find what another left under the same tag, either.
//
// Tag and seed are derived from:
//
//   a cold tier    a number that no other cache of the tier has had. The caller promises nothing.
//   a warm tier    the name of the cache's owner, `owner=NAME`: the same in the next process, which
//                  finds the blocks. The user promises that the name stands for one set of keys
//                  for ever (one database), and that no key in it ever names other bytes.
//                  `owner=*`: all caches that say so have one key space together. The user promises
//                  that no key names other bytes in any of them, in any process. RocksDB's do not:
//                  they name the session of the database and the number of the file. Where two of
//                  these caches have the same file, as copies of one database do, they share its
//                  blocks, and one that erases them erases them for both.
//
// All blocks of a file keep one `file`: erase_gone_files() finds them. That has 40 bits left of the
// 64 of the engine's; the others go into `offset`. For a million files of 16384 blocks, any two
// blocks of one cache have the same key with a probability of less than 2^-36, and an erased file
// takes the blocks of another one of the same cache with it with a probability of 2^-20.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "base/hash.h"
#include "base/prng.h"
#include "base/test_hooks.h"
#include "nvcache/block_key.h"

namespace nvcache {

// Immutable.
class KeySpace {
 public:
  static constexpr std::string_view kAllOwners = "*";
  static constexpr int kTagBits = 24;
  static constexpr uint32_t kAllOwnersTag = (uint32_t{1} << kTagBits) - 1;
  static constexpr uint32_t kMaxTag = kAllOwnersTag - 1;  // of one cache; the least is 1

  // Keys of one form are those of no other; with form 0 they stay as they are. As in a tier that is
  // the cache's own.
  explicit KeySpace(uint64_t form = 0) : form_(form) {}
  // `tag` is 1 to kMaxTag. No other space has the seed.
  KeySpace(uint32_t tag, uint64_t seed)
      : whole_(false),
        tag_(tag),
        seed_(test_hooks.forget_owners ? 0 : mix64(seed)),
        top_(test_hooks.forget_owners ? 0 : uint64_t{tag} << kTagShift) {}
  static KeySpace of_owner(std::string_view owner) {
    const uint64_t hash = hash_bytes(owner);
    const bool all = owner == kAllOwners;
    return {all ? kAllOwnersTag : 1 + static_cast<uint32_t>(hash % kMaxTag), hash};
  }

  // The same space, of keys of that form.
  KeySpace of_form(uint64_t form) const {
    KeySpace space = *this;
    space.form_ = form;
    return space;
  }
  uint32_t tag() const { return tag_; }

  BlockKey inside(const BlockKey& key) const {
    if (whole_) return {.file = key.file ^ form_, .offset = key.offset};
    const uint64_t file = mix64(key.file ^ form_ ^ seed_);
    return {.file = top_ | file >> kTagBits, .offset = key.offset ^ mix64(file ^ kOfOffsets)};
  }
  // The number that inside() makes of `file`.
  uint64_t inside_file(uint64_t file) const {
    return whole_ ? file ^ form_ : top_ | mix64(file ^ form_ ^ seed_) >> kTagBits;
  }
  // The key that inside() was given, of a tier that is the cache's own.
  BlockKey outside(const BlockKey& inside) const {
    NVCACHE_ASSERT_SLOW(whole_);
    return {.file = inside.file ^ form_, .offset = inside.offset};
  }

  // Whether a key of the shared tier is this space's.
  bool has(const BlockKey& inside) const { return inside.file >> kTagShift == top_ >> kTagShift; }

 private:
  static constexpr int kTagShift = 64 - kTagBits;
  static constexpr uint64_t kOfOffsets = 0xff51afd7ed558ccdull;  // arbitrary

  bool whole_ = true;
  uint64_t form_ = 0;
  uint32_t tag_ = 0;
  uint64_t seed_ = 0;
  uint64_t top_ = 0;  // the tag, where keys have it
};

}  // namespace nvcache
