// The parts of a key-value store below its operations: the medium, and the classes that
// manage it. One struct, so that classes that work on several parts (ItemIndex, Cleaner,
// Recovery) take one reference, and tests can build the parts without a store.
//
// Owns all parts. They refer to each other, so that the struct can be neither copied nor
// moved. Each part's header says which locks it needs.
#pragma once

#include <memory>
#include <utility>

#include "base/reserved_array.h"
#include "kv_store/api/config.h"
#include "kv_store/api/counters.h"
#include "kv_store/format/durable_memory.h"
#include "kv_store/format/items.h"
#include "kv_store/format/superblock.h"
#include "kv_store/format/zone_headers.h"
#include "kv_store/index/descriptor_table.h"
#include "kv_store/index/use_list.h"
#include "kv_store/log/zone_log.h"
#include "kv_store/medium/media.h"

namespace nvcache {

struct KvParts {
  // `recovered`: the medium held a store when it was opened.
  KvParts(KvConfig config_, KvMedium medium_, const KvSuperblock& superblock, bool recovered_)
      : config(std::move(config_)),
        medium(std::move(medium_)),
        geometry(superblock.geometry),
        nonce(superblock.nonce),
        recovered(recovered_),
        memory(*medium.medium, config.durability, counters),
        items(memory, nonce),
        headers(memory, geometry, nonce),
        zones(memory, geometry),
        table(memory, geometry, recovered),
        // Where the order of use is durable, it lies on the medium.
        use_bytes(memory.flushes_use() ? 0 : geometry.slots()),
        use_list(memory.flushes_use() ? reinterpret_cast<uint8_t*>(memory.at(geometry.uses_at))
                                      : &use_bytes[0],
                 geometry.slots()) {}
  KvParts(const KvParts&) = delete;
  KvParts& operator=(const KvParts&) = delete;

  const KvConfig config;
  KvMedium medium;
  const KvGeometry geometry;
  const uint64_t nonce;
  const bool recovered;
  bool counts_are_old = false;  // those in the zones' headers: the last owner lost power
  // Power was lost at some time. A descriptor may be of two, a word of each: void until its zone
  // has the version by chance. So all are verified, whatever zone they lead to.
  bool may_be_torn = false;
  KvCounters counters;
  DurableMemory memory;
  KvItems items;
  ZoneHeaders headers;
  ZoneLog zones;
  DescriptorTable table;
  ReservedArray<uint8_t> use_bytes;
  KvUseList use_list;
};

}  // namespace nvcache
