// Room for items, pins, and the switch of a zone to its next version.
#include "kv_store/parts_fixture.h"

namespace nvcache {
namespace {

using Validity = ZoneLog::Validity;

class ZoneLogTest : public test::PartsFixture {
 protected:
  ZoneLog& zones() { return parts_->zones; }
};

TEST_F(ZoneLogTest, ItemsLieOneBehindTheOtherUntilTheZoneIsFull) {
  const uint64_t half = parts_->geometry.zone_bytes / 2;
  const auto first = zones().allocate(half, *cleaner_);
  const auto second = zones().allocate(half, *cleaner_);
  const auto third = zones().allocate(half, *cleaner_);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(second->zone, first->zone);
  EXPECT_EQ(second->address, first->address + half);
  EXPECT_NE(third->zone, first->zone);
  EXPECT_EQ(third->address, parts_->geometry.zone_at(third->zone));
  EXPECT_EQ(first->version, 2u) << "a zone is given a new version when it is opened";
  EXPECT_EQ(parts_->geometry.zone_of(second->address + half - 1), first->zone);
}

TEST_F(ZoneLogTest, NoRoomWhileEveryZoneIsPinned) {
  std::vector<ZonePin> pins;
  for (;;) {
    const auto room = zones().allocate(parts_->geometry.zone_bytes, *cleaner_);
    if (!room) break;
    pins.emplace_back(zones(), room->zone);
    ASSERT_LE(pins.size(), parts_->geometry.zones);
  }
  EXPECT_EQ(pins.size(), parts_->geometry.zones);
  pins.clear();
  const auto room = zones().allocate(64, *cleaner_);
  ASSERT_TRUE(room.has_value());
  zones().unpin(room->zone);
}

TEST_F(ZoneLogTest, OnlyTheServedVersionCanBePinned) {
  EXPECT_EQ(zones().validity(0, 1), Validity::kValid);
  EXPECT_EQ(zones().pin(0, 2), Validity::kVoid);
  EXPECT_FALSE(zones().is_pinned(0));
  ASSERT_EQ(zones().pin(0, 1), Validity::kValid);
  EXPECT_TRUE(zones().is_pinned(0));

  MutexLock lock(zones().cleaning_mutex());
  EXPECT_FALSE(zones().begin_switch(0)) << "a reader has it";
  EXPECT_EQ(zones().validity(0, 1), Validity::kValid);
  zones().unpin(0);
  ASSERT_TRUE(zones().begin_switch(0));
  EXPECT_EQ(zones().pin(0, 1), Validity::kBeingCleaned);
  EXPECT_FALSE(zones().is_pinned(0));
  zones().end_switch(0, 2, 128);
  EXPECT_EQ(zones().validity(0, 1), Validity::kVoid);
  EXPECT_EQ(zones().validity(0, 2), Validity::kValid);
  EXPECT_EQ(zones().hot_line(0), 128u);
}

TEST_F(ZoneLogTest, DescriptorsHoldTheLowerBitsOfAVersion) {
  KvConfig config = test::small_config();
  config.version_bits = 2;
  make(config);
  MutexLock lock(zones().cleaning_mutex());
  zones().serve(0, 6);
  EXPECT_EQ(zones().version_of(0), 2u);
  EXPECT_EQ(zones().full_version(0), 6u);
  EXPECT_EQ(zones().validity(0, 2), Validity::kValid);
}

TEST_F(ZoneLogTest, AnItemThatWouldLeaveItsZoneIsNone) {
  const auto room = insert("key", "value");
  const uint64_t offset = room.address - parts_->geometry.zone_at(room.zone);
  KvItemView item;
  ASSERT_TRUE(zones().item_at(room.zone, offset, &item));
  EXPECT_EQ(item.key_text(), "key");
  const uint32_t huge = 1u << 20;
  std::memcpy(parts_->memory.at(room.address + 20), &huge, 4);
  EXPECT_FALSE(zones().item_at(room.zone, offset, &item));
  EXPECT_FALSE(zones().item_at(room.zone, parts_->geometry.zone_bytes - 8, &item));
}

TEST_F(ZoneLogTest, APinEndsWithItsScope) {
  ASSERT_EQ(zones().pin(0, 1), Validity::kValid);
  {
    ZonePin pin(zones(), 0);
    ZonePin moved = std::move(pin);
    EXPECT_TRUE(zones().is_pinned(0));
  }
  EXPECT_FALSE(zones().is_pinned(0));
}

}  // namespace
}  // namespace nvcache
