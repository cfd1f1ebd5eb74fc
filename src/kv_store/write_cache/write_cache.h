// The DRAM write cache: values of keys that are written often (NVMcached, section 3.4). A
// list of the 1024 keys written last counts their writes. A key with three or more may have
// its value here alone, so that the next write costs the medium nothing. While a value is
// here, the medium holds no valid older one.
//
// A crash loses what is here. A value that is read four times and not written since is
// not short-lived: it is queued, and a later put moves it to the medium, so that what many
// clients read survives. The store moves all values at each background sync.
//
// The list has sixteen parts, chosen by hash, each with a lock. Values are
// reference-counted: what find() returned stays valid until it is released. A caller that
// inserts, replaces or takes a value holds the lock of the key's stripe
// (kv_store/index/descriptor_table.h); note() and find() need none.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "nvcache/bytes.h"
#include "nvcache/kv_store.h"

namespace nvcache {

// A key, its value and its meta data, in one allocation.
class KvBuffer {
 public:
  static constexpr uint32_t kReadsToMove = 4;

  static KvBuffer* make(uint64_t hash, std::string_view key, ByteView value, const KvMeta& meta);
  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  uint64_t hash() const { return hash_; }
  std::string_view key() const { return {data(), key_bytes_}; }
  ByteView value() const {
    return {reinterpret_cast<const std::byte*>(data()) + key_bytes_, value_bytes_};
  }
  uint64_t size_bytes() const { return sizeof(KvBuffer) + key_bytes_ + value_bytes_; }
  KvMeta meta() const { return {flags_, expires_s_.load(std::memory_order_relaxed), cas_}; }
  // Counts a read. True once: at the read after which the value should move to the medium.
  bool count_read() {
    if (reads_.load(std::memory_order_relaxed) >= kReadsToMove) return false;
    return reads_.fetch_add(1, std::memory_order_relaxed) + 1 == kReadsToMove;
  }
  void set_expires_s(uint32_t expires_s) { expires_s_.store(expires_s, std::memory_order_relaxed); }

 private:
  KvBuffer() = default;
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }

  std::atomic<uint32_t> references_{1};
  std::atomic<uint32_t> expires_s_{0};
  std::atomic<uint32_t> reads_{0};
  uint64_t hash_ = 0;
  uint64_t cas_ = 0;
  uint32_t flags_ = 0;
  uint32_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
};

// Owns one reference.
class KvBufferRef {
 public:
  KvBufferRef() = default;
  explicit KvBufferRef(KvBuffer* buffer) : buffer_(buffer) {}  // takes the reference over
  KvBufferRef(KvBufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  KvBufferRef& operator=(KvBufferRef&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~KvBufferRef() {
    if (buffer_ != nullptr) buffer_->release();
  }
  KvBuffer* get() const { return buffer_; }
  KvBuffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  KvBufferRef share() const {
    if (buffer_ != nullptr) buffer_->add_reference();
    return KvBufferRef(buffer_);
  }
  KvBuffer* detach() { return std::exchange(buffer_, nullptr); }

 private:
  KvBuffer* buffer_ = nullptr;
};

class KvWriteCache {
 public:
  static constexpr uint32_t kListLength = 1024;
  static constexpr uint32_t kHotWrites = 3;

  explicit KvWriteCache(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  bool enabled() const { return limit_bytes_ > 0; }
  bool fits(uint64_t item_bytes) const { return item_bytes <= limit_bytes_ / 16; }
  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

  // Counts a write. Returns whether the key is written often. `fallen` is set to a value
  // whose key fell off the list to make room; find() finds it until it is taken.
  bool note(uint64_t hash, KvBufferRef* fallen);

  KvBufferRef find(uint64_t hash, std::string_view key);

  // False if the key is not on the list, or the cache is full.
  bool insert(const KvBufferRef& buffer);
  // Replaces `old`, which must be here. False, and nothing changed, if the key is not on
  // the list, or the cache has no room for a larger value.
  bool replace(const KvBuffer* old, const KvBufferRef& buffer);
  // False if `buffer` is not here any more.
  bool take(const KvBuffer* buffer);

  // Queues a value that is read often, to be moved to the medium. next_move() hands out
  // one of them, oldest first, or none. It may have been replaced or taken since.
  void queue_move(KvBufferRef buffer);
  KvBufferRef next_move();

  // All values. They stay in the cache.
  std::vector<KvBufferRef> all();

 private:
  static constexpr uint32_t kParts = 16;
  static constexpr uint32_t kPartLength = kListLength / kParts;

  struct alignas(64) Part {
    Mutex mutex;
    uint64_t clock NVCACHE_GUARDED_BY(mutex) = 0;
    std::array<uint64_t, kPartLength> hashes NVCACHE_GUARDED_BY(mutex){};
    std::array<uint64_t, kPartLength> written NVCACHE_GUARDED_BY(mutex){};  // when; 0: unused
    std::array<uint32_t, kPartLength> writes NVCACHE_GUARDED_BY(mutex){};
    std::array<KvBufferRef, kPartLength> buffers NVCACHE_GUARDED_BY(mutex);
    std::vector<KvBufferRef> fallen NVCACHE_GUARDED_BY(mutex);
  };

  bool grow(uint64_t size_bytes);  // false, and nothing changed, past the limit
  Part& part_of(uint64_t hash) { return parts_[hash >> 60]; }
  static KvBufferRef* locate(Part& part, const KvBuffer* buffer) NVCACHE_REQUIRES(part.mutex);

  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
  std::array<Part, kParts> parts_;
  Mutex moves_mutex_;
  std::deque<KvBufferRef> moves_ NVCACHE_GUARDED_BY(moves_mutex_);
  std::atomic<uint64_t> moves_count_{0};
};

}  // namespace nvcache
