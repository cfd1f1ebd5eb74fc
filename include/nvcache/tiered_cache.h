// TieredCache: a block cache of several tiers, fastest first. The first tier holds an
// engine's own objects on the heap. The lower tiers hold their saved bytes as blocks on
// larger, cheaper media: CXL memory, persistent memory, a file. A policy demotes and
// promotes blocks between tiers. There are three, from "Improving Performance of Flash
// Based Key-Value Stores Using Storage Class Memory as a Volatile Memory Extension"
// (*Hybrid Cache*, ATC '21), section 4.2. Each lower tier can have an admission policy of
// BlockCache besides.
//
// An engine implements ObjectCodec, opens the cache, and then calls lookup() and, on a miss,
// insert(). examples/engine_adapter.cc is a complete miniature engine.
//
// A block is in one tier at a time, and never dirty. By default (`demote=background`) a
// thread of the cache saves what leaves the first tier; lookups find it in the meantime.
// A handle pins its object: the object lives until its last handle is released, even if the
// block is evicted or erased before.
//
// Thread-safe. The cache holds no lock while it saves, makes or destroys an object, or
// accesses a medium. A failing medium is never an error for the caller: the cache then drops
// blocks or does not find them, and stats() say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/block_cache.h"
#include "nvcache/bytes.h"
#include "nvcache/function_ref.h"
#include "nvcache/stats.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The engine's own description of an object's type. The cache keeps `word` for the engine and
// reads only `movable`: whether the object can be saved, and so be demoted to a lower tier.
struct ObjectKind {
  uintptr_t word = 0;
  bool movable = false;
};

struct Object {
  void* value = nullptr;
  ObjectKind kind;
  size_t charge_bytes = 0;  // what it takes of the capacity of the first tier
};

// Saves and destroys an engine's objects. The engine implements it; the cache shares its
// ownership, and calls it on any thread, without a lock. Its methods must not throw.
class ObjectCodec {
 public:
  virtual ~ObjectCodec() = default;

  // The size of the saved form, at most kMaxBlockBytes; 0 if this object cannot be saved.
  // Only called for movable kinds.
  virtual size_t saved_bytes(const Object& object) = 0;
  // Writes the saved form, saved_bytes() long. False if that fails: the cache drops the object.
  virtual bool save(const Object& object, MutableBytes into) = 0;
  // Destroys an object that the cache owned. May call the cache.
  virtual void destroy(std::string_view key, const Object& object) = 0;
  // Tells saved forms that are not each other's apart, such as those of two versions of an engine:
  // after a restart a lower tier has objects of the same form alone.
  virtual uint64_t form() const { return 0; }
};

// Makes an object from its saved bytes, which are valid only during the call. False if
// they are of no use: the cache erases the block, and the lookup is a miss.
using MakeObject = FunctionRef<bool(ByteView saved, Object* made)>;

// The cache evicts low before high priority. It never demotes high priority (index and
// filter blocks) to a lower tier, unless the setting `demote_high` is on.
enum class Priority : uint8_t { kHigh, kLow, kBottom };

// How blocks came to one tier and left it. Totals count from the opening. Of a tier that caches
// share (`name`), `hits` to `dropped` are this cache's, evictions not among them; `blocks` to
// `size_bytes` and `block_cache` are of all of them together, totals since the first one of the
// process.
struct TierStats {
  uint64_t hits = 0;         // lookups that this tier served
  uint64_t inserts = 0;      // new blocks inserted into this tier
  uint64_t demoted_in = 0;   // blocks demoted from the tier above
  uint64_t promoted_in = 0;  // blocks promoted from the tier below
  uint64_t refused = 0;      // blocks that its admission policy or its medium refused
  uint64_t dropped = 0;      // blocks that left the cache from this tier
  uint64_t blocks = 0;       // gauge
  uint64_t used_bytes = 0;   // gauge
  uint64_t size_bytes = 0;   // gauge
  uint32_t threshold = 0;    // gauge: a block with more references is promoted; 0: never
  uint64_t users = 0;        // gauge: caches of the process that share the tier; 0: not shared
  std::string medium;        // "emulated:..." if it is; before it is opened, as configured
  std::string problem;       // why the medium could not be opened; empty if it could
  std::string name;          // of a tier that is shared
  Stats block_cache;         // of a lower tier's block cache; empty for the first tier
};

struct TieredStats {
  uint64_t lookups = 0;
  uint64_t misses = 0;        // lookups that no tier served
  uint64_t pinned_bytes = 0;  // gauge: charge of objects with handles
  uint64_t queued = 0;        // gauge: evicted objects that wait for their demotion
  uint64_t queued_bytes = 0;  // gauge: their charge, on top of the first tier's size
  uint64_t taken_back = 0;    // queued objects that a lookup put back into the first tier
  uint64_t queue_full = 0;    // objects that the caller demoted, because the queue was full
  std::string policy;
  std::vector<TierStats> tiers;

  double hit_ratio() const;  // 0 without lookups
  std::string to_json() const;

  // Text exposition format. Tiers are told apart by the label `tier`, 0 for the first; the
  // block caches of lower tiers have the names of Stats::to_prometheus() with that label.
  std::string to_prometheus() const;
};

class TieredCacheControl;

// The cache as an engine's readers and writers use it.
// tidy: more methods because an engine's cache asks each of an object's life; the rest is control()
class TieredCache {
 public:
  class Handle;  // opaque; one reference to an object

  virtual ~TieredCache() = default;  // release all handles first

