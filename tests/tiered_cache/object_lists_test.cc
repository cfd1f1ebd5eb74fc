// Which objects the first tier looks at for eviction, counted.
#include "tiered_cache/object_lists.h"

#include <gtest/gtest.h>

#include <memory>

namespace nvcache {
namespace {

constexpr size_t kObjects = 1000;
constexpr size_t kBytes = 4096;

struct Full {
  Full() {
    for (size_t i = 0; i < kObjects; ++i) {
      entries[i].used_bytes = kBytes;
      entries[i].enter(/*held_by=*/1, /*hit=*/false);
      lists.add(&entries[i]);
    }
  }
  size_t parked() const {
    size_t count = 0;
    for (size_t i = 0; i < kObjects; ++i) count += entries[i].is_parked() ? 1 : 0;
    return count;
  }

  SharedRoom room{{.capacity_bytes = kObjects * kBytes, .strict = true}, nullptr};
  ObjectLists lists{room};
  const std::unique_ptr<ObjectEntry[]> entries = std::make_unique<ObjectEntry[]>(kObjects);
};

TEST(ObjectLists, AHeldObjectIsPassedOverOnce) {
  Full full;
  EXPECT_EQ(full.lists.take_victim(/*most_held=*/100), nullptr);
  EXPECT_EQ(full.parked(), 100u);
  EXPECT_EQ(full.lists.take_victim(SIZE_MAX), nullptr);
  EXPECT_EQ(full.parked(), kObjects);
  EXPECT_TRUE(full.lists.empty()) << "the next eviction looks at none";
  EXPECT_EQ(full.lists.take_victim(SIZE_MAX), nullptr);
}

TEST(ObjectLists, TheLastReleaseBringsItBack) {
  Full full;
  EXPECT_EQ(full.lists.take_victim(SIZE_MAX), nullptr);
  ObjectEntry& entry = full.entries[500];
  const ObjectEntry::Released released = entry.drop();
  EXPECT_TRUE(released.last && released.resident && released.parked);
  full.lists.bring_back(&entry);
  full.lists.bring_back(&entry);  // as a second thread that saw it parked
  EXPECT_EQ(full.lists.take_victim(SIZE_MAX), &entry);
  EXPECT_FALSE(entry.is_resident());
  EXPECT_TRUE(full.lists.empty());
}

TEST(ObjectLists, WhatIsRemovedWhileItIsParkedDoesNotComeBack) {
  Full full;
  EXPECT_EQ(full.lists.take_victim(SIZE_MAX), nullptr);
  ObjectEntry& entry = full.entries[0];
  full.lists.remove(&entry);
  EXPECT_FALSE(entry.leave()) << "it is held";
  EXPECT_FALSE(entry.drop().resident);
  full.lists.bring_back(&entry);
  EXPECT_TRUE(full.lists.empty());
}

}  // namespace
}  // namespace nvcache
