#include "file_cache/word_set.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace nvcache {

void WordSet::Leaf::insert(uint64_t* at, uint64_t word) {
  NVCACHE_ASSERT_SLOW(count < kMostWords);
  std::copy_backward(at, end(), end() + 1);
  *at = word;
  ++count;
}

bool WordSet::insert(uint64_t word) {
  auto at = leaf_of(word, leaves_);
  if (at == leaves_.end() || word < at->first) {  // before all others
    const bool has_room = at != leaves_.end() && at->second.count < kMostWords;
    if (has_room) {
      auto node = leaves_.extract(at);
      node.key() = word;
      at = leaves_.insert(std::move(node)).position;
    } else {
      at = leaves_.try_emplace(word).first;
    }
  }
  if (const uint64_t* there = std::lower_bound(at->second.begin(), at->second.end(), word);
      there != at->second.end() && *there == word) {
    return false;
  }
  if (at->second.count == kMostWords) at = split(at, word);
  at->second.insert(std::lower_bound(at->second.begin(), at->second.end(), word), word);
  ++size_;
  return true;
}

// Words that come in order leave full leaves behind.
WordSet::Leaves::iterator WordSet::split(Leaves::iterator full, uint64_t word) {
  Leaf& leaf = full->second;
  if (word > *(leaf.end() - 1)) return leaves_.try_emplace(std::next(full), word);
  const uint64_t* middle = leaf.begin() + leaf.count / 2;
  const uint64_t first = *middle;
  const auto upper = leaves_.try_emplace(std::next(full), first);
  std::copy(middle, static_cast<const Leaf&>(leaf).end(), upper->second.begin());
  upper->second.count = leaf.count - leaf.count / 2;
  leaf.count /= 2;
  return word < first ? full : upper;
}

bool WordSet::erase(uint64_t word) {
  const auto at = leaf_of(word, leaves_);
  if (at == leaves_.end()) return false;
  Leaf& leaf = at->second;
  uint64_t* const there = std::lower_bound(leaf.begin(), leaf.end(), word);
  if (there == leaf.end() || *there != word) return false;
  std::copy(there + 1, leaf.end(), there);
  --leaf.count;
  --size_;
  if (leaf.count == 0) {
    leaves_.erase(at);
    return true;
  }
  join_with_next(at);
  if (at != leaves_.begin()) join_with_next(std::prev(at));
  return true;
}

void WordSet::join_with_next(Leaves::iterator leaf) {
  const auto next = std::next(leaf);
  if (next == leaves_.end()) return;
  Leaf& to = leaf->second;
  const Leaf& from = next->second;
  if (to.count + from.count > kMostWords * 3 / 4) return;
  std::copy(from.begin(), from.end(), to.end());
  to.count += from.count;
  leaves_.erase(next);
}

std::optional<uint64_t> WordSet::at_or_after(uint64_t word) const {
  const auto leaf = leaf_of(word, leaves_);
  if (leaf == leaves_.end()) return std::nullopt;
  const uint64_t* const there = std::lower_bound(leaf->second.begin(), leaf->second.end(), word);
  if (there != leaf->second.end()) return *there;
  const auto next = std::next(leaf);
  if (next == leaves_.end()) return std::nullopt;
  return *next->second.begin();
}

std::optional<uint64_t> WordSet::last_before(uint64_t word) const {
  if (word == 0) return std::nullopt;
  auto leaf = leaf_of(word - 1, leaves_);
  if (leaf == leaves_.end()) return std::nullopt;
  const uint64_t* there = std::lower_bound(leaf->second.begin(), leaf->second.end(), word);
  if (there != leaf->second.begin()) return *(there - 1);
  if (leaf == leaves_.begin()) return std::nullopt;
  return *(std::prev(leaf)->second.end() - 1);
}

}  // namespace nvcache
