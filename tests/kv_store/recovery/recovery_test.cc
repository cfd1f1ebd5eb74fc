// Which stores an opening believes in, by the state that the last user left.
#include "kv_store/recovery/recovery.h"

#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RecoveryTest : public ::testing::Test {
 protected:
  // The medium of a store that holds one item, after a loss of power that took nothing.
  std::vector<std::byte> image_with(const KvConfig& config) {
    auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
    CrashingMedium* seen = medium.get();
    const auto store = test::make_kv(config, std::move(medium));
    put_text(*store, "a", "one");
    EXPECT_TRUE(store->sync().ok());
    return seen->crash(1);
  }
  // Lets the image say that its last user was of another state.
  static void set_state(std::vector<std::byte>* image, KvState state) {
    auto crashing = std::make_unique<CrashingMedium>(*image);
    CrashingMedium& medium = *crashing;
    KvMedium on;
    on.medium = std::move(crashing);
    KvSuperblockFile file(on);
    KvSuperblock superblock;
    KvState before;
    const auto found = file.load(&superblock, &before);
    ASSERT_TRUE(found.ok() && *found);
    state.sequence = before.sequence + 1;
    state.cas = std::max(state.cas, before.cas);
    ASSERT_TRUE(file.write_state(state).ok());
    *image = medium.crash(1);
  }
  std::string item_after(KvState state, Durability durability = Durability::kCache) {
    std::vector<std::byte> image = image_with(test::small_config());
    set_state(&image, state);
    const auto store =
        test::make_kv(test::small_config(durability), std::make_unique<CrashingMedium>(image));
    return store ? get_text(*store, "a") : "";
  }
};

// Every state beside every opening. The table says it in other words than the code.
TEST(KvTrustTest, IsNeverMoreThanTheLastOwnerEarned) {
  constexpr uint64_t kThisBoot = 7;
  for (const bool clean : {false, true}) {
    for (const bool invalidates : {false, true}) {
      for (const bool power : {false, true}) {
        for (const uint64_t found_boot : {uint64_t{0}, kThisBoot, uint64_t{8}}) {
          for (const uint64_t boot : {uint64_t{0}, kThisBoot}) {
            for (const bool promises_power : {false, true}) {
              const KvState found{
                  .boot = found_boot, .clean = clean, .invalidates = invalidates, .power = power};
              SCOPED_TRACE(testing::Message()
                           << "clean " << clean << " invalidates " << invalidates << " power "
                           << power << " boots " << found_boot << ' ' << boot << " promises power "
                           << promises_power);
              EXPECT_EQ(trust_of(found, boot, Durability::kVolatile, promises_power),
                        KvTrust::kNothing);
              const bool pages_are_there = boot == kThisBoot && found_boot == kThisBoot;
              const bool on_medium = clean || (invalidates && power);
              const bool in_pages = !on_medium && invalidates && pages_are_there;
              const KvTrust wanted = on_medium        ? KvTrust::kAll
                                     : !in_pages      ? KvTrust::kNothing
                                     : promises_power ? KvTrust::kAfterSync
                                                      : KvTrust::kAll;
              for (const Durability durability :
                   {Durability::kCache, Durability::kEach, Durability::kEachLru}) {
                EXPECT_EQ(trust_of(found, boot, durability, promises_power), wanted);
              }
            }
          }
        }
      }
    }
  }
}

TEST_F(RecoveryTest, AStoreThatWasClosedInOrderIsBelieved) {
  EXPECT_EQ(item_after({.clean = true}), "one");
}

TEST_F(RecoveryTest, SoIsOneWhoseDeletesSurviveALossOfPower) {
  EXPECT_EQ(item_after({.invalidates = true, .power = true}), "one");
}

TEST_F(RecoveryTest, WithoutEitherItIsEmpty) {
  EXPECT_EQ(item_after({.power = true}), "") << "deletes were not flushed";
  EXPECT_EQ(item_after({.boot = 5, .invalidates = true}), "") << "the machine was started anew";
  EXPECT_EQ(item_after({.boot = 0, .invalidates = true}), "") << "nobody knows";
}

