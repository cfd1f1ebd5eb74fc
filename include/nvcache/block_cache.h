// BlockCache: a second-tier block cache below an engine's own DRAM cache,
// on a memory that is larger, cheaper and slowed by writes (persistent memory, CXL
// memory, NVMe). Admission and eviction weigh every write to that memory: see
// "Writes Hurt" (SoCC '22), section 3.2, and docs/ARCHITECTURE.md.
//
// Thread-safe. A lookup takes no lock; no lock is held while bytes are copied or
// the medium is accessed. A miss touches no medium. A failing medium is never an
// error for the caller: blocks are refused and lookups miss, and stats() say why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/erase.h"
#include "nvcache/pin.h"
#include "nvcache/stats.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "nvcache/verdict.h"

namespace nvcache {

inline constexpr uint32_t kMaxBlockBytes = 1u << 20;

// Who asks. Background lookups (compaction) are counted apart: they stay out of
// the overhead ratio, which they would drown, and out of hit_ratio().
enum class Caller : uint8_t { kForeground, kBackground };

// Proof of when a lookup missed. A put that carries the token of its miss is
// refused if the key was erased in between, so that a reader who fetched the old
// block from disk cannot cache it after a writer replaced it.
struct MissToken {
  uint32_t generation = 0;
  bool checked = false;  // false: the put is not checked
};

struct LookupOptions {
  Caller caller = Caller::kForeground;

  // If given, a hit copies the block to the start of this buffer, verifies the copy and pins
  // nothing. If the block is larger than the buffer, nothing is copied: compare Lookup::size_bytes.
  // From a device the bytes go straight into the buffer if its address and the block's size are
  // whole sectors.
  std::optional<MutableBytes> copy_into = std::nullopt;
};

struct Lookup {
  // The block; empty on a miss, and after a copy. On memory, and files on DAX, its bytes are the
  // cached ones in place (zero copy); else (a file, a device) a private copy.
  Pin pin = {};
  uint32_t size_bytes = 0;  // of the block; 0 on a miss
  MissToken token = {};     // on a miss: hand it to admit() or put()

  bool hit() const { return size_bytes != 0; }
};

// One of many lookups that are done together.
struct BlockLookup {
  BlockKey key;
  LookupOptions options = {};
  Lookup result = {};
};

// A cache's answer to the offer of a block. After an admission commit() brings the bytes. Call
// it soon and once, before the cache is destroyed; one that is not committed caches nothing, one
// whose key was erased since is refused. Not thread-safe; may move to another thread.
class [[nodiscard]] Admission {
 public:
  struct Offer {
    BlockKey key;
    uint64_t key_hash = 0;
    uint64_t size_bytes = 0;
    MissToken token;
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual Verdict commit(const Offer& offer, ByteView block) = 0;
  };

  explicit Admission(Verdict refusal) : owner_(nullptr), verdict_(refusal) {}
  Admission(Owner& owner, const Offer& offer) : owner_(&owner), offer_(offer) {}

  bool admitted() const { return verdict_.admitted(); }
  Verdict verdict() const { return verdict_; }

  // Copies the block into the cache, as BlockCache::put() does. May still refuse it: there is no
  // room, the key was erased, or the size is not the one that was admitted. A refusal's verdict
  // is returned as it is.
  Verdict commit(ByteView block) && {
    return owner_ == nullptr ? verdict_ : std::exchange(owner_, nullptr)->commit(offer_, block);
  }

 private:
  Owner* owner_;
  Verdict verdict_;
  Offer offer_;
};

class BlockCache {
 public:
  virtual ~BlockCache() = default;

  // Looks a block up, and pins or copies it. With verification on (the default except on
  // plain DRAM), its checksum is computed first: a damaged block is removed, counted, and
  // a miss. Lock-free on memory.
  virtual Lookup lookup(const BlockKey& key, const LookupOptions& options = {}) = 0;

  // Looks many blocks up; lookups[i].result is as lookup() returns it, and counted as there. On a
  // device the blocks are read side by side, 128 at a time, and one that is asked for more than
  // once among them is read once: where `async=` of the medium is not `off`, 32 blocks take little
  // more than the time of a few. Returns when all are done. Buffers of the cache hold the blocks
  // that are pinned.
  virtual void lookup_all(std::span<BlockLookup> lookups) {
    for (BlockLookup& each : lookups) each.result = lookup(each.key, each.options);
  }

