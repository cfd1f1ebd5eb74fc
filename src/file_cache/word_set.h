// An ordered set of 64-bit words that takes little more than the words: sorted leaves of up to 128
// of them, found by their first word.
//
// O(log n), and at most a leaf (1 KiB) is moved. 8 to 9 bytes a word where words come in order, 12
// where they come in any; never more than a quarter of the room is unused for long: leaves that
// would fit into three quarters of one are joined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace nvcache {

// Caller-locked. A call that throws std::bad_alloc changed nothing.
class WordSet {
 public:
  // False if it is there already.
  bool insert(uint64_t word);
  // False if it is not there.
  bool erase(uint64_t word);
  bool contains(uint64_t word) const { return at_or_after(word) == word; }

  // Nothing where there is none.
  std::optional<uint64_t> at_or_after(uint64_t word) const;
  std::optional<uint64_t> last_before(uint64_t word) const;

  uint64_t size() const { return size_; }
  // That it takes of DRAM, about.
  uint64_t bytes() const { return leaves_.size() * kLeafBytes; }

 private:
  static constexpr size_t kMostWords = 128;

  // Never empty. Its key is its first word or a smaller one.
  struct Leaf {
    size_t count = 0;
    std::array<uint64_t, kMostWords> words;

    uint64_t* begin() { return words.data(); }
    uint64_t* end() { return words.data() + count; }
    const uint64_t* begin() const { return words.data(); }
    const uint64_t* end() const { return words.data() + count; }
    void insert(uint64_t* at, uint64_t word);
  };
  using Leaves = std::map<uint64_t, Leaf>;
  // A leaf, and the tree's node and its place on the heap.
  static constexpr uint64_t kLeafBytes = sizeof(Leaves::value_type) + 48;

  // The leaf in which a word is, if it is there; where there are leaves, one of them.
  template <typename AnyLeaves>
  static auto leaf_of(uint64_t word, AnyLeaves& leaves) {
    const auto after = leaves.upper_bound(word);
    return after == leaves.begin() ? after : std::prev(after);
  }
  Leaves::iterator split(Leaves::iterator full, uint64_t word);
  void join_with_next(Leaves::iterator leaf);

  Leaves leaves_;
  uint64_t size_ = 0;
};

}  // namespace nvcache
