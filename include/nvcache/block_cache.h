// BlockCache: a volatile second-tier block cache below an engine's own DRAM cache,
// on a memory that is larger, cheaper and minds writes (persistent memory, CXL
// memory, NVMe). Admission and eviction weigh every write to that memory: see
// "Writes Hurt" (SoCC '22), section 3.2, and docs/ARCHITECTURE.md.
//
// Thread-safe. A lookup takes no lock; no lock is held while bytes are copied or
// the medium is accessed. A miss touches no medium. A failing medium is never an
// error for the caller: blocks are refused and lookups miss, and stats() say why.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/stats.h"
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

// Keeps a block from being evicted and its bytes valid. Movable; release it soon,
// for its space cannot be reused before. May be released on any thread, before
// the cache is destroyed. On memory, and files on DAX, the bytes are the cached ones
// in place (zero copy); else (a file, a device) a private copy.
class Pin {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void release(uint64_t handle) = 0;
  };

  Pin() = default;
  Pin(Owner* owner, uint64_t handle, ByteView block)
      : owner_(owner), handle_(handle), block_(block) {}
  Pin(Pin&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)),
        handle_(other.handle_),
        block_(std::exchange(other.block_, {})) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(handle_, other.handle_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~Pin() {
    if (owner_ != nullptr) owner_->release(handle_);
  }

  explicit operator bool() const { return owner_ != nullptr; }
  ByteView block() const { return block_; }

  // Hands the duty to call owner->release(handle) to the caller.
  std::pair<Owner*, uint64_t> detach() && { return {std::exchange(owner_, nullptr), handle_}; }

 private:
  Owner* owner_ = nullptr;
  uint64_t handle_ = 0;
  ByteView block_;
};

struct Lookup {
  Pin pin;          // empty on a miss
  MissToken token;  // on a miss: hand it to put()

  bool hit() const { return static_cast<bool>(pin); }
};

struct Copied {
  uint32_t size_bytes = 0;  // of the block; 0 on a miss
  MissToken token;          // on a miss: hand it to put()

  bool hit() const { return size_bytes != 0; }
};

class BlockCache {
 public:
  virtual ~BlockCache() = default;

  // Looks a block up and pins it. With verification on (the default except on
  // plain DRAM), its checksum is computed first: a damaged block is removed,
  // counted, and a miss.
  virtual Lookup get(const BlockKey& key, Caller caller = Caller::kForeground) = 0;

  // As get(), for who wants the bytes in memory of their own: copies the block to the
  // start of `into`, if there is room for it, and verifies the copy. A block that is
  // larger is a hit, and nothing is copied. From a device the bytes go straight into
  // `into` where its address and the block's size are whole sectors.
  virtual Copied get_copy(const BlockKey& key, MutableBytes into,
                          Caller caller = Caller::kForeground) = 0;

  // Offers a block of 1 byte to kMaxBlockBytes. The bytes are copied before
  // this returns. On byte-addressable media the caller waits for that copy; on a
  // device it waits for a copy into a bounded queue only, and the block is
  // refused (kWriteQueueFull) rather than waited for. Never blocks a reader.
  // A key that is present is refused (kDuplicate): erase it first to replace it.
  virtual Verdict put(const BlockKey& key, ByteView block, Origin origin, MissToken token = {}) = 0;

  // put() in two steps, for who keeps books of what is cached and spares them a block
  // that is refused: most of them, while an engine writes. First whether the policy lets
  // a block of this size in; a refusal is counted, whether the key is present is not looked
  // at. Then, after an admission, at once and once, the rest of put(), which may refuse too.
  virtual Verdict admit(const BlockKey& key, uint64_t size_bytes, Origin origin) = 0;
  virtual Verdict put_admitted(const BlockKey& key, ByteView block, MissToken token = {}) = 0;

  // Removes a block, if present; says whether it was. After it returns no lookup
  // finds the old block, and puts with older tokens of this key are refused.
  virtual bool erase(const BlockKey& key) = 0;

  // Whether a lookup would find the block now: counts and pins nothing. Lock-free.
  virtual bool contains(const BlockKey& key) const = 0;

  // Removes all blocks of a file; says how many. Cost: a pass over the cache's
  // metadata (24 bytes a block), no medium access.
  virtual uint64_t erase_file(uint64_t file) = 0;

  // Changes how much of the medium is used. Shrinking evicts what lies beyond
  // and gives the space back; growing past the configured max_size is
  // OUT_OF_RANGE; RESOURCE_EXHAUSTED when the system has no more.
  [[nodiscard]] virtual absl::Status resize(uint64_t size_bytes) = 0;

  // Tells small_bypass how large the engine's dataset is now.
  virtual void set_dataset_size(uint64_t size_bytes) = 0;

  // Waits until all writes that are queued now have reached the medium.
  virtual void drain() = 0;

  // A snapshot. Counters are read one by one while others go on.
  virtual Stats stats() const = 0;
};

// Opens the cache that a specification describes, e.g.
//   nvcache://?size=1GiB&medium=file:/mnt/x&admission=obp(0.1)&eviction=lfru
// docs/guide/configuration.md lists the keys. INVALID_ARGUMENT names the key, what was
// given and what is allowed; RESOURCE_EXHAUSTED when the medium has no room.
[[nodiscard]] absl::StatusOr<std::unique_ptr<BlockCache>> open_block_cache(std::string_view spec);

}  // namespace nvcache
