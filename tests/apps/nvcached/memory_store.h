// A KvStore in memory, for tests of the code above the interface: a map, a lock, and a clock that
// the test can move. Values that readers hold do not change. Thread-safe.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "nvcache/kv_store.h"

namespace nvcache {

class MemoryStore final : public KvStore, private Pin::Owner {
 public:
  explicit MemoryStore(std::function<uint32_t()> now_s) : now_s_(std::move(now_s)) {}

  KvItem get(std::string_view key) override {
    const MutexLock lock(mutex_);
    if (key == no_memory_for_) throw std::bad_alloc();
    ++stats_.gets;
    const Value* found = live(key);
    if (found == nullptr) return {};
    ++stats_.hits;
    const uint64_t handle = ++next_handle_;
    held_[handle] = found->bytes;
    const std::string& bytes = *found->bytes;
    return {Pin(this, handle, std::as_bytes(std::span(bytes.data(), bytes.size()))), found->meta};
  }

  KvResult put(std::string_view key, ByteView value, const KvMeta& meta,
               KvCondition condition) override {
    const MutexLock lock(mutex_);
    ++stats_.puts;
    if (refuse_with_ != KvOutcome::kDone) return {refuse_with_};
    const Value* found = live(key);
    switch (condition.kind) {
      case KvCondition::kAlways:
        break;
      case KvCondition::kIfAbsent:
        if (found != nullptr) return {KvOutcome::kExists};
        break;
      case KvCondition::kIfPresent:
        if (found == nullptr) return {KvOutcome::kNotFound};
        break;
      case KvCondition::kIfCas:
        if (found == nullptr) return {KvOutcome::kNotFound};
        if (found->meta.cas != condition.cas) return {KvOutcome::kExists};
    }
    Value fresh;
    std::string bytes(reinterpret_cast<const char*>(value.data()), value.size());
    if (meta.marks) bytes.push_back(static_cast<char>(*meta.marks));
    fresh.bytes = std::make_shared<const std::string>(std::move(bytes));
    fresh.meta = meta;
    fresh.meta.marks.reset();
    fresh.meta.cas = ++next_cas_;
    const uint64_t cas = fresh.meta.cas;
    values_.insert_or_assign(std::string(key), std::move(fresh));
    return {KvOutcome::kDone, cas};
  }

  KvResult erase(std::string_view key, uint64_t cas) override {
    const MutexLock lock(mutex_);
    if (refuses_all_) return {refuse_with_};
    const Value* found = live(key);
    if (found == nullptr) return {KvOutcome::kNotFound};
    if (cas != 0 && cas != found->meta.cas) return {KvOutcome::kExists};
    values_.erase(values_.find(key));
    ++stats_.erases;
    return {};
  }

  KvOutcome touch(std::string_view key, uint32_t expires_s) override {
    const MutexLock lock(mutex_);
    if (refuses_all_) return refuse_with_;
    Value* found = live(key);
    if (found == nullptr) return KvOutcome::kNotFound;
    found->meta.expires_s = expires_s;
    return KvOutcome::kDone;
  }

  Status clear() override {
    const MutexLock lock(mutex_);
    if (fail_clears_) return data_loss_error("the medium failed");
    values_.clear();
    return ok_status();
  }

  Status sync() override { return ok_status(); }

  uint64_t visit(uint64_t, const KvVisitor& visitor) override {
    const MutexLock lock(mutex_);
    for (const auto& [key, value] : values_) {
      const uint32_t expires_s = value.meta.expires_s;
      if (expires_s != 0 && expires_s <= now_s_()) continue;
      const KvItem item{
          Pin(nullptr, 0, std::as_bytes(std::span(value.bytes->data(), value.bytes->size()))),
          value.meta};
      visitor(key, item);
    }
    return 0;
  }

  KvStats stats() const override {
    const MutexLock lock(mutex_);
    KvStats stats = stats_;
    stats.items = values_.size();
    for (const auto& [key, value] : values_) stats.data_bytes += key.size() + value.bytes->size();
    stats.size_bytes = 64 << 20;
    stats.medium = "memory";
    stats.durability = "volatile";
    return stats;
  }

  // For tests: the key whose get() ends as one whose caller's code has no memory.
  void have_no_memory_for(std::string key) {
    const MutexLock lock(mutex_);
    no_memory_for_ = std::move(key);
  }
  // From now on puts, or all changes, end with `outcome`.
  void refuse_puts(KvOutcome outcome) {
    const MutexLock lock(mutex_);
    refuse_with_ = outcome;
  }
  void refuse_changes(KvOutcome outcome) {
    const MutexLock lock(mutex_);
    refuse_with_ = outcome;
    refuses_all_ = true;
  }
  void fail_clears(bool fail) {
    const MutexLock lock(mutex_);
    fail_clears_ = fail;
  }
  void set_file(std::string path, bool lost) {
    const MutexLock lock(mutex_);
    stats_.file = std::move(path);
    stats_.file_lost = lost;
  }
  size_t held() const {
    const MutexLock lock(mutex_);
    return held_.size();
  }

 private:
  struct Value {
    std::shared_ptr<const std::string> bytes;
    KvMeta meta;
  };

  void release(uint64_t handle) override {
    const MutexLock lock(mutex_);
    held_.erase(handle);
  }

  Value* live(std::string_view key) NVCACHE_REQUIRES(mutex_) {
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    const uint32_t expires_s = found->second.meta.expires_s;
    if (expires_s == 0 || expires_s > now_s_()) return &found->second;
    values_.erase(found);
    ++stats_.expired;
    return nullptr;
  }

  const std::function<uint32_t()> now_s_;
  mutable Mutex mutex_;
  std::map<std::string, Value, std::less<>> values_ NVCACHE_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::shared_ptr<const std::string>> held_ NVCACHE_GUARDED_BY(mutex_);
  uint64_t next_handle_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t next_cas_ NVCACHE_GUARDED_BY(mutex_) = 0;
  bool refuses_all_ NVCACHE_GUARDED_BY(mutex_) = false;
  KvOutcome refuse_with_ NVCACHE_GUARDED_BY(mutex_) = KvOutcome::kDone;
  bool fail_clears_ NVCACHE_GUARDED_BY(mutex_) = false;
  std::string no_memory_for_ NVCACHE_GUARDED_BY(mutex_);
  KvStats stats_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache
