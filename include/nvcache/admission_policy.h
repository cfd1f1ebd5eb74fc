// AdmissionPolicy: decides which blocks may enter a block cache, and whether any may be evicted.
// Users bring their own by nvcache/policies.h; nvcache's own are in src/policy/admission.
//
// Cost: a virtual call for each block that is offered, never for a lookup.
#pragma once

#include <cstdint>
#include <string>

#include "nvcache/block_key.h"
#include "nvcache/verdict.h"

namespace nvcache {

// A block that is offered. `key_hash` is a good 64-bit hash of its key.
struct Candidate {
  BlockKey key;
  uint64_t key_hash = 0;
  uint32_t size_bytes = 0;
  Origin origin = Origin::kRead;
};

// The cache's work since it was opened. Totals (the first six, and the number of blocks) are
// 0 where they were not read. Lookups that are known to come from background work (compaction) do
// not count: they would drown the overhead ratio.
struct Traffic {
  uint64_t lookups = 0;             // blocks looked up, hits and misses
  uint64_t hits = 0;                // of these
  uint64_t inserted = 0;            // blocks inserted
  uint64_t removed = 0;             // blocks removed: evicted and erased
  uint64_t hit_bytes = 0;           // bytes served to hits, that is, read from the medium
  uint64_t written_bytes = 0;       // bytes written to the medium
  uint64_t dataset_size_bytes = 0;  // the adapter's latest report; 0: not known
  uint64_t resident_blocks = 0;     // blocks in the cache now
  uint64_t now_ns = 0;              // the only clock a policy reads
  bool has_totals = false;          // whether the totals were read, see totals_interval()

  // How long an access takes, in the mean of the last ones; 0: not known.
  double storage_read_ns = 0;  // the engine's own read of a block (BlockCache::note_storage_read)
  double hit_read_ns = 0;      // a read of a block from the medium
  double write_kib_ns = 0;     // a KiB of a write to the medium
};

// Thread-safe: the cache calls it from any thread and holds no lock. Functions do not block and do
// not throw.
class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;

  // The verdict on a block; a refusal names its reason. Every policy of a composition sees every
  // candidate; the first refusal counts.
  virtual Verdict admit(const Candidate& candidate, const Traffic& traffic) = 0;

  // Whether blocks may be evicted now to make room.
  virtual bool may_evict(const Traffic&) { return true; }

  // How often the verdicts need the totals of a Traffic: 0 never, 1 at each question, N at one
  // question in N of each thread. Totals cost the cache a line for each of up to 64 threads that
  // ever used it. Asked when the cache is made.
  virtual uint32_t totals_interval() const { return 0; }

  // Whether the verdicts depend on how long the engine's own reads take: it should tell.
  virtual bool weighs_costs() const { return false; }

  // DRAM held by the policy beyond sizeof(*this).
  virtual uint64_t metadata_bytes() const { return 0; }

  // The specification that makes this policy again, "name(arguments)". It spells out all defaults.
  virtual std::string describe() const = 0;
};

// Facts about its cache that a policy may need when it is made.
struct AdmissionContext {
  uint64_t cache_size_bytes = 0;
  uint64_t seed = 1;  // of random numbers: the same seed, the same verdicts
};

}  // namespace nvcache
