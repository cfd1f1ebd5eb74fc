#include "tiered_cache/shared_tiers.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/never_destroyed.h"
#include "base/text.h"
#include "block_cache/api/config.h"
#include "block_cache/api/stats_text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

Status check_warm(const TierConfig& config, std::string_view owner) {
  if (!config.cache.immutable_keys) {
    return invalid_argument(
        "name={}: restart=warm: keys=mutable given; allowed: keys=immutable, or restart=cold",
        config.name);
  }
  if (owner.empty()) {
    return invalid_argument(
        "name={}: restart=warm: no owner given; allowed: owner=NAME, a name of each cache's own "
        "that it has again after a restart, or owner={} if no key names other bytes in any cache",
        config.name, KeySpace::kAllOwners);
  }
  return ok_status();
}

}  // namespace

// Kept for the life of the process.
class SharedTier {
 public:
  explicit SharedTier(std::string name) : name_(std::move(name)) {}

  struct Joined {
    LateBlockStore* store = nullptr;
    KeySpace keys;
  };
  [[nodiscard]] StatusOr<Joined> join(const TierConfig& config, std::string_view owner)
      NVCACHE_EXCLUDES(mutex_);

  // Ends a cache's part. With `if_last`, only if it is the only one: false, and it stays, if not.
  bool leave(uint32_t tag, bool if_last) NVCACHE_EXCLUDES(mutex_);

  uint32_t users() const { return user_count_.load(std::memory_order_relaxed); }
  // Of these, those whose keys have the tag.
  size_t users(uint32_t tag) const NVCACHE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return static_cast<size_t>(std::ranges::count(users_, tag, &User::tag));
  }

  // Totals of before the tier was last opened. The names are missing.
  Stats past() const NVCACHE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return past_;
  }

 private:
  struct User {
    uint32_t tag = 0;
    std::string owner;
  };

  [[nodiscard]] Status check_owner(const KeySpace& keys, std::string_view owner)
      NVCACHE_REQUIRES(mutex_);
  uint32_t next_tag() NVCACHE_REQUIRES(mutex_);
  void count_users() NVCACHE_REQUIRES(mutex_) {
    user_count_.store(static_cast<uint32_t>(users_.size()), std::memory_order_relaxed);
  }

  const std::string name_;
  mutable Mutex mutex_;
  CondVar closed_;
  std::unique_ptr<LateBlockStore> store_ NVCACHE_GUARDED_BY(mutex_);  // null: nobody uses the tier
  bool closing_ NVCACHE_GUARDED_BY(mutex_) = false;                   // its medium is still in use
  std::vector<User> users_ NVCACHE_GUARDED_BY(mutex_);
  uint32_t last_tag_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t joins_ NVCACHE_GUARDED_BY(mutex_) = 0;
  Stats past_ NVCACHE_GUARDED_BY(mutex_);
  std::atomic<uint32_t> user_count_{0};
};

StatusOr<SharedTier::Joined> SharedTier::join(const TierConfig& config, std::string_view owner) {
  const bool warm = config.restarts_warm();
  if (warm) {
    if (Status status = check_warm(config, owner); !status.ok()) return status;
  }
  const MutexLock lock(mutex_);
  while (closing_) closed_.wait(mutex_);
  if (store_ != nullptr && !(store_->config() == config.cache)) {
    return invalid_argument("name={}: {}; allowed: the same settings, or another name", name_,
                            differences(config_rows(), config.cache, store_->config()));
  }
  const KeySpace keys = warm ? KeySpace::of_owner(owner) : KeySpace(next_tag(), ++joins_);
  if (warm) {
    if (Status status = check_owner(keys, owner); !status.ok()) return status;
  }
  User user{keys.tag(), std::string(owner)};
  users_.reserve(users_.size() + 1);
  if (store_ == nullptr) {
    // Each cache has a threshold of its own, or none.
    store_ = std::make_unique<LateBlockStore>(config.cache, system_clock(),
                                              BlockStore::Options{.count_references = true});
  }
  users_.push_back(std::move(user));  // the last that needs memory has it
  count_users();
  return Joined{store_.get(), keys};
}

