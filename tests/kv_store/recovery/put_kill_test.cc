// Ends of a process, and losses of power, at each step of a put while others go on behind it: room
// was taken, the header is written, the value, the descriptor. Acknowledged puts are there
// afterwards, and stay there when the zones are cleaned, or copied into a store of another size.
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/test_hooks.h"
#include "fmt/format.h"
#include "kv_store/kv_fixture.h"
#include "kv_store/medium/media.h"
#include "kv_store/resize.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::kv_value;
using test::PageCacheMedium;

using Image = std::vector<std::byte>;

// Runs something once, after so many steps of what a hook tells of.
class AtStep {
 public:
  using Hook = void (*TestHooks::*)();
  AtStep(Hook hook, uint64_t steps_left, std::function<void()> run) {
    hook_ = hook;
    steps_left_ = steps_left;
    run_ = std::move(run);
    test_hooks.*hook_ = step;
  }
  ~AtStep() { test_hooks.*hook_ = nullptr; }
  AtStep(const AtStep&) = delete;
  AtStep& operator=(const AtStep&) = delete;

 private:
  static void step() {
    if (steps_left_-- > 0) return;
    test_hooks.*hook_ = nullptr;
    run_();
  }
  static inline Hook hook_ = nullptr;
  static inline uint64_t steps_left_ = 0;
  static inline std::function<void()> run_;
};

constexpr uint64_t kStepsOfPut = 4;

constexpr uint64_t kPutKeys = 120;

// A client, the store it talks to, and what it was told. Half of the zones' bytes are live, or two
// thirds and some values are large, so that nothing is evicted.
class PutClient {
 public:
  // `loses_power`: what was not flushed is lost with the store's process.
  PutClient(KvConfig config, const test::ValueSizes& sizes, bool loses_power, uint64_t seed)
      : config_(std::move(config)), sizes_(sizes), loses_power_(loses_power), random_(seed) {
    config_.boot = [this] { return boot_; };
    config_.sync_seconds = 0;
    config_.clean_ahead = false;
    config_.write_cache_bytes = 0;
    config_.item_bytes = 128;
    open(Image(config_.size_bytes));
  }

  void write() {
    const uint64_t key = random_.below(kPutKeys);
    if (random_.below(6) == 0) {
      (void)store_->erase(name_of(key));
      told_.erase(key);
      under_way_.erase(key);
    } else {
      const uint64_t number = ++numbers_;
      under_way_[key] = number;
      ASSERT_EQ(put(key, number).outcome, KvOutcome::kDone);
      told_[key] = number;
      under_way_.erase(key);
    }
  }
  // Ends in the middle of a put; others may have gone on behind it. Opens the store again.
  void end_in_put() {
    const uint64_t key = random_.below(kPutKeys);
    const uint64_t number = ++numbers_;
    End end;
    {
      const AtStep at(&TestHooks::on_put_step, random_.below(kStepsOfPut), [&] {
        under_way_[key] = number;
        for (uint64_t i = random_.below(40); i > 0; --i) write();
        end = end_now();
      });
      (void)put(key, number);
    }
    go_on_after(std::move(end));
  }
  // Ends in the middle of the cleaning of a zone.
  void end_in_cleaning() {
    End end;
    const AtStep at(&TestHooks::on_cleaning_step, random_.below(200), [&] { end = end_now(); });
    while (end.image.empty() && !testing::Test::HasFatalFailure()) write();
    go_on_after(std::move(end));
  }
  void expect_all() { expect_all_in(*store_); }
  // Copies the store, as it is after a kill, into one of another size.
  void expect_all_after_resize(const std::string& path) {
    const Image image = image_now();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    KvConfig config = config_;
    config.medium = "file:" + path;
    config.size_bytes *= 2;
    config.survives = loses_power_ ? KvSurvives::kPower : KvSurvives::kProcess;
    const auto resized = resize_kv_file(config, {});
    ASSERT_TRUE(resized.ok()) << resized.status();
    ASSERT_EQ(resized->after_bytes, config.size_bytes);
    auto medium = open_kv_medium(config);
    ASSERT_TRUE(medium.ok()) << medium.status();
    const auto store = KvStoreImpl::make(config, *std::move(medium));
    ASSERT_TRUE(store.ok()) << store.status();
    expect_all_in(**store);
    std::remove(path.c_str());
  }

 private:
  using Numbers = std::map<uint64_t, uint64_t>;
  // The remains of the process: bytes, and what was acknowledged or under way.
  struct End {
    Image image;
    Numbers told;
    Numbers under_way;
  };

