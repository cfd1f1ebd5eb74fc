#include "block_cache/region/removal_list.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace nvcache {
namespace {

bool is_before(const BlockKey& a, const BlockKey& b) {
  return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
}

struct Group {  // the places of a region
  uint32_t region = 0;
  size_t count = 0;
};

std::vector<Group> groups_of(std::span<const RemovalList::Place> places) {
  std::vector<Group> groups;
  for (const RemovalList::Place& each : places) {
    if (groups.empty() || groups.back().region != each.region) groups.push_back({each.region, 0});
    ++groups.back().count;
  }
  return groups;
}

}  // namespace

// ---- keys

void RemovalList::add(const BlockKey& key, uint64_t until) {
  const auto found = std::ranges::lower_bound(keys_, key, is_before, &Key::key);
  if (found != keys_.end() && found->key == key) {
    found->until = std::max(found->until, until);
  } else if (keys_.size() < kMostKeys) {
    keys_.insert(found, {key, until});
  } else {
    forget_all(until);
  }
}

void RemovalList::forget_all(uint64_t until) {
  all_until_ = std::max(all_until_, until);
  for (const Key& each : keys_) all_until_ = std::max(all_until_, each.until);
  keys_.clear();
}

bool RemovalList::covers_by_key(const BlockKey& key, uint64_t sequence) const {
  const auto covered = [&](const BlockKey& by) {
    const auto found = std::ranges::lower_bound(keys_, by, is_before, &Key::key);
    return found != keys_.end() && found->key == by && sequence < found->until;
  };
  return covered(key) || covered({key.file, kWholeFile});
}

// ---- places

void RemovalList::set_places(uint64_t until, std::vector<Place> places, std::vector<Run> outdated) {
  NVCACHE_ASSERT_SLOW(std::ranges::is_sorted(places));
  places_until_ = until;
  places_ = std::move(places);
  outdated_ = std::move(outdated);
}

size_t RemovalList::groups() const { return groups_of(places_).size(); }

void RemovalList::shorten(size_t most_bytes) {
  size_t bytes = encoded_bytes();
  if (bytes <= most_bytes) return;
  std::vector<Group> groups = groups_of(places_);
  std::ranges::sort(groups, std::greater<>(), &Group::count);
  std::vector<uint32_t> given_up;
  for (const Group& each : groups) {
    if (bytes <= most_bytes) break;
    given_up.push_back(each.region);
    bytes -= each.count * sizeof(uint32_t);  // and its own 8 bytes become those of a run, at most
  }
  give_up(std::move(given_up));
  bytes = encoded_bytes();
  if (bytes <= most_bytes) return;
  const size_t other_bytes = bytes - outdated_.size() * sizeof(Run);
  NVCACHE_ASSERT(other_bytes + sizeof(Run) <= most_bytes);
  join_runs((most_bytes - other_bytes) / sizeof(Run));
}

void RemovalList::give_up(std::vector<uint32_t> regions) {
  std::ranges::sort(regions);
  std::vector<Run> all = outdated_;
  for (const uint32_t region : regions) all.push_back({region, 1});
  std::ranges::sort(all, {}, &Run::first);
  std::vector<Run> runs;
  for (const Run& each : all) {
    if (!runs.empty() && runs.back().first + runs.back().count == each.first) {
      runs.back().count += each.count;
    } else {
      runs.push_back(each);
    }
  }
  std::erase_if(
      places_, [&](const Place& each) { return std::ranges::binary_search(regions, each.region); });
  outdated_ = std::move(runs);
}

// The smallest gaps first: each of their regions is given up.
void RemovalList::join_runs(size_t most) {
  const auto gap_before = [this](size_t i) {
    return outdated_[i].first - (outdated_[i - 1].first + outdated_[i - 1].count);
  };
  std::vector<size_t> by_gap(outdated_.size() - 1);
  std::iota(by_gap.begin(), by_gap.end(), size_t{1});
  std::ranges::sort(by_gap, std::less<>(), gap_before);
  by_gap.resize(outdated_.size() - most);
  std::ranges::sort(by_gap);
  std::vector<Run> runs;
  size_t next = 0;
  for (size_t i = 0; i < outdated_.size(); ++i) {
    const bool joins = next < by_gap.size() && by_gap[next] == i;
    if (!joins) {
      runs.push_back(outdated_[i]);
      continue;
    }
    ++next;
    runs.back().count = outdated_[i].first + outdated_[i].count - runs.back().first;
  }
  outdated_ = std::move(runs);
}

uint64_t RemovalList::encoded_bytes() const {
  return kHeaderBytes + keys_.size() * sizeof(Key) + outdated_.size() * sizeof(Run) +
         groups() * 2 * sizeof(uint32_t) + places_.size() * sizeof(uint32_t);
}

}  // namespace nvcache
