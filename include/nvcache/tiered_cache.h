// TieredCache: a block cache of several tiers, fastest first. The first holds an
// engine's own objects on the heap; those below hold saved bytes on larger, cheaper
// media (CXL memory, persistent memory, a file). A policy moves blocks between them:
// the three of "Improving Performance of Flash Based Key-Value Stores Using Storage
// Class Memory as a Volatile Memory Extension" (ATC '21), section 4.2, optionally
// guarded by the admission policies of a BlockCache.
//
// A block is in one tier at a time, and never dirty. One that leaves the first tier is
// saved to the next by a thread of the cache, and found meanwhile (`demote=background`). Handles
// pin: an object lives until its last handle is released, whatever the tiers do meanwhile.
//
// Thread-safe. No lock is held while an object is saved, made or destroyed, or a
// medium is accessed. A failing medium is never an error for the caller: blocks are
// then dropped or not found, and stats() say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nvcache/block_cache.h"
#include "nvcache/bytes.h"
#include "nvcache/stats.h"

namespace nvcache {

// What the engine says of an object's type. The cache hands it back, and reads only
// `movable`: whether the object can be saved, so that it may leave the first tier.
struct ObjectKind {
  uintptr_t word = 0;
  bool movable = false;
};

struct Object {
  void* value = nullptr;
  ObjectKind kind;
  size_t charge_bytes = 0;  // what it counts for in the first tier
};

// How an engine's objects become bytes, and go. Made by the engine, one for a
// cache, which it must outlive. Its methods are called on any thread, without a lock,
// and must not throw.
class ObjectCodec {
 public:
  virtual ~ObjectCodec() = default;

  // The size of the saved form, only for movable kinds; 0: this one cannot be saved.
  virtual size_t saved_bytes(const Object& object) = 0;
  // Writes the saved form; false: it cannot be done, and the object will be dropped.
  virtual bool save(const Object& object, MutableBytes into) = 0;
  // Ends an object that the cache owned. May call the cache.
  virtual void destroy(std::string_view key, const Object& object) = 0;
};

// Makes an object of saved bytes, which are valid during the call only; false: they
// are of no use, and the block is erased.
using MakeObject = absl::FunctionRef<bool(ByteView saved, Object* made)>;

// Low priority goes first; high priority (index and filter blocks) never leaves the
// first tier for a lower one, unless `demote_high` is set.
enum class Priority : uint8_t { kHigh, kLow, kBottom };

// Which way the blocks of one tier came and went. Totals count from the opening.
struct TierStats {
  uint64_t hits = 0;         // lookups that this tier served
  uint64_t inserts = 0;      // new blocks that entered here
  uint64_t demoted_in = 0;   // blocks that came from the tier above
  uint64_t promoted_in = 0;  // blocks that came from the tier below
  uint64_t refused = 0;      // blocks that its admission policy or its medium did not take
  uint64_t dropped = 0;      // blocks that left the cache from here
  uint64_t blocks = 0;       // gauge
  uint64_t used_bytes = 0;   // gauge
  uint64_t size_bytes = 0;   // gauge
  uint32_t threshold = 0;    // gauge: more references than this promote; 0: none do
  std::string medium;        // "(emulated)" included where it is
  std::string problem;       // why the medium could not be opened; empty: it could
  Stats block_cache;         // of the cache below the first tier; empty for the first
};

struct TieredStats {
  uint64_t lookups = 0;
  uint64_t misses = 0;        // lookups that no tier served
  uint64_t pinned_bytes = 0;  // gauge: charge of objects with handles
  uint64_t queued = 0;        // gauge: objects that left the first tier and were not moved yet
  uint64_t queued_bytes = 0;  // gauge: their charge, beyond the first tier's size
  uint64_t taken_back = 0;    // of them: found by a lookup, and put back into the first tier
  uint64_t queue_full = 0;    // objects that who pushed them out moved, the queue being full
  std::string policy;
  std::vector<TierStats> tiers;

  double hit_ratio() const;  // 0 without lookups
  std::string to_json() const;
};

class TieredCache {
 public:
  class Handle;  // opaque; one reference to an object

  virtual ~TieredCache() = default;  // all handles must be released before

  // Gives an object to the cache, in place of an older one of that key. With
  // `handle`, the caller gets a reference to it, and where the cache is full of
  // pinned objects and strict: RESOURCE_EXHAUSTED, and the object stays the caller's.
  // Without, it never fails: the object may be destroyed at once.
  // Keys of 16 bytes can go to lower tiers, others stay in the first.
  [[nodiscard]] virtual absl::Status insert(std::string_view key, const Object& object,
                                            Priority priority, Handle** handle) = 0;

  // Wraps an object that is in no tier: it is destroyed with its last reference.
  virtual Handle* standalone(std::string_view key, const Object& object) = 0;

  // Null on a miss. Only the first tier is searched if `make` is null. Background
  // lookups (compaction) neither promote nor count as references.
  virtual Handle* lookup(std::string_view key, const MakeObject* make,
                         Caller caller = Caller::kForeground) = 0;

  // The object of a handle that is held.
  virtual const Object& object(const Handle* handle) const = 0;

  virtual void ref(Handle* handle) = 0;

  // Drops a reference. With `erase_if_last`, the last one also takes the block out of
  // the cache. True if the object was destroyed.
  virtual bool release(Handle* handle, bool erase_if_last = false) = 0;

  // Removes a block from whichever tier has it. Handles to it stay valid.
  virtual void erase(std::string_view key) = 0;

  virtual TieredStats stats() const = 0;
};

// Opens the cache that a specification describes (docs/guide/configuration.md), e.g.
//   tiered://?policy=bidirectional(4)&dram=64MiB&tier=(size=1GiB,medium=file:/mnt/x)
// INVALID_ARGUMENT names the key, what was given and what is allowed.
// The media of lower tiers are opened when the first block goes there; one that
// cannot be is reported in stats() and refuses all blocks.
[[nodiscard]] absl::StatusOr<std::unique_ptr<TieredCache>> open_tiered_cache(
    std::string_view spec, std::shared_ptr<ObjectCodec> codec);

}  // namespace nvcache
