// KvEvictions: the keys that a store evicts, for programs that watch it. A bounded queue: the store
// puts keys in, the watcher takes them out when it likes, and neither calls the other.
//
// Thread-safe. While no one wants them, an eviction costs one relaxed load. While someone does, the
// store copies the key of every item that it evicts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nvcache {

struct KvEvicted {
  std::string key;
  uint64_t value_bytes = 0;
  uint32_t expires_s = 0;  // as in KvMeta
};

class KvEvictions {
 public:
  // Evictions in the queue; about 1 MiB of DRAM with keys of 50 bytes. Further ones are lost.
  static constexpr size_t kMostItems = 8192;

  KvEvictions();
  ~KvEvictions();

  // Turned off, forgets what is in the queue.
  void want(bool wanted);
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }

  // Called by the store. Counts an item as lost if the queue is full or there is no memory.
  void add(std::string_view key, uint64_t value_bytes, uint32_t expires_s);

  struct Taken {
    std::vector<KvEvicted> items;  // in the order of eviction
    uint64_t lost = 0;             // further ones, since the last call
  };
  Taken take();

 private:
  struct Queue;
  const std::unique_ptr<Queue> queue_;
  std::atomic<bool> wanted_{false};
};

}  // namespace nvcache
