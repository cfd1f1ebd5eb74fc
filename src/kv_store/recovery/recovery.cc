#include "kv_store/recovery/recovery.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "base/test_hooks.h"
#include "kv_store/recovery/absence.h"
#include "kv_store/recovery/unfinished_cleaning.h"

namespace nvcache {
namespace {

uint64_t random_number() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// Durably, before the opening notes the time: a kill in between would make the absence short.
Status mark_outdated(KvMedium& on, bool read_only, KvFoundStore* store) {
  store->state.outdated_cas = store->state.cas;
  if (read_only) return ok_status();
  ++store->state.sequence;
  return KvSuperblockFile(on, store->superblock.nonce).write_state(store->state);
}

}  // namespace

StatusOr<KvFoundStore> find_or_format(KvMedium& on, const KvConfig& config) {
  const auto found = find_store(on);
  if (!found.ok()) return found.status();
  const std::optional<KvFoundStore>& before = *found;
  KvSuperblockFile file(on);
  KvFoundStore store;
  uint64_t cas = config.cas_given;
  Status made;
  if (before) {
    const bool away = was_away_too_long(*before, on, config);
    const bool trusted = trust_in(*before, on, config) != KvTrust::kNothing;
    if (trusted && away) on.notes.push_back(absence_note(*before, on, config));
    if (trusted && !(away && config.empty_after_absence)) {
      store = *before;
      store.away_s = absence_s(*before, on, config).value_or(0);
      if (away) {
        Status marked = mark_outdated(on, config.read_only, &store);
        if (!marked.ok()) return marked;
      }
      return store;
    }
    if (config.read_only) return failed_precondition_error("nothing in it can be trusted");
    store.superblock = before->superblock;
    if (!trusted && config.durability != Durability::kVolatile) {
      on.notes.push_back(why_emptied(*before, on));
    }
    if (!test_hooks.keep_old_table) store.superblock.nonce = random_number();
    cas = std::max(cas, before->state.cas);
    made = file.replace(store.superblock, cas);
  } else {
    auto planned = plan_geometry(on.medium->size_bytes(), config.zone_bytes, config.item_bytes,
                                 config.version_bits);
    if (!planned.ok()) return planned.status();
    store.superblock = {.geometry = *planned, .nonce = random_number()};
    made = file.format(store.superblock, cas);
  }
  if (!made.ok()) return made;
  store.state = {.sequence = 1,
                 .cas = cas,
                 .outdated_cas = config.outdated_cas,
                 .clean = true,
                 .invalidates = true,
                 .power = true};
  return store;
}

Status Recovery::open() {
  if (Status status = recover_zones(); !status.ok()) return status;
  if (parts_.config.read_only) return ok_status();
  if (Status status = mark_in_use(); !status.ok()) return status;
  open_ = true;
  return ok_status();
}

Status Recovery::recover_zones() {
  if (Status status = adopt_zones(); !status.ok()) return status;
  const uint64_t boot = boot_of(parts_.config);
  const KvTrust trust =
      trust_of(state_, boot, parts_.config.durability, parts_.medium.survives_power);
  if (parts_.recovered && trust == KvTrust::kAfterSync) {
    if (Status status = parts_.medium.sync(); !status.ok()) return status;
  }
  parts_.counts_are_old = !state_.clean && (boot == 0 || state_.boot != boot);
  parts_.may_be_torn = state_.torn || parts_.counts_are_old;
  recovered_items_ = parts_.recovered ? parts_.headers.live().items : 0;
  return ok_status();
}

Status Recovery::adopt_zones() {
  MutexLock cleaning(parts_.zones.cleaning_mutex());
  MutexLock lock(parts_.zones.space_mutex());
  const uint64_t zones = parts_.geometry.zones;
  std::vector<ZoneHeaders::Loaded> headers(zones);
  std::vector<std::pair<uint64_t, uint64_t>> by_sequence(zones);
  std::vector<uint64_t> damaged;
  for (uint64_t zone = 0; zone < zones; ++zone) {
    headers[zone] = parts_.headers.load(zone);
    parts_.headers.adopt_counts(zone);
    if (headers[zone].cleaning && parts_.config.read_only) {
      has_unfinished_cleaning_ = true;
    } else if (headers[zone].cleaning) {
      UnfinishedCleaning unfinished(parts_, cleaner_, zone, headers[zone]);
      if (Status status = unfinished.finish(); !status.ok()) return status;
      headers[zone] = parts_.headers.load(zone);
    }
    by_sequence[zone] = {headers[zone].sequence, zone};
    if (headers[zone].version == 0) damaged.push_back(zone);
  }
  std::sort(by_sequence.begin(), by_sequence.end());
  for (const auto& [sequence, zone] : by_sequence) {
    parts_.zones.adopt(zone, headers[zone].version, headers[zone].hot_line, sequence,
                       parts_.recovered);
  }
  return repair(damaged);
}

// The version that a damaged header had is unknown. Descriptors of the zone are cleared, so
// that none can be valid by chance.
Status Recovery::repair(const std::vector<uint64_t>& damaged) {
  if (damaged.empty()) return ok_status();
  cleaner_.clear_descriptors(damaged);
  for (const uint64_t zone : damaged) {
    parts_.zones.serve(zone, 1);
    parts_.headers.write(zone, 1, 0, 0);
  }
  if (parts_.headers.persist_all()) return ok_status();
  return data_loss_error("the medium failed while damaged zones were repaired");
}

Status Recovery::mark_in_use() {
  state_ = {.sequence = state_.sequence + 1,
            .cas = state_.cas + parts_.config.first_cas_block,
            .outdated_cas = state_.outdated_cas,
            .boot = boot_of(parts_.config),
            .clean = false,
            .invalidates = parts_.memory.flushes_updates(),
            .power = parts_.medium.survives_power,
            .torn = parts_.may_be_torn};
  return write_state();
}

Status Recovery::reserve_cas(uint64_t up_to) {
  ++state_.sequence;
  state_.cas = up_to;
  return write_state();
}

// A loss of power must find that the store was in use. Not even after a kill is that certain: it
// may have come before this line.
Status Recovery::write_state() {
  return KvSuperblockFile(parts_.medium, parts_.nonce).write_state(state_);
}

Status Recovery::close(uint64_t given_cas) {
  KvMedium& medium = parts_.medium;
  KvSuperblockFile file(medium);
  // Does not write to a medium whose superblock was damaged or replaced meanwhile.
  KvSuperblock superblock;
  KvState before;
  const StatusOr<bool> found = file.load(&superblock, &before);
  if (!found.ok()) return found.status();
  open_ = false;
  state_.clean = true;
  state_.cas = given_cas;
  ++state_.sequence;
  if (Status status = file.write_state(state_); !status.ok()) return status;
  return medium.file != nullptr ? medium.file->sync_all() : ok_status();
}

}  // namespace nvcache