Status SharedTier::check_owner(const KeySpace& keys, std::string_view owner) {
  const auto found = std::ranges::find(users_, keys.tag(), &User::tag);
  if (found == users_.end() || keys.tag() == KeySpace::kAllOwnersTag) return ok_status();
  if (found->owner == owner) {
    return invalid_argument("owner={}: another open cache has it in name={}; allowed: another name",
                            owner, name_);
  }
  return invalid_argument(
      "owner={}: by chance its keys would meet those of owner={} in name={}; "
      "allowed: another name",
      owner, found->owner, name_);
}

// Tags go round, so that one that was in use comes back late.
uint32_t SharedTier::next_tag() {
  NVCACHE_ASSERT(users_.size() < KeySpace::kMaxTag);
  do {
    last_tag_ = last_tag_ == KeySpace::kMaxTag ? 1 : last_tag_ + 1;
  } while (std::ranges::find(users_, last_tag_, &User::tag) != users_.end());
  return last_tag_;
}

bool SharedTier::leave(uint32_t tag, bool if_last) {
  std::unique_ptr<LateBlockStore> last;
  {
    const MutexLock lock(mutex_);
    if (if_last && users_.size() > 1) return false;
    const auto found = std::ranges::find(users_, tag, &User::tag);
    NVCACHE_ASSERT(found != users_.end());
    users_.erase(found);
    count_users();
    if (!users_.empty()) return true;
    last = std::move(store_);
    closing_ = true;
  }
  // Without the lock: this waits for the medium. Who joins meanwhile waits for the end of it.
  Stats totals;
  if (const BlockStore* const store = last->opened(); store != nullptr) totals = store->stats();
  last.reset();
  {
    const MutexLock lock(mutex_);
    add_stats(totals, /*gauges=*/false, &past_);
    closing_ = false;
  }
  closed_.notify_all();
  return true;
}

namespace {

struct Registry {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<SharedTier>> tiers NVCACHE_GUARDED_BY(mutex);
};

std::shared_ptr<SharedTier> tier_of(const std::string& name) {
  static NeverDestroyed<Registry> registry;  // caches may be closed after main()
  Registry& all = *registry;
  const MutexLock lock(all.mutex);
  std::shared_ptr<SharedTier>& tier = all.tiers[name];
  if (tier == nullptr) tier = std::make_shared<SharedTier>(name);
  return tier;
}

}  // namespace

StatusOr<std::unique_ptr<TierShare>> TierShare::join(const TierConfig& config,
                                                     std::string_view owner) {
  std::unique_ptr<TierShare> share(new TierShare(tier_of(config.name)));
  const StatusOr<SharedTier::Joined> joined = share->tier_->join(config, owner);
  if (!joined.ok()) return joined.status();
  share->store_ = joined->store;
  share->keys_ = joined->keys;
  return share;
}

// The last one's blocks go with the tier.
TierShare::~TierShare() {
  if (store_ == nullptr) return;  // it did not join
  const bool warm = store_->config().restart == Restart::kWarm;
  if (!warm && tier_->leave(keys_.tag(), /*if_last=*/true)) return;
  if (!warm) clear();
  tier_->leave(keys_.tag(), /*if_last=*/false);
}

uint32_t TierShare::users() const { return tier_->users(); }

void TierShare::clear() {
  BlockStore* const store = store_->opened();
  if (store == nullptr || tier_->users(keys_.tag()) > 1) return;
  store->erase_matching([this](const BlockKey& key) { return keys_.has(key); });
}

Stats TierShare::stats() const {
  Stats stats;
  if (const BlockStore* const store = store_->opened()) stats = store->stats();
  add_stats(tier_->past(), /*gauges=*/false, &stats);
  return stats;
}

}  // namespace nvcache
