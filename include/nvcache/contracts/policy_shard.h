// PolicyShard: a shard of a cache without the cache: slots, keys and pins, to test eviction
// policies with. Not thread-safe, except that slots may be hit from other threads straight through
// policy().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nvcache/contracts/seeded_random.h"
#include "nvcache/eviction_policy.h"

namespace nvcache {

class PolicyShard : public Residents {
 public:
  // `policy` was made for `max_slots`.
  PolicyShard(std::unique_ptr<EvictionPolicy> policy, uint32_t max_slots)
      : policy_(std::move(policy)), slots_(max_slots) {
    begin_pass(0);  // time starts now
  }

  // The hash of a key, as the policy gets it.
  static constexpr uint64_t hash_of(uint64_t key) { return split_mix(key); }

  uint32_t slot_limit() const override { return limit_; }
  bool evictable(uint32_t slot) const override {
    return slots_[slot].used && slots_[slot].pins == 0;
  }
  uint64_t key_hash(uint32_t slot) const override { return hash_of(slots_[slot].key); }

  EvictionPolicy& policy() { return *policy_; }
  Contest& contest() { return *policy_->contest(); }
  uint64_t size() const { return by_key_.size(); }
  bool contains(uint64_t key) const { return by_key_.count(key) > 0; }
  uint32_t slot_of(uint64_t key) const { return by_key_.at(key); }
  uint64_t key_of(uint32_t slot) const { return slots_[slot].key; }

  // There must be a free slot.
  void insert(uint64_t key) {
    uint32_t slot = limit_;
    if (free_.empty()) {
      ++limit_;
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot] = {.key = key, .pins = 0, .used = true};
    by_key_[key] = slot;
    policy_->on_insert(slot, hash_of(key));
  }

  void hit(uint64_t key) { policy_->on_hit(by_key_.at(key)); }
  void pin(uint64_t key) { ++slots_[by_key_.at(key)].pins; }
  void unpin(uint64_t key) { --slots_[by_key_.at(key)].pins; }
  void erase(uint64_t key) { remove(by_key_.at(key), false); }

  // Removes the policy's next victim. Returns its key.
  std::optional<uint64_t> evict() {
    const std::optional<uint32_t> slot = next_victim();
    if (!slot) return std::nullopt;
    const uint64_t key = slots_[*slot].key;
    remove(*slot, true);
    return key;
  }

  // The policy's next victim. A policy that evicts in passes gets up to 100 of
  // them, a second apart, each for a twentieth of the blocks.
  std::optional<uint32_t> next_victim() {
    if (policy_->passes() == nullptr) return policy_->next_victim(*this);
    for (int pass = 0; pass < 100; ++pass) {
      if (const auto slot = policy_->next_victim(*this)) return slot;
      now_ns_ += 1'000'000'000;
      begin_pass(0.05);
    }
    return std::nullopt;
  }

  void begin_pass(double share) {
    if (policy_->passes() != nullptr) policy_->passes()->begin_pass(*this, now_ns_, share);
  }
  void advance_seconds(double seconds) { now_ns_ += static_cast<uint64_t>(seconds * 1e9); }

 private:
  struct Slot {
    uint64_t key = 0;
    int pins = 0;
    bool used = false;
  };

  void remove(uint32_t slot, bool evicted) {
    by_key_.erase(slots_[slot].key);
    slots_[slot].used = false;
    policy_->on_remove(slot, hash_of(slots_[slot].key), evicted);
    free_.push_back(slot);
  }

  std::unique_ptr<EvictionPolicy> policy_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::unordered_map<uint64_t, uint32_t> by_key_;
  uint32_t limit_ = 0;
  uint64_t now_ns_ = 1'000'000'000'000;
};

}  // namespace nvcache
