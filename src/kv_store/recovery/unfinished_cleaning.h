// Finishes the cleaning of a zone that a killed owner began (kv_store/log/zone_mover.h): no
// survivor is lost, however often the opening is killed as well.
//
// The header says how far the survivors had moved. Those before that point have a descriptor of the
// zone's version or of one that an attempt gave; those behind it lie where they lay. Each is
// verified, and what lies between them is passed over (kv_store/log/zone_walk.h). All get
// descriptors of a version that no attempt used, so that whatever else is in the table is void. An
// item that the cleaning would have evicted may stay: no lookup has missed it yet.
//
// After a loss of power the header may be ahead of the items: those are lost, and nothing comes
// back. If it tore what the header says, all items are looked for where they lie, and get a version
// behind all that may have been given.
//
// Used by one thread, at the opening, before the zone serves. Reads one zone, and the descriptors
// of its items. Does not own the parts.
#pragma once

#include <cstdint>
#include <vector>

#include "kv_store/format/zone_headers.h"
#include "kv_store/log/cleaner.h"
#include "kv_store/log/parts.h"
#include "kv_store/log/zone_mover.h"
#include "nvcache/function_ref.h"
#include "nvcache/status.h"

namespace nvcache {

class UnfinishedCleaning {
 public:
  // `header` says that the zone was being cleaned.
  UnfinishedCleaning(KvParts& parts, Cleaner& cleaner, uint64_t zone,
                     const ZoneHeaders::Loaded& header);

  // DATA_LOSS if the medium fails.
  [[nodiscard]] Status finish();

 private:
  // Attempts that may have given versions where the header does not tell how many did.
  static constexpr uint64_t kMostLostAttempts = 256;

  uint64_t pass_lost_attempts();
  void pass_versions(uint64_t count);
  void find_moved();
  bool find_whole(uint64_t offset, Survivor* found);
  bool finish_item(uint64_t offset, Survivor* found);
  bool gather(uint64_t offset, uint64_t size_bytes, std::byte* to) const;
  void find_unmoved();
  void add(const Survivor& item, uint64_t to);
  bool find(uint64_t offset, uint64_t old_offset, const KvItemView& item, Survivor* found) const;
  bool any_descriptor(uint64_t hash, uint64_t offset,
                      FunctionRef<bool(uint64_t, const KvDescriptor&)> suits) const;
  bool is_intact(const KvDescriptor& descriptor, uint64_t offset, const KvItemView& item) const;
  uint64_t address_of(uint64_t offset) const { return parts_.geometry.zone_at(zone_) + offset; }
  std::byte* at(uint64_t offset) const { return parts_.memory.at(address_of(offset)); }

  KvParts& parts_;
  Cleaner& cleaner_;
  const uint64_t zone_;
  const ZoneHeaders::Loaded header_;
  uint64_t to_ = 0;
  uint64_t from_ = 0;
  std::vector<uint32_t> versions_;  // that its survivors may have
  uint64_t next_ = 0;               // the version that they get
  bool comes_round_ = false;
  ZoneMover mover_;  // made after these
  std::vector<ZoneMover::Move> moves_;
};

}  // namespace nvcache
