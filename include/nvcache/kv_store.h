// KvStore: a key-value cache whose items survive a crash. It follows "NVMcached: An
// NVM-based Key-Value Cache" (APSys '16). Items lie in a log of zones on the medium, and
// arrays of checksummed 16-byte descriptors lead to them. An insertion flushes nothing; an
// update or delete flushes only what makes the older value void.
//
// A crash may lose the newest insertions, and nothing else: after recovery a key has its
// newest acknowledged value or none. A value that was overwritten or deleted never comes
// back. docs/design/format.md says what lies on the medium, and which durability
// holds on which medium.
//
// Thread-safe. A lookup holds no lock while it copies or reads the medium.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/bytes.h"
#include "nvcache/kv_evictions.h"
#include "nvcache/pin.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

inline constexpr uint32_t kMaxKvKeyBytes = 250;           // memcached's limit
inline constexpr uint32_t kMaxKvValueBytes = 128u << 20;  // further limited by the zone size

// Which failure an item survives (docs/design/format.md).
enum class Durability : uint8_t {
  kCache,     // NVMcached: no flush on insertion, flushes on update and delete
  kVolatile,  // no flush at all (NVMcached calls it MC-DRAM)
  kEach,      // every put and delete is flushed, in order (MC-NVM)
  kEachLru,   // the order of use is flushed as well (MC-NVLRU)
};

// Facts that are stored beside a value. The store does not interpret `flags`.
struct KvMeta {
  uint32_t flags = 0;
  uint32_t expires_s = 0;  // Unix time at which the item expires; 0: never
  uint64_t cas = 0;        // unique to this value of the key; set by the store

  // For put(): one more byte, which is stored behind the value as its last one, so that the caller
  // need not have it there. A lookup returns it in the value, and leaves this empty.
  std::optional<uint8_t> marks = std::nullopt;

  // The bytes that a value takes, with the one behind it.
  uint64_t bytes_of(ByteView value) const { return value.size() + (marks ? 1 : 0); }
};

// The result of a lookup: the pinned value and the facts stored beside it; empty on a miss. The pin
// keeps a zone from being cleaned.
struct KvItem {
  Pin pin;
  KvMeta meta;
  // The value predates an absence longer than `max_absence=`: something newer may have been stored
  // elsewhere during it. Only stores with that setting have such values.
  bool outdated = false;

  explicit operator bool() const { return static_cast<bool>(pin); }
  ByteView value() const { return pin.bytes(); }
};

// When a put may happen.
struct KvCondition {
  enum Kind : uint8_t { kAlways, kIfAbsent, kIfPresent, kIfCas } kind = kAlways;
  uint64_t cas = 0;  // with kIfCas: the value that must be current
};

enum class KvOutcome : uint8_t {
  kDone,
  kNotFound,  // kIfPresent, kIfCas, erase: the key has no value
  kExists,    // kIfAbsent: the key has a value; kIfCas, erase: its cas is another
  kTooLarge,
  kNoSpace,       // every zone is in use by readers
  kMediumFailed,  // the change may be lost in a crash; no later change is acknowledged either
};

struct KvResult {
  KvOutcome outcome = KvOutcome::kDone;
  uint64_t cas = 0;  // of the stored value; 0 if none was stored
};

// Totals count from the opening; gauges tell the present state.
struct KvStats {
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t expired = 0;   // of the misses: the item had expired
  uint64_t outdated = 0;  // of the hits: the item predates a long absence
  uint64_t puts = 0;
  uint64_t inserts = 0;  // of the puts: the key had no value
  uint64_t updates = 0;  // of the puts: replaced an older value
  uint64_t erases = 0;
  uint64_t refused = 0;        // kTooLarge, kNoSpace, kMediumFailed
  uint64_t evicted = 0;        // readable items that were dropped to make room
  uint64_t table_evicted = 0;  // of these: the table of items had no place for another
  uint64_t relocated = 0;      // items that cleaning moved
  uint64_t relocated_bytes = 0;
  uint64_t zones_cleaned = 0;
  uint64_t hot_sets_kept = 0;     // cleanings that left the last hot set in place
  uint64_t write_cache_hits = 0;  // gets and puts served by the DRAM write cache
  uint64_t flushes = 0;           // flush calls to the medium
  uint64_t flushed_bytes = 0;
  uint64_t flushed_lines = 0;  // 64-byte lines that flushes touch
  uint64_t drains = 0;         // each is a fence or a device's flush
  uint64_t medium_written_bytes = 0;
  uint64_t damaged = 0;             // items whose checksum failed after a crash
  uint64_t syncs = 0;               // background syncs of a file
  uint64_t finished_cleanings = 0;  // of zones, which a kill had cut short
  uint64_t items = 0;               // gauge; exact after a restart only once all items were checked
  uint64_t data_bytes = 0;          // gauge: keys and values
  uint64_t size_bytes = 0;          // gauge: size of the medium
  uint64_t metadata_bytes = 0;      // gauge: DRAM that the store uses
  uint64_t max_item_bytes = 0;      // gauge: largest key and value together
  uint64_t table_places = 0;        // gauge: the table's, one an item
  // Gauge: the `item=` that fits what is stored, where the table is full long before the zones
  // are. Without an `item=` of the user's, resize_kv_store() takes it. 0: the table has room.
  uint64_t fitting_item_bytes = 0;
  uint64_t recovered_items = 0;  // gauge: descriptors found at the opening
  double recovery_seconds = 0;   // gauge
  uint64_t away_seconds = 0;     // gauge: how long the store was closed before; 0 if unknown
  bool recovered = false;        // gauge: the medium held a store
  bool failed = false;           // gauge: the medium failed, and no change is acknowledged
  // Gauge: the file of the medium is not at its path any more; it was removed, renamed or replaced.
  // The store goes on, and what it holds ends with it, unless the file is put back.
  bool file_lost = false;
  std::string medium;
  std::string durability;
  std::string file;                // the path of the medium's file; empty for memory
  std::vector<std::string> notes;  // what an operator should know of the opening, a line each