  // Whether lookup_all() is more than a lookup of each, for an engine that could ask either way.
  virtual bool reads_side_by_side() const { return false; }

  // Offers a block of 1 byte to kMaxBlockBytes, or to the cache's size if that is less, before its
  // bytes are touched: shards have no part of the space of their own. While an engine writes, most
  // blocks are refused, and should cost it no copy and no bookkeeping. A key that is present is
  // refused (kDuplicate): erase it first to replace it. Refusals are counted.
  virtual Admission admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                          MissToken token = {}) = 0;

  // admit() and commit() in one. The bytes are copied before this returns. On
  // byte-addressable media the caller waits for that copy; on a device it waits for a copy
  // into a bounded queue only, and the block is refused (kWriteQueueFull) rather than
  // waited for. Never blocks a reader.
  Verdict put(const BlockKey& key, ByteView block, Origin origin, MissToken token = {}) {
    return admit(key, block.size(), origin, token).commit(block);
  }

  // Removes blocks; returns how many were there. How it holds: see Gone. A key costs a lock and a
  // lookup; files cost a pass over the cache's metadata (24 bytes a block), one for all of them
  // with kMayReturn, else one each. Only kDurable writes to the medium. Errors, of kDurable alone:
  // the medium's, RESOURCE_EXHAUSTED; then the blocks are erased, and may be back after a restart.
  StatusOr<uint64_t> erase(const Blocks& blocks, Gone gone = Gone::kForGood) {
    return erase_blocks(blocks, gone);
  }
  // Erases one key, and returns whether it was there. With kDurable, only the other function says
  // whether the erasure holds.
  bool erase(const BlockKey& key, Gone gone = Gone::kForGood) {
    return erase_blocks({.keys = {&key, 1}}, gone).value_or(0) != 0;
  }

  // Whether a lookup would find the block now: counts and pins nothing. Lock-free.
  virtual bool contains(const BlockKey& key) const = 0;

  // Changes how much of the medium is used, rounded down to whole sectors. Shrinking evicts what
  // lies beyond and gives the space back. 0 switches the cache off: each lookup is a miss and each
  // put is refused (kNoSpace), until another resize. Between 0 and 64 KiB and past max_size:
  // OUT_OF_RANGE, and nothing changes. RESOURCE_EXHAUSTED when the system has no more.
  [[nodiscard]] virtual Status resize(uint64_t size_bytes) = 0;

  // Tells small_bypass how large the engine's dataset is now.
  virtual void set_dataset_size(uint64_t /*size_bytes*/) {}

  // Tells how long the engine's read of its own storage took, after a miss. The admission policy
  // `break_even` weighs that against what writes take. Lock-free.
  virtual void note_storage_read(uint64_t /*took_ns*/) {}
  // Whether the cache has a use for these times: else an engine need not take them.
  virtual bool wants_storage_reads() const { return false; }

  // Tells that the engine had compressed the block that it has just put. Only counts it, as
  // compressed_blocks and compressed_bytes. Lock-free.
  virtual void note_compressed(uint64_t /*size_bytes*/) {}

  // Waits until all writes that are queued now have reached the medium.
  virtual void drain() = 0;

  // A snapshot. Counters are read one by one while others go on.
  virtual Stats stats() const = 0;

 private:
  virtual StatusOr<uint64_t> erase_blocks(const Blocks& blocks, Gone gone) = 0;
};

// Opens the cache that a specification describes, e.g.
//   nvcache://?size=1GiB&medium=file:/mnt/x
// docs/guide/configuration.md lists the settings. INVALID_ARGUMENT names the setting, what was
// given and what is allowed; RESOURCE_EXHAUSTED when the medium has no room.
//
// On a device (file:PATH,io=direct, nvme:DEVICE) from 32 regions on, which is 64 MiB, a cache is in
// regions: it writes in pieces of 1 MiB, in order. `space=in_place` writes each block by itself.
//
// A cache begins empty, unless it is in regions and `restart=warm` is asked for. By asking, you
// promise that no other cache served these keys since this one was closed. After a crash nothing
// comes back, unless `keys=immutable` promises besides that no key ever names other bytes: a block
// that was erased before may be served again then, unless it was erased with Gone::kDurable.
[[nodiscard]] StatusOr<std::unique_ptr<BlockCache>> open_block_cache(std::string_view spec);

}  // namespace nvcache