TEST_F(RecoveryTest, AVolatileStoreStartsEmpty) {
  EXPECT_EQ(item_after({.clean = true}, Durability::kVolatile), "");
}

TEST_F(RecoveryTest, NumbersOfValuesBeginAtOneAndAnEndInOrderUsesNoneUp) {
  std::vector<std::byte> image;
  for (uint64_t round = 1; round <= 30; ++round) {
    auto medium = image.empty() ? std::make_unique<CrashingMedium>(1 << 20)
                                : std::make_unique<CrashingMedium>(image);
    CrashingMedium* const seen = medium.get();
    const auto store = test::make_kv(test::small_config(), std::move(medium));
    EXPECT_EQ(put_text(*store, "b", "two").cas, round);
    ASSERT_TRUE(static_cast<KvStoreImpl&>(*store).close().ok());
    image = seen->crash(round);
  }
}

// Four numbers at first: the store reserves more, durably, before it gives them.
TEST_F(RecoveryTest, NoNumberOfAValueComesAgainAfterAKill) {
  KvConfig config = test::small_config();
  config.first_cas_block = 4;
  std::vector<std::byte> image = image_with(config);
  uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    auto medium = std::make_unique<CrashingMedium>(image);
    CrashingMedium* const seen = medium.get();
    const auto store = test::make_kv(config, std::move(medium));
    const uint64_t before = last;
    for (int i = 0; i < 50; ++i) {
      const uint64_t cas = put_text(*store, "b", std::to_string(i)).cas;
      ASSERT_GT(cas, last);
      last = cas;
    }
    EXPECT_LE(last - before, 50u + 100u) << "at most as many more as were given before";
    image = seen->crash(static_cast<uint64_t>(round));
  }
}

// Not a kill, but from then on for ever.
TEST_F(RecoveryTest, ALossOfPowerIsRemembered) {
  uint64_t boot = 1;
  KvConfig config = test::small_config();
  config.boot = [&] { return boot; };
  std::vector<std::byte> image = image_with(config);
  const auto torn_after_use = [&] {
    auto medium = std::make_unique<CrashingMedium>(image);
    CrashingMedium* const seen = medium.get();
    const auto store = test::make_kv(config, std::move(medium));
    EXPECT_TRUE(static_cast<KvStoreImpl&>(*store).close().ok());
    image = seen->crash(1);
    KvMedium on;
    on.medium = std::make_unique<CrashingMedium>(image);
    KvSuperblock superblock;
    KvState state;
    EXPECT_TRUE(KvSuperblockFile(on).load(&superblock, &state).ok());
    return state.torn;
  };
  const std::vector<std::byte> not_closed = image;
  EXPECT_FALSE(torn_after_use()) << "the same start of the machine";
  boot = 2;
  EXPECT_FALSE(torn_after_use()) << "it was closed in order";
  image = not_closed;
  EXPECT_TRUE(torn_after_use());
  EXPECT_TRUE(torn_after_use());
}

