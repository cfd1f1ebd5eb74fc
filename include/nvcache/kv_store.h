// KvStore: a key-value cache whose items survive a crash. It follows "NVMcached: An
// NVM-based Key-Value Cache" (APSys '16): items lie in a log of zones on the medium, found
// through arrays of checksummed 16-byte descriptors; nothing is flushed on insertion, and
// only what makes an older value worthless is flushed on update and delete.
//
// What a crash may take are the newest insertions, never correctness: after recovery a
// key has its newest acknowledged value or none; a value that was overwritten or deleted
// never comes back. docs/design/format.md says what lies on the medium, and which durability
// holds on which medium.
//
// Thread-safe. A lookup takes no lock across a copy or a medium access.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nvcache/bytes.h"

namespace nvcache {

inline constexpr uint32_t kMaxKvKeyBytes = 250;           // memcached's limit
inline constexpr uint32_t kMaxKvValueBytes = 128u << 20;  // further limited by the zone size

// What the engine makes survive which failure (docs/design/format.md).
enum class Durability : uint8_t {
  kCache,     // the paper's: no flush on insertion, flushes on update and delete
  kVolatile,  // no flush at all: the paper's MC-DRAM
  kEach,      // each set and delete flushed in order: MC-NVM
  kEachLru,   // and the order of use as well: MC-NVLRU
};

// What is stored beside a value. The store does not interpret `flags`.
struct KvMeta {
  uint32_t flags = 0;
  uint32_t expires_s = 0;  // when it is gone, in Unix seconds; 0: never
  uint64_t cas = 0;        // unique to this value of the key; set by the store
};

// An item that was found; its bytes stay valid and in place until it is released.
// Movable; release it soon, on any thread, for it keeps a zone from being cleaned.
class KvItem {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void release(uint64_t handle) = 0;
  };

  KvItem() = default;
  KvItem(Owner* owner, uint64_t handle, ByteView value, const KvMeta& meta)
      : owner_(owner), handle_(handle), value_(value), meta_(meta) {}
  KvItem(KvItem&& other) noexcept { *this = std::move(other); }
  KvItem& operator=(KvItem&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(handle_, other.handle_);
    std::swap(value_, other.value_);
    std::swap(meta_, other.meta_);
    return *this;
  }
  ~KvItem() {
    if (owner_ != nullptr) owner_->release(handle_);
  }

  explicit operator bool() const { return owner_ != nullptr; }
  ByteView value() const { return value_; }
  const KvMeta& meta() const { return meta_; }

 private:
  Owner* owner_ = nullptr;
  uint64_t handle_ = 0;
  ByteView value_;
  KvMeta meta_;
};

// When a put may happen.
struct KvCondition {
  enum Kind : uint8_t { kAlways, kIfAbsent, kIfPresent, kIfCas } kind = kAlways;
  uint64_t cas = 0;  // with kIfCas: the value that must be current
};

enum class KvOutcome : uint8_t {
  kDone,
  kNotFound,  // kIfPresent, kIfCas, erase: there is no such key
  kExists,    // kIfAbsent: it is there; kIfCas, erase: with another cas
  kTooLarge,
  kNoSpace,  // every zone is in use by readers, or the medium failed
};

struct KvResult {
  KvOutcome outcome = KvOutcome::kDone;
  uint64_t cas = 0;  // of the value stored, where it was
};

// Totals count from the opening, gauges say what holds now.
struct KvStats {
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t expired = 0;  // of the misses: the item was past its time
  uint64_t puts = 0;
  uint64_t inserts = 0;  // of the puts: of keys that were not there
  uint64_t updates = 0;  // of the puts: in place of an older value
  uint64_t erases = 0;
  uint64_t refused = 0;    // kTooLarge, kNoSpace
  uint64_t evicted = 0;    // items dropped by cleaning while they could still be read
  uint64_t relocated = 0;  // items that cleaning moved
  uint64_t relocated_bytes = 0;
  uint64_t zones_cleaned = 0;
  uint64_t hot_sets_kept = 0;     // cleanings that left the last hot set in place
  uint64_t write_cache_hits = 0;  // gets and puts served by the DRAM write cache
  uint64_t flushes = 0;           // flush calls to the medium
  uint64_t flushed_bytes = 0;
  uint64_t flushed_lines = 0;  // lines of 64 bytes that these touch
  uint64_t drains = 0;         // each a fence, or a device's flush
  uint64_t medium_written_bytes = 0;
  uint64_t damaged = 0;          // items whose checksum failed when first read after a crash
  uint64_t items = 0;            // gauge; after a restart it is exact once all is checked
  uint64_t data_bytes = 0;       // gauge: keys and values
  uint64_t size_bytes = 0;       // gauge: of the medium
  uint64_t metadata_bytes = 0;   // gauge: DRAM beside the medium
  uint64_t recovered_items = 0;  // gauge: descriptors found at the opening
  double recovery_seconds = 0;   // gauge
  bool recovered = false;        // gauge: the medium held a store
  std::string medium;
  std::string durability;

  std::string to_json() const;
};

class KvStore {
 public:
  virtual ~KvStore() = default;

  // Empty on a miss. Counts as a use of the item.
  virtual KvItem get(std::string_view key) = 0;

  // Stores a value in place of any other. `meta.cas` is ignored.
  virtual KvResult put(std::string_view key, ByteView value, const KvMeta& meta,
                       KvCondition condition = {}) = 0;

  // Removes a key; with `cas` other than 0, only that value. When it returns, the value
  // is gone for good, whatever the durability promises for crashes.
  virtual KvResult erase(std::string_view key, uint64_t cas = 0) = 0;

  // Sets when an item is gone, leaving its value and cas as they are.
  virtual KvOutcome touch(std::string_view key, uint32_t expires_s) = 0;

  // Removes all items that were stored before now, durably. DATA_LOSS where the medium
  // fails: items on it may still be found then.
  [[nodiscard]] virtual absl::Status clear() = 0;

  // Makes all that was acknowledged survive: for a shutdown in order.
  [[nodiscard]] virtual absl::Status sync() = 0;

  virtual KvStats stats() const = 0;
};

// Opens the store that a specification describes, e.g.
//   nvkv://?size=1GiB&medium=file:/var/lib/nvcached/data&durability=cache
// and recovers what the medium holds. INVALID_ARGUMENT names the key, what was given and
// what is allowed; FAILED_PRECONDITION for a medium that holds something else, another
// version or a damaged superblock: nothing is overwritten then.
[[nodiscard]] absl::StatusOr<std::unique_ptr<KvStore>> open_kv_store(std::string_view spec);

}  // namespace nvcache