  // Gives an object to the cache, and erases an older one of the same key; *replaced says
  // whether the first tier had one. With `handle`, the caller gets a reference to the object.
  // RESOURCE_EXHAUSTED if there is no memory, or `handle` is given and a strict cache is full of
  // pinned objects. The older object is erased then, too: no lookup finds what the engine has
  // replaced. With `handle`, the caller still owns the object; without, the cache has destroyed it,
  // as it may at once in any case. Only blocks with keys of 16 bytes can go to lower tiers.
  //
  // With a `token`, ABORTED if the key was inserted or erased since: the newer object stays.
  // Ownership is as after RESOURCE_EXHAUSTED.
  [[nodiscard]] virtual Status insert(std::string_view key, const Object& object, Priority priority,
                                      Handle** handle, bool* replaced = nullptr,
                                      MissToken token = {}) = 0;

  // For engines whose values change. Taken after a miss and before the value is read from storage,
  // it lets no insert() replace a value that came after it by the older one. Keys share tokens:
  // now and then an insert() is refused without need. Takes no lock.
  virtual MissToken token(std::string_view key) const = 0;

  // Wraps an object that no lookup will find. It is destroyed with its last reference.
  // Null if there is no memory, or a strict cache is full of pinned objects and the object may not
  // be beyond its limit. The caller then still owns the object.
  virtual Handle* standalone(std::string_view key, const Object& object,
                             bool beyond_limit = false) = 0;

  // Null on a miss, and where a strict cache that is full of pinned objects has the block in a
  // lower tier only. If `make` is null, only the first tier is searched. Background
  // lookups (compaction) do not promote and do not count as references.
  virtual Handle* lookup(std::string_view key, const MakeObject* make,
                         Caller caller = Caller::kForeground) = 0;

  // The object of a handle that is held.
  virtual const Object& object(const Handle* handle) const = 0;

  virtual void ref(Handle* handle) = 0;

  // Drops a reference. With `erase_if_last`, dropping the last one also erases the block.
  // True if the object left the first tier, or was in none and is destroyed.
  virtual bool release(Handle* handle, bool erase_if_last = false) = 0;

  // Erases a block from the tier that has it. Handles to it stay valid.
  virtual void erase(std::string_view key) = 0;

  // Erases all blocks of files that are gone, by the first 8 bytes of keys of 16, from all tiers:
  // none of these keys is ever looked up again. For a while the lower tiers let none of them in.
  // Cost: a pass over the metadata of each tier; writes nothing to a medium. Allocates.
  virtual void erase_gone_files(std::span<const uint64_t> files) = 0;

  virtual TieredStats stats() const = 0;

  // The same cache as an engine's own cache interface manages it. Never null.
  virtual TieredCacheControl* control() = 0;
};

// How full the first tier is. Objects that wait for their demotion are not counted: they are
// on top of the capacity (see TieredStats::queued_bytes).
struct FirstTierUse {
  size_t used_bytes = 0;    // charge of all objects: residents, and pinned ones beside them
  size_t pinned_bytes = 0;  // of these: charge of objects with handles
  size_t objects = 0;       // residents
  size_t buckets = 0;       // of its hash table
};

// Functions for an engine's own cache interface, beyond lookups: the size of the first tier,
// and its contents. Thread-safe. Lives as long as its TieredCache.
class TieredCacheControl {
 public:
  struct Limits {
    size_t capacity_bytes = 0;
    bool strict = false;  // a full first tier refuses objects with a handle
  };

  virtual Limits limits() const = 0;  // of the first tier; takes no lock

  // Evicts from the first tier until it fits, and waits for the demotions.
  virtual void set_capacity(size_t bytes) = 0;
  virtual void set_strict(bool strict) = 0;

  virtual FirstTierUse use() const = 0;  // adds counters up; takes no lock

  // The rest that a handle shows. The key is valid while the handle is held.
  struct Held {
    std::string_view key;
    size_t used_bytes = 0;  // its charge, and that of its metadata if metadata is charged
  };
  virtual Held held(const TieredCache::Handle* handle) const = 0;

  // Visits all residents of the first tier, with no lock held.
  virtual void for_each(FunctionRef<void(std::string_view key, const Object&)> visit) = 0;

  // Erases all blocks without handles, from all tiers. From a tier that is shared, those of this
  // cache; with `owner=*` only after all others are closed.
  virtual void erase_unreferenced() = 0;

  // Waits for demotions under way, and for writes to the media.
  virtual void drain() = 0;

 protected:
  ~TieredCacheControl() = default;
};

// Opens the cache that a specification describes (docs/guide/configuration.md), e.g.
//   tiered://?policy=bidirectional(4)&dram=64MiB&tier=(size=1GiB,medium=file:/mnt/x)
// INVALID_ARGUMENT names the setting, what was given and what is allowed.
// The medium of a lower tier is opened when the first block goes there. If that fails,
// stats() report the problem and the tier refuses all blocks.
//
// A tier with `space=regions,restart=warm` is opened at once, comes back with its blocks in the
// background, and is an error here if it cannot be opened. By asking, you
// make the promises of open_block_cache(), those of `keys=immutable` included.
//
// Caches of one process that give their last tier the same `name` share it: one block cache of one
// size, opened for the first of them and closed after the last. Each finds and erases its own
// blocks alone. A cold one drops a cache's blocks when that is closed. A warm one keeps them for
// the cache that has the same `owner` in the next process: a name that stands for one set of keys
// for ever, or `*` if no key names other bytes in any of the caches. An error here: other settings
// than those the tier is open with, and for a warm one no owner, one that another open cache has,
// or mutable keys.
[[nodiscard]] StatusOr<std::unique_ptr<TieredCache>> open_tiered_cache(
    std::string_view spec, std::shared_ptr<ObjectCodec> codec);

}  // namespace nvcache