// A store that cannot be trusted is made anew, and its numbers do not begin again: a client may
// still hold the number of a value that is gone.
TEST_F(RecoveryTest, NumbersGoOnWhereAStoreIsMadeAnew) {
  std::vector<std::byte> image = image_with(test::small_config());
  set_state(&image, {.cas = 100'000, .boot = 0});
  const auto store =
      test::make_kv(test::small_config(), std::make_unique<CrashingMedium>(std::move(image)));
  EXPECT_FALSE(store->get("a"));
  EXPECT_GT(put_text(*store, "b", "two").cas, 100'000u);
}

TEST_F(RecoveryTest, SaysWhyAStoreIsEmptied) {
  const auto notes_after = [&](KvState state, Durability durability) {
    std::vector<std::byte> image = image_with(test::small_config());
    set_state(&image, state);
    const auto store = test::make_kv(test::small_config(durability),
                                     std::make_unique<CrashingMedium>(std::move(image)));
    std::string all;
    for (const std::string& note : store->stats().notes) all += note;
    return all;
  };
  EXPECT_THAT(
      notes_after({.boot = 3, .invalidates = true}, Durability::kCache),
      AllOf(HasSubstr("emptied a store of about 1 items"),
            HasSubstr("another start of the machine"), HasSubstr("survives=power over all")));
  EXPECT_THAT(notes_after({.boot = 3}, Durability::kCache), HasSubstr("durability=volatile"));
  EXPECT_EQ(notes_after({.clean = true}, Durability::kCache), "");
  EXPECT_EQ(notes_after({.clean = true}, Durability::kVolatile), "") << "it is what was asked for";
}

TEST_F(RecoveryTest, FormatsWhatHoldsNothing) {
  KvMedium medium;
  medium.medium = std::make_unique<CrashingMedium>(64 << 10);
  const auto made = find_or_format(medium, test::small_config());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE(made->recovered);
  const auto found = find_or_format(medium, test::small_config());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->recovered);
  EXPECT_EQ(found->superblock.nonce, made->superblock.nonce);
  EXPECT_EQ(found->superblock.geometry, made->superblock.geometry);
}

// The next machine's clock is behind: nothing that expired lives again, after a kill or an end in
// order.
TEST(KvTime, NoOpeningRunsBeforeWhatTheStoreHasSeen) {
  for (const bool in_order : {false, true}) {
    SCOPED_TRACE(in_order);
    uint32_t now_s = 1000;
    KvConfig config = test::small_config();
    config.now_s = [&] { return now_s; };
    auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
    const ByteView memory = medium->direct();
    auto store = test::make_kv(config, std::move(medium));
    put_text(*store, "set", "x", {}, /*expires_s=*/1010);
    put_text(*store, "touched", "x", {}, /*expires_s=*/5000);
    put_text(*store, "stays", "x", {}, /*expires_s=*/2000);
    now_s = 1020;
    EXPECT_EQ(get_text(*store, "set"), "");
    put_text(*store, "past", "x", {}, /*expires_s=*/1015);
    EXPECT_EQ(store->touch("touched", 1016), KvOutcome::kDone);
    ASSERT_TRUE(store->sync().ok());
    if (in_order) {
      ASSERT_TRUE(static_cast<KvStoreImpl&>(*store).close().ok());
    }
    const std::vector<std::byte> image(memory.begin(), memory.end());
    now_s = 900;
    store = test::make_kv(config, std::make_unique<CrashingMedium>(image));
    for (const char* key : {"set", "past", "touched"}) EXPECT_EQ(get_text(*store, key), "") << key;
    EXPECT_EQ(get_text(*store, "stays"), "x");
    put_text(*store, "new", "x", {}, /*expires_s=*/1030);
    EXPECT_EQ(get_text(*store, "new"), "x");
    now_s += 10;
    EXPECT_EQ(get_text(*store, "new"), "") << "time goes on from there";
  }
}

TEST_F(RecoveryTest, RepairsAllDamagedZonesWithTheFlushesOfOne) {
  const KvConfig config = test::small_config();
  const std::vector<std::byte> image = image_with(config);
  const auto geometry =
      plan_geometry(config.size_bytes, config.zone_bytes, config.item_bytes, config.version_bits);
  ASSERT_TRUE(geometry.ok()) << geometry.status();
  ASSERT_GT(geometry->zones, 8u);
  const auto flushes_after_damage = [&](uint64_t zones) {
    std::vector<std::byte> damaged = image;
    for (uint64_t zone = 0; zone < zones; ++zone) {
      damaged[geometry->header_at(zone)] ^= std::byte{0xff};
    }
    const auto store = test::make_kv(config, std::make_unique<CrashingMedium>(damaged));
    return store->stats().flushes;
  };
  EXPECT_EQ(flushes_after_damage(geometry->zones), flushes_after_damage(1));
  EXPECT_GT(flushes_after_damage(1), flushes_after_damage(0)) << "the control: it was repaired";
}

}  // namespace
}  // namespace nvcache
