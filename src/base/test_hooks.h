// Faults that tests switch on. Each makes the library skip one step that consistency needs, and
// the tests of that step must then fail: a negative control (tests/CMakeLists.txt).
//
// All are off in production. A hook costs a load and a well-predicted branch, and lookups meet
// none. Not synchronised: set one before any thread starts that runs the library.
#pragma once

#include <chrono>
#include <thread>

namespace nvcache {

struct TestHooks {
  // BackgroundThread: handlers of the program's signals run on it.
  bool take_signals = false;
  // Files that last: one of another user, with any mode, is believed.
  bool believe_any_file = false;
  // open_file() and its like: a descriptor of 0 to 2 stays there.
  bool keep_low_descriptors = false;
  // BlockStore: a put on a device that finds no memory leaves its block filling for ever.
  bool leak_slots = false;
  // RegionSpace: what an opening left that was not closed in order is believed although its keys
  // were mutable.
  bool believe_mutable_keys = false;
  // RegionSpace: another owner's blocks are believed.
  bool believe_others = false;
  // RegionHead: the list of removals is not read at the opening.
  bool skip_removed = false;
  // Shard: an erase that finds its block forgets that an older one may not have come back yet.
  bool forget_found = false;
  // RegionRecovery, RegionTable: blocks and regions that the list keeps away are not on the next
  // list.
  bool forget_filtered = false;
  // The checksum of a region's records is not compared.
  bool skip_region_check = false;
  // RegionRecovery: the oldest region comes back first, so that an old block hides a newer one.
  bool recover_oldest_first = false;
  // MediumHealth: failures of writes are set against successes of reads.
  bool one_account = false;
  // MediumProbe: no probe is made.
  bool skip_probes = false;
  // RegionTable, SlabSpace: a place whose write failed is taken next.
  bool reuse_failed_places = false;
  // RegionTable: a region that was discarded is believed to hold nothing any more.
  bool believe_discards = false;
  // FileBlockCache: a write removes nothing that is cached. A written block replaces only its
  // own extent, and only where it is offered.
  bool skip_overlap = false;
  // FileBlockCache: a cached block stays when exactly its extent is written.
  bool skip_update = false;
  // LowerTier: a block enters although its key was replaced since the block left the first tier.
  bool skip_tokens = false;
  // LowerTier: a key that was replaced while blocks come back after a restart does not keep its
  // old one away.
  bool restore_superseded = false;
  // KeySpace: caches that share a tier take each other's blocks for their own.
  bool forget_owners = false;
  // ObjectShard: an object comes back from the queue although its key was replaced since.
  bool restore_stale = false;
  // ObjectShard: a lookup believes that a key is absent though the table changed as it looked.
  bool believe_absence = false;
  // KvStore: an erase is acknowledged before it is durable.
  bool skip_delete_flush = false;
  // KvStore: a zone is cleaned before the header that invalidates its items is durable.
  bool skip_zone_flush = false;
  // KvStore: an update, an eviction from a full bucket, a shorter life, a clear and the state of
  // the store are believed before they are durable.
  bool skip_update_flush = false;
  bool skip_eviction_flush = false;
  bool skip_touch_flush = false;
  bool skip_clear_flush = false;
  bool skip_state_flush = false;
  // KvStore: the descriptors of expired items are cleared, and others take their slots, before that
  // is durable.
  bool skip_sweep_flush = false;
  // KvStore: a store with room to spare evicts where no zone has room for an item.
  bool skip_evacuation = false;
  // KvStore: descriptors lead to evacuated items before these are durable.
  bool skip_evacuation_flush = false;
  // KvStore: a cleaning does not say how far it is.
  bool skip_cleaning_mark = false;
  // KvStore: a cleaning does not say beside the zone's version that it began.
  bool skip_version_mark = false;
  // KvStore: a descriptor that a loss of power tore is followed once its zone has its version.
  bool believe_torn = false;
  // KvStore: items behind a hole that a crash left are lost at the next cleaning, or copy.
  bool trust_headers = false;
  // KvStore: a zone's version comes round while descriptors of the last round may still be there.
  bool skip_version_sweep = false;
  // KvStore: an opening that trusts nothing keeps the nonce and the table that it found.
  bool keep_old_table = false;

  // No fault. KvStore: called between any two steps of a cleaning that a kill could come between.
  void (*on_cleaning_step)() = nullptr;
  // No fault. KvStore: called under no lock between any two steps of a put that a kill could come
  // between: room was taken, the header is written, the value, the descriptor.
  void (*on_put_step)() = nullptr;
};

// Not inline: an extension that is loaded into a program must have hooks of its own.
extern TestHooks test_hooks;

inline void call(void (*hook)()) {
  if (hook != nullptr) [[unlikely]]
    hook();
}

// With its fault on, holds the door open through which the fault is met, so that a control does not
// need threads to meet by chance.
inline void hold_door_open(bool fault) {
  if (fault) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace nvcache
