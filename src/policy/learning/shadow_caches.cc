#include "policy/learning/shadow_caches.h"

#include <algorithm>

#include "base/assert.h"
#include "base/prng.h"
#include "policy/learning/use_score.h"

namespace nvcache {
namespace {

constexpr uint64_t kWindow = 8;
constexpr double kLead = 0.01;
constexpr uint32_t kVictims = 8;  // looked at for each
constexpr double kAbsentPerKey = 1.25;

}  // namespace

// ---- one shadow

ShadowCaches::Shadow::Shadow(const UseSettings& settings, uint32_t keys)
    : settings_(settings), capacity_(keys), absent_(static_cast<uint64_t>(kAbsentPerKey * keys)) {
  keys_.reserve(keys);
  scores_.reserve(keys);
  const auto entries = static_cast<uint64_t>(kAbsentPerKey * keys);
  while (absent_.entries() < entries / 8 * 8) absent_.follow(entries);
}

void ShadowCaches::Shadow::use(uint16_t key, uint32_t noise) {
  if (const auto found = std::ranges::find(keys_, key); found != keys_.end()) {
    ++hits_;
    uint8_t& score = scores_[static_cast<size_t>(found - keys_.begin())];
    score = static_cast<uint8_t>(UseScore::used(score, clock_.now(), noise));
    return;
  }
  if (clock_.offer(settings_.half_life, capacity_)) {
    for (uint8_t& score : scores_) {
      score = static_cast<uint8_t>(UseScore::age(score, clock_.now()));
    }
    aging_bucket_ = 0;
    while (absent_.age(&aging_bucket_, absent_.entries(), clock_.now())) {
    }
  }
  admit(key, absent_.use(key, clock_.now(), noise), noise);
}

void ShadowCaches::Shadow::admit(uint16_t key, uint32_t score, uint32_t noise) {
  NVCACHE_ASSERT_SLOW(keys_.size() == scores_.size() && keys_.size() <= capacity_);
  const uint32_t now = clock_.now();
  if (keys_.size() < capacity_) {
    keys_.push_back(key);
    scores_.push_back(static_cast<uint8_t>(score));
  } else {
    size_t victim = noise % capacity_;
    for (uint32_t i = 1; i < kVictims; ++i) {
      const size_t other = (noise + i * (capacity_ / kVictims)) % capacity_;
      if (UseScore::lead(scores_[other], now) < UseScore::lead(scores_[victim], now)) {
        victim = other;
      }
    }
    if (UseScore::lead(score, now) < UseScore::lead(scores_[victim], now) + settings_.lead_steps) {
      return;
    }
    absent_.put(keys_[victim], scores_[victim], now);
    keys_[victim] = key;
    scores_[victim] = static_cast<uint8_t>(score);
  }
  absent_.take(key);
  ++inserts_;
}

double ShadowCaches::Shadow::earn(double insert_cost) {
  earned_ = earned_ / 2 + static_cast<double>(hits_) - insert_cost * static_cast<double>(inserts_);
  hits_ = 0;
  inserts_ = 0;
  return earned_;
}

uint64_t ShadowCaches::Shadow::metadata_bytes() const {
  return keys_.capacity() * (sizeof(keys_[0]) + sizeof(scores_[0])) + absent_.metadata_bytes();
}

// ---- all of them

ShadowCaches::ShadowCaches(uint64_t blocks, double insert_cost)
    : insert_cost_(insert_cost),
      sample_(KeySample::of(blocks, kBlocksPerKey, kLeastKeys, kMostKeys)),
      chosen_(kFirstSettings) {
  shadows_.reserve(kSettings.size());
  for (const UseSettings& settings : kSettings) {
    shadows_.push_back(std::make_unique<Shadow>(settings, sample_.keys));
  }
}

void ShadowCaches::use(uint64_t key_hash) {
  const auto noise = static_cast<uint32_t>(mix64(key_hash + uses_) >> 32);
  for (const auto& shadow : shadows_) shadow->use(static_cast<uint16_t>(key_hash), noise);
  if (++uses_ >= kWindow * sample_.keys) choose();
}

void ShadowCaches::choose() {
  NVCACHE_ASSERT(shadows_.size() == kSettings.size() && chosen_ < kSettings.size());
  std::array<double, kSettings.size()> earned{};
  for (size_t i = 0; i < earned.size(); ++i) earned[i] = shadows_[i]->earn(insert_cost_);
  const auto best = static_cast<size_t>(std::ranges::max_element(earned) - earned.begin());
  // Earnings are of two windows in the long run.
  const double needed = 2 * kLead * static_cast<double>(uses_);
  uses_ = 0;
  if (earned[best] >= earned[chosen_] + needed) chosen_ = best;
}

uint64_t ShadowCaches::metadata_bytes() const {
  uint64_t bytes = shadows_.capacity() * (sizeof(shadows_[0]) + sizeof(Shadow));
  for (const auto& shadow : shadows_) bytes += shadow->metadata_bytes();
  return bytes;
}

}  // namespace nvcache
