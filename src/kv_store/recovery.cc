#include "kv_store/recovery.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace nvcache {
namespace {

// Differs after every start of the machine; 0 if the kernel does not tell.
uint64_t boot_number() {
  char text[64] = {};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = ::read(fd, text, sizeof(text));
  ::close(fd);
  return length > 0 ? hash_bytes({text, static_cast<size_t>(length)}) | 1 : 0;
}

uint64_t random_number() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::byte* base_of(const Medium& medium) { return const_cast<std::byte*>(medium.direct().data()); }

}  // namespace

KvTrust trust_of(const KvState& found, uint64_t boot, Durability wanted, bool survives_power) {
  if (wanted == Durability::kVolatile) return KvTrust::kNothing;
  if (found.clean) return KvTrust::kAll;
  if (!found.invalidates) return KvTrust::kNothing;
  if (found.power) return KvTrust::kAll;
  if (boot == 0 || found.boot != boot) return KvTrust::kNothing;
  return survives_power ? KvTrust::kAfterSync : KvTrust::kAll;
}

absl::StatusOr<std::optional<KvFoundStore>> find_store(Medium& medium) {
  KvSuperblockFile file(medium, base_of(medium));
  KvFoundStore store{.superblock = {}, .state = {}, .recovered = true};
  const absl::StatusOr<bool> found = file.load(&store.superblock, &store.state);
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  return store;
}

absl::StatusOr<KvFoundStore> find_or_format(KvMedium& on, const KvConfig& config) {
  Medium& medium = *on.medium;
  const auto found = find_store(medium);
  if (!found.ok()) return found.status();
  if (*found) return **found;
  KvFoundStore store;
  auto planned =
      plan_geometry(medium.size_bytes(), config.zone_bytes, config.item_bytes, config.version_bits);
  if (!planned.ok()) return planned.status();
  store.superblock = {.geometry = *planned, .nonce = random_number()};
  KvSuperblockFile file(medium, base_of(medium));
  if (absl::Status status = file.format(store.superblock, on.blank); !status.ok()) return status;
  store.state = {.sequence = 1,
                 .epoch = config.first_epoch,
                 .clean = true,
                 .invalidates = true,
                 .power = true};
  return store;
}

absl::Status Recovery::open() {
  if (absl::Status status = recover_zones(); !status.ok()) return status;
  if (parts_.config.read_only) return absl::OkStatus();
  if (absl::Status status = mark_in_use(); !status.ok()) return status;
  open_ = true;
  return absl::OkStatus();
}

absl::Status Recovery::recover_zones() {
  if (absl::Status status = adopt_zones(); !status.ok()) return status;
  if (parts_.recovered) {
    const KvTrust trust =
        trust_of(state_, boot_number(), parts_.config.durability, parts_.medium.survives_power);
    if (trust == KvTrust::kNothing) {
      if (absl::Status status = cleaner_.renew_all(); !status.ok()) return status;
    }
    if (trust == KvTrust::kAfterSync) {
      if (absl::Status status = parts_.medium.sync(); !status.ok()) return status;
    }
  }
  recovered_items_ = parts_.recovered ? parts_.headers.live().items : 0;
  return absl::OkStatus();
}

absl::Status Recovery::adopt_zones() {
  MutexLock cleaning(parts_.zones.cleaning_mutex());
  MutexLock lock(parts_.zones.space_mutex());
  const uint64_t zones = parts_.geometry.zones;
  std::vector<ZoneHeaders::Loaded> headers(zones);
  std::vector<std::pair<uint64_t, uint64_t>> by_sequence(zones);
  std::vector<uint64_t> damaged;
  for (uint64_t zone = 0; zone < zones; ++zone) {
    headers[zone] = parts_.headers.load(zone);
    parts_.headers.adopt_counts(zone);
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
absl::Status Recovery::repair(const std::vector<uint64_t>& damaged) {
  if (damaged.empty()) return absl::OkStatus();
  cleaner_.clear_descriptors(damaged);
  for (const uint64_t zone : damaged) {
    parts_.zones.serve(zone, 1);
    parts_.headers.write(zone, 1, 0, 0);
    if (!parts_.headers.persist(zone)) {
      return absl::DataLossError("the medium failed while damaged zones were repaired");
    }
  }
  return absl::OkStatus();
}

absl::Status Recovery::mark_in_use() {
  state_ = {.sequence = state_.sequence + 1,
            .epoch = state_.epoch + 1,
            .boot = boot_number(),
            .clean = false,
            .invalidates = parts_.memory.flushes_updates(),
            .power = parts_.medium.survives_power};
  return write_state();
}

absl::Status Recovery::begin_epoch() {
  MutexLock lock(mutex_);
  ++state_.sequence;
  ++state_.epoch;
  return write_state();
}

absl::Status Recovery::write_state() {
  KvMedium& medium = parts_.medium;
  KvSuperblockFile file(*medium.medium, base_of(*medium.medium), parts_.nonce);
  if (absl::Status status = file.write_state(state_); !status.ok()) return status;
  // A loss of power must find that the store was in use. Not even after a kill is that certain: it
  // may have come before this line.
  if (medium.file != nullptr && !medium.survives_power) {
    return medium.file->sync({0, parts_.geometry.headers_at});
  }
  return absl::OkStatus();
}

absl::Status Recovery::close() {
  KvMedium& medium = parts_.medium;
  KvSuperblockFile file(*medium.medium, base_of(*medium.medium));
  // Does not write to a medium whose superblock was damaged or replaced meanwhile.
  KvSuperblock superblock;
  KvState before;
  const absl::StatusOr<bool> found = file.load(&superblock, &before);
  if (!found.ok()) return found.status();
  open_ = false;
  state_.clean = true;
  ++state_.sequence;
  if (absl::Status status = file.write_state(state_); !status.ok()) return status;
  return medium.file != nullptr ? medium.file->sync_all() : absl::OkStatus();
}

}  // namespace nvcache
