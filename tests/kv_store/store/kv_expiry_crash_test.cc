// Losses of power under a store that is full of items with a time of expiry, so that expired ones
// are swept, their places in the table are taken again, and their keys get new values: a key has
// its newest acknowledged value or none, for as long as the store is used afterwards.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "kv_store/kv_fixture.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

class ExpiringClient {
 public:
  ExpiringClient(KvConfig config, uint64_t seed) : config_(std::move(config)), random_(seed) {
    config_.now_s = [this] { return now_s_; };
    config_.boot = [this] { return boot_; };
    config_.clean_ahead = false;
    keys_ = 600 + random_.below(300);
    start(std::make_unique<CrashingMedium>(config_.size_bytes));
  }

  void fail_within(uint64_t boundaries) {
    medium_->crash_at(medium_->boundaries() + random_.below(boundaries), random_());
  }
  bool power_failed() const { return medium_->crashed(); }
  // Leaves the store full, all of it on the medium. A third of the items in each zone have expired.
  void fill_with_expired() {
    for (uint64_t i = 0; i < keys_ && !power_failed(); ++i)
      put(key_of(i), random_.below(5) < 2 ? now_s_ + 1 : 0);
    if (!power_failed()) (void)store_->sync();
    ++now_s_;
  }
  void step() {
    std::string key = key_of(random_.below(keys_));
    // Every other operation is on one that has expired, if a few looks find one.
    for (uint64_t look = random_.below(16); look > 0 && look < 8; --look) {
      if (has_expired(told_[key].newest)) break;
      key = key_of(random_.below(keys_));
    }
    const uint64_t what = random_.below(100);
    if (what < 70) {
      put(key, random_.below(3) == 0 ? now_s_ + 1 + random_.below(4) : 0);
    } else if (what < 74) {
      erase(key);
    } else if (what < 90) {
      look(key);
    } else if (what < 99) {
      now_s_ += 1 + random_.below(2);
    } else {
      medium_->evict_lines(random_(), 2 + random_.below(14));
    }
  }
  // One time in four the clock is behind afterwards: what had expired may live again then, but
  // nothing that was replaced or deleted since.
  void lose_power() {
    if (random_.below(2) == 0) write_items_back();
    const std::vector<std::byte> image =
        medium_->crashed() ? medium_->image() : medium_->crash(random_());
    ++boot_;
    if (random_.below(4) == 0) now_s_ -= random_.below(6);
    start(std::make_unique<CrashingMedium>(image));
    for (auto& [key, told] : told_) {
      const std::optional<Value> found = look(key);
      // An expired item is there again if the clock falls behind later.
      if (!found && (has_expired(told.newest) || has_expired(told.under_way))) continue;
      told = {.newest = found, .under_way = {}};
    }
  }
  // Afterwards no key has a value.
  void replace_and_erase_all() {
    for (const auto& [key, told] : told_) {
      if (!power_failed()) put(key, 0);
      if (!power_failed()) erase(key);
      look(key);
    }
  }

 private:
  struct Value {
    uint64_t number;
    uint32_t expires_s;
    bool operator==(const Value&) const = default;
  };
  struct Told {
    std::optional<Value> newest;
    std::optional<Value> under_way;
  };

  bool has_expired(const std::optional<Value>& value) const {
    return value && value->expires_s != 0 && value->expires_s <= now_s_;
  }

  static std::vector<std::byte> value_of(const std::string& key, uint64_t number) {
    return test::kv_value(key, number, mix64(number) % 24);
  }
  static std::string key_of(uint64_t number) { return fmt::format("key{}", number); }
  void put(const std::string& key, uint32_t expires_s) {
    const uint64_t number = ++numbers_;
    const Value value{.number = number, .expires_s = expires_s};
    told_[key].under_way = value;
    const KvMeta meta{.flags = static_cast<uint32_t>(number), .expires_s = expires_s};
    const KvResult result = store_->put(key, value_of(key, number), meta, {});
    if (power_failed()) return;
    EXPECT_EQ(result.outcome, KvOutcome::kDone);
    told_[key] = {.newest = value, .under_way = {}};
  }
  // As the processor may at any time, in any order.
  void write_items_back() {
    const uint64_t from = static_cast<KvStoreImpl&>(*store_).geometry().zones_at;
    EXPECT_TRUE(medium_->flush({from, config_.size_bytes - from}).ok() && medium_->drain().ok());
  }
  void erase(const std::string& key) {
    (void)store_->erase(key);
    if (!power_failed()) told_[key] = {};
  }
  // The value that the key has, which must be one that it may have.
  std::optional<Value> look(const std::string& key) {
    const KvItem item = store_->get(key);
    if (power_failed() || !item) return std::nullopt;
    const Value value{.number = item.meta.flags, .expires_s = item.meta.expires_s};
    const Told& told = told_[key];
    EXPECT_TRUE(value == told.newest || value == told.under_way)
        << key << " has an older value, or one that was deleted";
    EXPECT_TRUE(test::same(item.value(), value_of(key, value.number))) << key;
    return value;
  }
  void start(std::unique_ptr<CrashingMedium> medium) {
    store_.reset();
    medium_ = medium.get();
    store_ = test::make_kv(config_, std::move(medium));
    ASSERT_NE(store_, nullptr);
  }

  KvConfig config_;
  Prng random_;
  uint32_t now_s_ = 1000;
  uint64_t boot_ = 1;
  uint64_t keys_ = 0;
  uint64_t numbers_ = 0;
  std::map<std::string, Told> told_;
  CrashingMedium* medium_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

TEST(KvExpiryCrash, WhatWasSweptBringsNothingBack) {
  const uint64_t first = test_seed();
  for (uint64_t i = 0; i < seeds(500); ++i) {
    KvConfig config = test::small_config(i % 8 == 7 ? Durability::kEachLru : Durability::kCache);
    config.size_bytes = 64 << 10;
    config.item_bytes = 96;
    if (i % 2 == 0) config.write_cache_bytes = 0;
    if (i % 11 == 10) config.version_bits = 2;
    ExpiringClient client(config, first + i);
    Prng chance(first + i + 1);
    for (int life = 0; life < 4 && !HasFailure(); ++life) {
      const uint64_t steps = 50 + chance.below(300);
      if (chance.below(2) == 0) client.fail_within(steps);
      if (chance.below(4) > 0) client.fill_with_expired();
      for (uint64_t step = 0; step < steps && !client.power_failed(); ++step) client.step();
      client.lose_power();
      if (chance.below(3) > 0) client.replace_and_erase_all();
    }
    ASSERT_FALSE(HasFailure()) << "seed " << first + i;
  }
}

}  // namespace
}  // namespace nvcache
