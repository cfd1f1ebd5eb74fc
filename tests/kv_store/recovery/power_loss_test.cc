// Losses of power under a store whose promises end with the process (survives=process): its file
// lies in the page cache. Afterwards, and for as long as it is used, a key has the newest value
// that it was given, or none; never an older one, never one that was deleted.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kv_store/kv_fixture.h"
#include "kv_store/kv_history.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::kv_value;
using test::PageCacheMedium;
using test::size_of_value;

class Machine {
 public:
  Machine(KvConfig config, uint64_t seed) : config_(std::move(config)), random_(seed) {
    config_.boot = [this] { return boot_; };
    config_.sync_seconds = 0;
    config_.clean_ahead = false;
    start(std::vector<std::byte>(config_.size_bytes));
  }

  void step() {
    const std::string key = test::key_of(random_.below(60));
    const uint64_t what = random_.below(100);
    if (what < 50) {
      const uint64_t number = ++numbers_;
      const auto value = kv_value(key, number, size_of_value(number));
      EXPECT_EQ(store_->put(key, value, {}).outcome, KvOutcome::kDone);
      newest_[key] = number;
    } else if (what < 65) {
      (void)store_->erase(key);
      newest_[key] = std::nullopt;
    } else if (what < 90) {
      look(key);
    } else if (what < 92) {
      EXPECT_TRUE(store_->sync().ok());
    } else if (what < 93 && random_.below(4) == 0) {
      EXPECT_TRUE(store_->clear().ok());
      newest_.clear();
    } else {
      file_->write_back(random_(), 1 + random_.below(8));
    }
  }
  // One time in three the power fails again while the store is being opened.
  void lose_power() {
    std::vector<std::byte> image = file_->lose_power(random_());
    for (int again = 0; again < 3 && random_.below(3) == 0; ++again) {
      ++boot_;
      auto file = std::make_unique<PageCacheMedium>(std::move(image));
      PageCacheMedium& seen = *file;
      seen.lose_power_at_sync(random_.below(7), random_());
      const auto store = open(std::move(file));
      image = seen.lost_power() ? seen.image() : seen.lose_power(random_());
    }
    ++boot_;
    start(std::move(image));
    look_at_all();
  }
  void close() { EXPECT_TRUE(static_cast<KvStoreImpl&>(*store_).close().ok()); }
  void start_again() {
    const ByteView bytes = file_->direct();
    start({bytes.begin(), bytes.end()});
  }
  void look_at_all() {
    for (const auto& [key, number] : newest_) look(key);
  }

 private:
  void look(const std::string& key) {
    const KvItem item = store_->get(key);
    if (!item) return;
    const auto newest = newest_.find(key);
    const bool right =
        newest != newest_.end() && newest->second &&
        test::same(item.value(), kv_value(key, *newest->second, size_of_value(*newest->second)));
    EXPECT_TRUE(right) << key << " has an older value, or one that was deleted";
  }
  std::unique_ptr<KvStore> open(std::unique_ptr<PageCacheMedium> file) {
    auto store = test::make_kv_in_page_cache(config_, std::move(file));
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void start(std::vector<std::byte> image) {
    store_.reset();
    auto file = std::make_unique<PageCacheMedium>(std::move(image));
    file_ = file.get();
    store_ = open(std::move(file));
    ASSERT_NE(store_, nullptr);
  }

  KvConfig config_;
  Prng random_;
  uint64_t boot_ = 1;
  uint64_t numbers_ = 0;
  std::map<std::string, std::optional<uint64_t>> newest_;  // empty: deleted
  PageCacheMedium* file_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

TEST(KvPowerLoss, BringsNothingBackWhereOnlyProcessesAreSurvived) {
  constexpr Durability kAll[] = {Durability::kCache, Durability::kVolatile, Durability::kEach,
                                 Durability::kEachLru};
  const uint64_t first = test_seed();
  for (uint64_t i = 0; i < seeds(1000); ++i) {
    KvConfig config = test::small_config(kAll[i % 4]);
    if (i % 3 == 0) config.version_bits = 2;
    if (i % 8 < 4) config.cleaning = KvCleaning::kPaper;
    Prng chance(first + i);
    Machine machine(config, first + i);
    for (int life = 0; life < 4 && !testing::Test::HasFailure(); ++life) {
      const uint64_t steps = 20 + chance.below(200);
      for (uint64_t step = 0; step < steps; ++step) machine.step();
      if (chance.below(5) == 0) {
        machine.close();
        machine.start_again();
      } else {
        machine.lose_power();
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << first + i;
  }
}

}  // namespace
}  // namespace nvcache
