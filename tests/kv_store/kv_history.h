// A client of a store whose power fails, and what it may believe afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kv_store/kv_fixture.h"

namespace nvcache::test {

// The values that a key may have after a crash, beside none.
struct Allowed {
  std::optional<uint64_t> newest;     // acknowledged
  std::optional<uint64_t> under_way;  // not acknowledged when the power failed
};

struct Losses {
  uint64_t acknowledged = 0;
  uint64_t lost = 0;
  uint64_t wrong = 0;
  uint64_t recoveries = 0;
  uint64_t failed_openings = 0;  // the power failed during these
};

inline size_t size_of_value(uint64_t number) {
  return mix64(number) % 5 == 0 ? 1500 : mix64(number) % 300;
}

// A client, the store it talks to and what it was told.
class History {
 public:
  History(const KvConfig& config, uint64_t seed) : config_(config), random_(seed) {
    config_.boot = [this] { return boot_; };
    open(std::make_unique<CrashingMedium>(config.size_bytes));
  }

  // Crashes at the call of flush() or drain() with that number from now on; ~0: never.
  void arm(uint64_t boundary) {
    if (boundary != ~uint64_t{0}) {
      medium_->crash_at(medium_->boundaries() + boundary, random_());
    }
  }
  bool crashed() const { return medium_->crashed(); }
  uint64_t boundaries() const { return medium_->boundaries(); }
  KvStore& store() { return *store_; }
  CrashingMedium& medium() { return *medium_; }

  // After the crash the client can neither ask nor be told.
  void put(const std::string& key) {
    if (crashed()) return;
    const uint64_t number = ++numbers_;
    allowed_[key].under_way = number;
    const auto value = kv_value(key, number, size_of_value(number));
    const KvResult result =
        store_->put(key, value, {.flags = static_cast<uint32_t>(number), .expires_s = 0, .cas = 0});
    if (crashed()) return;
    EXPECT_EQ(result.outcome, KvOutcome::kDone);
    allowed_[key] = {.newest = number, .under_way = {}};
  }
  void erase(const std::string& key) {
    if (crashed()) return;
    (void)store_->erase(key);
    if (!crashed()) allowed_[key] = {};
  }
  void get(const std::string& key) {
    if (crashed()) return;
    if (!right(key, nullptr)) ADD_FAILURE() << key << ": a wrong value, without any crash";
  }
  void clear() {
    if (crashed()) return;
    EXPECT_TRUE(store_->clear().ok());
    if (!crashed()) allowed_.clear();
  }

  void sync() {
    if (!crashed()) (void)store_->sync();
  }
  // An orderly end. The power may fail in the middle of it.
  void close() {
    if (!crashed()) (void)static_cast<KvStoreImpl&>(*store_).close();
  }

  // Power fails (unless it has), and the store is opened on what is left. One time in three the
  // power fails again while it is being opened.
  void recover(Losses* losses) {
    std::vector<std::byte> image = crashed() ? medium_->image() : medium_->crash(random_());
    for (int failures = 0; failures < 3 && random_.below(3) == 0; ++failures) {
      auto medium = std::make_unique<CrashingMedium>(image);
      CrashingMedium& seen = *medium;
      ++boot_;
      seen.crash_at(random_.below(6), random_());
      const auto store = make_kv(config_, std::move(medium));
      image = seen.crashed() ? seen.image() : seen.crash(random_());
      ++losses->failed_openings;
    }
    ++boot_;
    open(std::make_unique<CrashingMedium>(image));
    ++losses->recoveries;
    for (auto& [key, allowed] : allowed_) {
      bool present = false;
      if (!right(key, &present)) ++losses->wrong;
      losses->acknowledged += allowed.newest.has_value();
      losses->lost += allowed.newest.has_value() && !present;
      if (!present) {
        allowed = {};
      } else {
        // The value found is the right one from now on.
        const KvItem item = store_->get(key);
        allowed = {.newest = item ? std::optional<uint64_t>(item.meta.flags) : std::nullopt,
                   .under_way = {}};
      }
    }
  }

 private:
  void open(std::unique_ptr<CrashingMedium> medium) {
    store_.reset();
    medium_ = medium.get();
    store_ = make_kv(config_, std::move(medium));
  }

  bool right(const std::string& key, bool* present) {
    const KvItem item = store_->get(key);
    if (present != nullptr) *present = static_cast<bool>(item);
    if (!item) return true;
    const Allowed& allowed = allowed_[key];
    for (const auto& number : {allowed.newest, allowed.under_way}) {
      if (number && same(item.value(), kv_value(key, *number, size_of_value(*number)))) {
        return item.meta.flags == static_cast<uint32_t>(*number);
      }
    }
    return false;
  }

  KvConfig config_;
  Prng random_;
  uint64_t boot_ = 1;
  uint64_t numbers_ = 0;
  std::map<std::string, Allowed> allowed_;
  CrashingMedium* medium_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

inline std::string key_of(uint64_t number) { return "key" + std::to_string(number); }

}  // namespace nvcache::test
