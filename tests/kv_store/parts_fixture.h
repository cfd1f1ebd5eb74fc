// The parts of a small store on plain memory, without a store: for tests of one part.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "kv_store/kv_fixture.h"
#include "kv_store/log/cleaner.h"
#include "kv_store/log/parts.h"
#include "kv_store/store/item_index.h"
#include "medium/dram.h"

namespace nvcache::test {

class PartsFixture : public ::testing::Test {
 protected:
  PartsFixture() { make(small_config()); }

  void make(const KvConfig& config) {
    auto dram = DramMedium::open({.size_bytes = config.size_bytes});
    ASSERT_TRUE(dram.ok()) << dram.status();
    make_on(*std::move(dram), config);
  }
  void make_on(std::unique_ptr<Medium> on, KvConfig config) {
    config.now_s = [this] { return now_s_; };
    const auto geometry =
        plan_geometry(config.size_bytes, config.zone_bytes, config.item_bytes, config.version_bits);
    ASSERT_TRUE(geometry.ok()) << geometry.status();
    KvMedium medium;
    medium.medium = std::move(on);
    parts_ = std::make_unique<KvParts>(config, std::move(medium),
                                       KvSuperblock{.geometry = *geometry, .nonce = 7},
                                       /*recovered=*/false);
    index_ = std::make_unique<ItemIndex>(*parts_);
    cleaner_ = std::make_unique<Cleaner>(*parts_);
    MutexLock cleaning(parts_->zones.cleaning_mutex());
    MutexLock lock(parts_->zones.space_mutex());
    for (uint64_t zone = 0; zone < geometry->zones; ++zone) {
      parts_->headers.write(zone, 1, 0, 0);
      parts_->zones.adopt(zone, 1, 0, 0, /*unchecked=*/false);
    }
  }

  DescriptorTable::Bucket bucket_of(std::string_view key) {
    return parts_->table.bucket_of(hash_bytes(key));
  }
  // Appends an item and lets a descriptor lead to it.
  ZoneLog::Room insert(std::string_view key, std::string_view value, uint32_t expires_s = 0) {
    const uint64_t item_bytes = kv_item_bytes(key.size(), value.size());
    const auto room = parts_->zones.allocate(item_bytes, *cleaner_);
    EXPECT_TRUE(room.has_value());
    if (!room) return {};
    const auto bucket = bucket_of(key);
    const KvDescriptor descriptor =
        parts_->items.write(room->address, key, bytes_of(value), {.expires_s = expires_s},
                            kv_tag(bucket.hash), room->version);
    MutexLock lock(bucket.stripe.mutex);
    EXPECT_TRUE(index_->publish(bucket, room->zone, descriptor, item_bytes, nullptr));
    parts_->zones.unpin(room->zone);
    return *room;
  }
  // "" where the key has no item.
  std::string find(std::string_view key) {
    ItemLocation found;
    if (index_->find(bucket_of(key), key, &found) != ItemIndex::Presence::kPresent) return "";
    const std::string value = text_of(found.item.value());
    parts_->zones.unpin(found.zone);
    return value;
  }
  bool clean(uint64_t zone, uint64_t item_bytes = 64) {
    MutexLock lock(parts_->zones.cleaning_mutex());
    ZoneCleaner& cleaner = *cleaner_;  // as the log of zones calls it
    return cleaner.clean(zone, item_bytes);
  }
  uint64_t count(KvCounter counter) const { return parts_->counters.sum(counter); }

  uint32_t now_s_ = 1000;
  std::unique_ptr<KvParts> parts_;
  std::unique_ptr<ItemIndex> index_;
  std::unique_ptr<Cleaner> cleaner_;
};

}  // namespace nvcache::test