  std::string to_json() const;
  std::string to_prometheus() const;  // text exposition format
};

// Gets an item and its key, which lie in the store as long as the call lasts.
using KvVisitor = std::function<void(std::string_view key, const KvItem& item)>;

class KvStore {
 public:
  virtual ~KvStore() = default;

  // Empty on a miss, and where there is no memory for the answer. Marks the item as used.
  virtual KvItem get(std::string_view key) = 0;

  // Once the medium has failed to take a change, this and the changes below answer
  // kMediumFailed, whatever else they find: what is on the medium is not known then. Lookups
  // go on.

  // Stores a value and replaces any older one. Ignores `meta.cas`. kNoSpace, and nothing changed,
  // where no zone has room or there is no memory.
  virtual KvResult put(std::string_view key, ByteView value, const KvMeta& meta,
                       KvCondition condition = {}) = 0;

  // Erases a key; with `cas` other than 0, only that value. When it returns, no crash that
  // the durability covers brings the value back.
  virtual KvResult erase(std::string_view key, uint64_t cas = 0) = 0;

  // Sets when an item expires. Its value and cas stay.
  virtual KvOutcome touch(std::string_view key, uint32_t expires_s) = 0;

  // Removes all items that were stored before now, durably. DATA_LOSS where the medium
  // fails: items on it may still be found then.
  [[nodiscard]] virtual Status clear() = 0;

  // Makes all acknowledged items durable, e.g. before a shutdown. DATA_LOSS where the
  // medium failed.
  [[nodiscard]] virtual Status sync() = 0;

  // Visits items, for dumps, without marking them as used: a part of the store each call, from
  // `cursor` on, which is 0 at first. Returns where to go on, or 0 at the end. Items that are
  // stored, moved or deleted during a dump may be visited twice or not at all; all others once. A
  // call costs a scan of 2048 descriptors; the first also visits the write cache.
  virtual uint64_t visit(uint64_t cursor, const KvVisitor& visitor) = 0;

  virtual KvStats stats() const = 0;
};

// Opens the store that a specification describes, e.g.
//   nvkv://?size=1GiB&medium=file:/var/lib/nvcached/data&durability=cache
// and recovers what the medium holds. INVALID_ARGUMENT names the setting, what was given
// and what is allowed. FAILED_PRECONDITION if the medium holds something else, another
// version or a damaged superblock; nothing is overwritten then.
// The store puts what it evicts into `evictions`, if given, while that is wanted.
[[nodiscard]] StatusOr<std::unique_ptr<KvStore>> open_kv_store(
    std::string_view spec, std::shared_ptr<KvEvictions> evictions = nullptr);

// The result of a resize. `after_bytes` is 0 if there was nothing to do.
struct KvResized {
  uint64_t before_bytes = 0;
  uint64_t after_bytes = 0;
  uint64_t items_found = 0;
  uint64_t items_kept = 0;
  std::vector<std::string> notes;  // what an operator should know of it, a line each
};
// Gets how many zones of how many were copied; runs on the caller's thread. False: give up.
using KvResizeProgress = std::function<bool(uint64_t zones_done, uint64_t zones)>;

// Makes the store in a file fit a specification with another size, a larger zone or another `item`.
// Where the user leaves `item` out, the table of items grows if it was full long before the zones
// were (KvStats::fitting_item_bytes); if there is no room for that now, the store stays as it is,
// and a note says so. Call it before open_kv_store(), which refuses a file of another size. Keeps
// all items that fit; if they do not, it drops those of the zones that were written first. They
// keep their cas.
//
// Does nothing if the medium is no file, holds no store, or fits. Copies all items into a new file
// beside the old one, PATH.resizing, which needs the room for both; the next call removes what a
// killed resize left, whatever its sizes. ABORTED where `progress` gave up. An error leaves
// the old file as it was, unless only the folder could not be synced after the new file took its
// name.
[[nodiscard]] StatusOr<KvResized> resize_kv_store(std::string_view spec,
                                                  const KvResizeProgress& progress = {});

}  // namespace nvcache