  End end_now() { return {.image = image_now(), .told = told_, .under_way = under_way_}; }
  void go_on_after(End end) {
    ASSERT_FALSE(end.image.empty());
    told_ = std::move(end.told);
    under_way_ = std::move(end.under_way);
    if (loses_power_) ++boot_;
    open(std::move(end.image));
    expect_all();
    settle();
  }
  static std::string name_of(uint64_t key) { return fmt::format("key{}", key); }
  std::vector<std::byte> value_of(uint64_t key, uint64_t number) const {
    return kv_value(name_of(key), number, sizes_.of(key, number));
  }
  KvResult put(uint64_t key, uint64_t number) {
    return store_->put(name_of(key), value_of(key, number), {}, {});
  }
  // The state found of a put that was under way is the right one from then on.
  void settle() {
    for (const auto& [key, number] : std::exchange(under_way_, {})) {
      const KvItem item = store_->get(name_of(key));
      if (item && test::same(item.value(), value_of(key, number))) told_[key] = number;
      ASSERT_EQ(static_cast<bool>(item), told_.contains(key)) << name_of(key);
    }
  }
  void expect_all_in(KvStore& store) {
    for (const auto& [key, number] : told_) {
      const KvItem item = store.get(name_of(key));
      ASSERT_TRUE(item) << name_of(key) << " is lost";
      const auto under_way = under_way_.find(key);
      const bool right = test::same(item.value(), value_of(key, number)) ||
                         (under_way != under_way_.end() &&
                          test::same(item.value(), value_of(key, under_way->second)));
      ASSERT_TRUE(right) << name_of(key) << " has another value";
    }
  }
  Image image_now() {
    if (crashing_ != nullptr) return crashing_->crash(random_());
    const ByteView bytes = pages_->direct();
    return {bytes.begin(), bytes.end()};
  }
  void open(Image image) {
    store_.reset();
    if (loses_power_) {
      auto medium = std::make_unique<CrashingMedium>(image);
      crashing_ = medium.get();
      store_ = test::make_kv(config_, std::move(medium));
    } else {
      auto medium = std::make_unique<PageCacheMedium>(std::move(image));
      pages_ = medium.get();
      auto store = test::make_kv_in_page_cache(config_, std::move(medium));
      ASSERT_TRUE(store.ok()) << store.status();
      store_ = *std::move(store);
    }
  }

  KvConfig config_;
  const test::ValueSizes sizes_;
  const bool loses_power_;
  Prng random_;
  uint64_t boot_ = 1;
  uint64_t numbers_ = 0;
  Numbers told_;
  Numbers under_way_;  // at the end of the process: it may be there
  CrashingMedium* crashing_ = nullptr;
  PageCacheMedium* pages_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

void run_put_kills(Durability durability, bool loses_power, uint64_t histories,
                   const test::ValueSizes& sizes = {}) {
  const TempDir dir;
  for (uint64_t i = 0; i < seeds(histories); ++i) {
    const uint64_t seed = test_seed() + i;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng chance(seed + 1);
    KvConfig config = test::small_config(durability);
    config.cleaning = KvCleaning::kLive;
    PutClient client(config, sizes, loses_power, seed);
    for (int life = 0; life < 4; ++life) {
      for (uint64_t writes = chance.below(300); writes > 0; --writes) client.write();
      client.end_in_put();
      client.expect_all();
      if (testing::Test::HasFatalFailure()) return;
      if (chance.below(4) == 0) client.expect_all_after_resize(dir.file("kv"));
      // A loss of power in a cleaning may cost items.
      if (!loses_power && chance.below(2) == 0) client.end_in_cleaning();
      if (testing::Test::HasFatalFailure()) return;
      for (uint64_t writes = chance.below(600); writes > 0; --writes) client.write();
      client.expect_all();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(KvPutKill, LosesNothingAtAnyStep) {
  run_put_kills(Durability::kCache, /*loses_power=*/false, 100);
}

TEST(KvPutKill, LosesNothingAtAnyStepWhereEachIsFlushed) {
  run_put_kills(Durability::kEach, /*loses_power=*/false, 50);
}

TEST(KvPutKill, LosesNothingWithThePowerWhereEachIsFlushed) {
  run_put_kills(Durability::kEach, /*loses_power=*/true, 60);
}

TEST(KvPutKill, LosesNothingWithThePowerWhereItemsAreEvacuated) {
  run_put_kills(Durability::kEach, /*loses_power=*/true, 60, {.large_each = 18});
}

}  // namespace
}  // namespace nvcache
