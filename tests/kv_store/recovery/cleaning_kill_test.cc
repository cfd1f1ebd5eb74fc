// Kills while a zone is cleaned: what was acknowledged is there afterwards, all of it, after a kill
// between any two steps of the cleaning, and of the opening that finishes it.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_hooks.h"
#include "fmt/format.h"
#include "kv_store/kv_fixture.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::kv_value;
using test::PageCacheMedium;

// Runs something at each step of a cleaning, but not of those that it causes itself.
class AtEachStep {
 public:
  explicit AtEachStep(std::function<void()> run)
      : run_before_(std::exchange(run_, std::move(run))),
        step_before_(std::exchange(test_hooks.on_cleaning_step, step)) {}
  ~AtEachStep() {
    run_ = std::move(run_before_);
    test_hooks.on_cleaning_step = step_before_;
  }
  AtEachStep(const AtEachStep&) = delete;
  AtEachStep& operator=(const AtEachStep&) = delete;

 private:
  static void step() {
    test_hooks.on_cleaning_step = nullptr;
    const auto run = run_;
    run();
    test_hooks.on_cleaning_step = step;
  }
  static inline std::function<void()> run_;
  std::function<void()> run_before_;
  void (*step_before_)();
};

// The newest number that was acknowledged of each key.
using Numbers = std::map<uint64_t, uint64_t>;

// Half of the zones' bytes are live; or two thirds, and some values need an evacuation.
constexpr test::ValueSizes kSmall{};
constexpr test::ValueSizes kSomeLarge{.large_each = 30};
constexpr uint64_t kCleanedKeys = 150;

// A user of a store in memory that outlives its process.
class User {
 public:
  User(const KvConfig& config, const test::ValueSizes& sizes, uint64_t seed)
      : User(config, sizes, seed, std::vector<std::byte>(config.size_bytes)) {}
  // As another that was killed left it.
  User(const User& killed, std::vector<std::byte> image)
      : User(killed.config_, killed.sizes_, killed.random_seed_ + 1, std::move(image)) {
    numbers_ = killed.numbers_;
    pending_ = killed.pending_;
    last_number_ = killed.last_number_;
  }

  std::vector<std::byte> image() const { return image_of(*memory_); }
  // Of the user that was made last, though its store may not be open yet.
  static std::vector<std::byte> image_opened_last() { return image_of(*opened_last_); }
  // Some items are deleted, so that gaps have all sizes.
  void write() {
    const uint64_t key = random_.below(kCleanedKeys);
    if (random_.below(6) == 0) {
      (void)store_->erase(name_of(key));
      numbers_.erase(key);
      return;
    }
    pending_ = key;
    const uint64_t number = ++last_number_;
    ASSERT_EQ(store_->put(name_of(key), value_of(key, number), {}).outcome, KvOutcome::kDone);
    numbers_[key] = number;
    pending_ = kCleanedKeys;
  }
  // After a kill, the value that was being written may be there.
  void expect_all() {
    for (const auto& [key, number] : numbers_) {
      const KvItem item = store_->get(name_of(key));
      ASSERT_TRUE(item) << name_of(key) << " is lost";
      const bool right = test::same(item.value(), value_of(key, number)) ||
                         (key == pending_ && test::same(item.value(), value_of(key, last_number_)));
      ASSERT_TRUE(right) << name_of(key) << " has another value";
    }
  }

 private:
  static std::vector<std::byte> image_of(const PageCacheMedium& memory) {
    const ByteView bytes = memory.direct();
    return {bytes.begin(), bytes.end()};
  }

  static std::string name_of(uint64_t key) { return fmt::format("key{}", key); }
  std::vector<std::byte> value_of(uint64_t key, uint64_t number) const {
    return kv_value(name_of(key), number, sizes_.of(key, number));
  }

  User(const KvConfig& config, const test::ValueSizes& sizes, uint64_t seed,
       std::vector<std::byte> image)
      : config_(config), sizes_(sizes), random_seed_(seed), random_(seed) {
    auto medium = std::make_unique<PageCacheMedium>(std::move(image));
    memory_ = opened_last_ = medium.get();
    auto store = test::make_kv_in_page_cache(config, std::move(medium));
    EXPECT_TRUE(store.ok()) << store.status();
    if (store.ok()) store_ = *std::move(store);
  }

  static inline PageCacheMedium* opened_last_ = nullptr;

  const KvConfig config_;
  const test::ValueSizes sizes_;
  const uint64_t random_seed_;
  Prng random_;
  Numbers numbers_;
  uint64_t pending_ = kCleanedKeys;  // the key that is being written, with the last number
  uint64_t last_number_ = 0;
  PageCacheMedium* memory_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

KvConfig config_of(uint64_t round) {
  KvConfig config = test::small_config(round % 2 == 0 ? Durability::kCache : Durability::kEach);
  config.boot = [] { return uint64_t{1}; };
  config.sync_seconds = 0;
  config.clean_ahead = false;
  config.write_cache_bytes = 0;
  config.item_bytes = 128;
  return config;
}

// Of all the steps of many cleanings, and of some of the openings that finish them: every fifth
// opening is killed, too, and so may be the one after it.
void run_kills(const test::ValueSizes& sizes) {
  uint64_t kills = 0;
  uint64_t kills_of_openings = 0;
  for (uint64_t round = 0; round < seeds(20); ++round) {
    Prng random(test_seed() + round);
    User user(config_of(round), sizes, test_seed() + round);
    for (int i = 0; i < 1000; ++i) user.write();
    user.expect_all();

    const AtEachStep kill([&] {
      if (testing::Test::HasFatalFailure()) return;
      ++kills;
      std::vector<std::byte> image = user.image();
      for (bool again = random.below(5) == 0; again; again = random.below(2) == 0) {
        std::vector<std::byte> later;
        uint64_t steps = 0;
        const AtEachStep kill_opening([&] {
          if (random.below(++steps) == 0) later = User::image_opened_last();
        });
        const User next(user, image);
        if (later.empty()) break;
        ++kills_of_openings;
        image = std::move(later);
      }
      User next(user, std::move(image));
      next.expect_all();
      if (kills % 7 != 0) return;
      for (int i = 0; i < 200; ++i) next.write();
      next.expect_all();
    });
    const uint64_t enough = kills + 200;
    while (kills < enough && !testing::Test::HasFatalFailure()) user.write();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "round " << round;
  }
  EXPECT_GT(kills_of_openings, kills / 20);
}

TEST(KvCleaningKill, LosesNothingBetweenAnyTwoSteps) { run_kills(kSmall); }

TEST(KvCleaningKill, LosesNothingWhereItemsAreEvacuated) { run_kills(kSomeLarge); }

}  // namespace
}  // namespace nvcache
