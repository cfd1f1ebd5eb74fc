// Opening and closing a store. What recovery looks at are the zones' headers, one line a
// zone; descriptors and items are looked at when they are used.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>
#include <random>

#include "base/hash.h"
#include "base/text.h"
#include "kv_store/store.h"

namespace nvcache {
namespace {

constexpr uint64_t kMaxStripes = 4096;
constexpr uint64_t kCasBits = 40;  // of a cas within an opening

// Another value after every start of the machine; 0 where that cannot be told.
uint64_t boot_number() {
  char text[64] = {};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = ::read(fd, text, sizeof(text));
  close(fd);
  return length > 0 ? hash_bytes({text, static_cast<size_t>(length)}) | 1 : 0;
}

uint64_t random_number() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

uint32_t unix_seconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<uint32_t>(now.tv_sec);
}

KvConfig completed(KvConfig config) {
  if (!config.now_s) config.now_s = unix_seconds;
  // The comparison systems have none.
  if (config.durability != Durability::kCache) config.write_cache_bytes = 0;
  return config;
}

}  // namespace

absl::StatusOr<std::unique_ptr<KvStoreImpl>> KvStoreImpl::make(KvConfig config, KvMedium medium) {
  if (medium.medium->direct().empty()) {
    return invalid_argument("medium: {} is not byte-addressable; allowed: memory, mapped files",
                            medium.medium->traits().name);
  }
  std::unique_ptr<KvStoreImpl> store(
      new KvStoreImpl(completed(std::move(config)), std::move(medium)));
  if (absl::Status status = store->open(); !status.ok()) {
    store->zones_.reset();  // tells the destructor that nothing was opened
    return status;
  }
  return store;
}

KvStoreImpl::KvStoreImpl(KvConfig config, KvMedium medium)
    : config_(std::move(config)),
      medium_(std::move(medium)),
      base_(const_cast<std::byte*>(medium_.medium->direct().data())),
      emulated_(medium_.medium->traits().emulated),
      cache_(config_.write_cache_bytes) {}

absl::Status KvStoreImpl::open() {
  const auto start = std::chrono::steady_clock::now();
  KvSuperblockFile file(*medium_.medium, base_);
  KvSuperblock superblock;
  auto found = file.load(&superblock, &state_);
  if (!found.ok()) return found.status();
  if (!*found) {
    auto planned = plan_geometry(medium_.medium->size_bytes(), config_.zone_bytes,
                                 config_.item_bytes, config_.version_bits);
    if (!planned.ok()) return planned.status();
    superblock = {.geometry = *planned, .nonce = random_number()};
    if (absl::Status status = file.format(superblock); !status.ok()) return status;
    state_ = {.sequence = 1, .clean = true, .invalidates = true, .power = true};
  }
  recovered_ = *found;
  geometry_ = superblock.geometry;
  nonce_ = superblock.nonce;
  version_mask_ = static_cast<uint32_t>((uint64_t{1} << geometry_.version_bits) - 1);
  prepare_memory(recovered_);
  if (absl::Status status = recover_zones(); !status.ok()) return status;

  // After a kill, the state on the disk says already that the store is in use.
  const bool known =
      !state_.clean && !state_.power && state_.boot != 0 && state_.boot == boot_number();
  state_ = {.sequence = state_.sequence + 1,
            .epoch = state_.epoch + 1,
            .boot = boot_number(),
            .clean = false,
            .invalidates = flushes_updates(),
            .power = medium_.survives_power};
  if (absl::Status status = file.write_state(state_); !status.ok()) return status;
  // Before the first change: a loss of power must find that the store was in use.
  if (medium_.file != nullptr && !medium_.survives_power && !known) {
    if (absl::Status status = medium_.file->sync({0, geometry_.headers_at}); !status.ok()) {
      return status;
    }
  }
  next_cas_.store(state_.epoch << kCasBits, std::memory_order_relaxed);
  recovery_seconds_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return absl::OkStatus();
}

void KvStoreImpl::prepare_memory(bool recovered) {
  zones_ = std::make_unique<Zone[]>(geometry_.zones);
  const uint64_t stripes = std::bit_floor(std::min(geometry_.groups, kMaxStripes));
  stripes_ = std::make_unique<Stripe[]>(stripes);
  stripe_mask_ = stripes - 1;
  lanes_ = std::vector<Lane>(geometry_.zones >= 64 ? 4 : 1);
  checked_ = ReservedArray<uint64_t>(geometry_.slots() / 64 + 1);
  overflows_ = ReservedArray<uint8_t>(geometry_.groups);
  if (recovered) std::memset(&overflows_[0], 1, geometry_.groups);
  uint8_t* marks = nullptr;
  if (config_.durability == Durability::kEachLru) {
    marks = reinterpret_cast<uint8_t*>(base_ + geometry_.marks_at);
  } else {
    mark_bytes_ = ReservedArray<uint8_t>(geometry_.slots());
    marks = &mark_bytes_[0];
  }
  marks_ = std::make_unique<KvMarks>(marks, geometry_.slots());
}

absl::Status KvStoreImpl::recover_zones() {
  MutexLock lock(space_mutex_);
  std::vector<std::pair<uint64_t, uint64_t>> used;  // by age
  std::vector<bool> damaged(geometry_.zones);
  bool any_damaged = false;
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
    KvZoneHeader header;
    std::memcpy(&header, header_at(zone), sizeof(header));
    const uint64_t version = header.version & kKvVersionMask;
    damaged[zone] = header.version != kv_version_word(version, zone, nonce_) || version == 0;
    any_damaged |= damaged[zone];
    Zone& z = zones_[zone];
    z.serving.store(version, std::memory_order_relaxed);
    z.unchecked.store(recovered_, std::memory_order_relaxed);
    const uint64_t hot_line = header.hot_line & 0xffffffff;
    if (header.hot_line == kv_hot_line_word(hot_line, version, zone, nonce_) &&
        hot_line <= geometry_.zone_bytes) {
      z.hot_line = hot_line;
    }
    if (header.sequence == 0) {
      fresh_.push_back(zone);
    } else {
      used.emplace_back(header.sequence, zone);
      sequence_ = std::max(sequence_, header.sequence);
    }
  }
  std::sort(used.begin(), used.end());
  for (const auto& [sequence, zone] : used) full_.push_back(zone);
  if (any_damaged) {
    // A version that no descriptor has can only be found by clearing what has any.
    sweep(damaged);
    for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
      if (!damaged[zone]) continue;
      zones_[zone].serving.store(1, std::memory_order_relaxed);
      write_zone_header(zone, 1, 0, 0);
      if (!persist(geometry_.headers_at + zone * kKvLineBytes, kKvLineBytes)) {
        return absl::DataLossError("the medium failed while its zones were recovered");
      }
    }
  }
  // Deletes and updates that the last user did not make durable against what happened
  // since: what the store holds may be what was deleted.
  const bool same_boot = state_.boot != 0 && state_.boot == boot_number();
  const bool trusted = state_.clean || (state_.invalidates && (state_.power || same_boot));
  if (recovered_ && (!trusted || config_.durability == Durability::kVolatile) && !renew_all()) {
    return absl::DataLossError("the medium failed while its zones were recovered");
  }
  recovered_items_ = recovered_ ? live().first : 0;
  return absl::OkStatus();
}

KvStoreImpl::~KvStoreImpl() {
  if (!zones_ || !medium_.medium->traits().persistent) return;
  if (!sync().ok()) return;
  state_.clean = true;
  ++state_.sequence;
  KvSuperblockFile file(*medium_.medium, base_);
  KvSuperblock superblock;
  KvState before;
  if (!file.load(&superblock, &before).ok() || !file.write_state(state_).ok()) return;
  if (medium_.file != nullptr) (void)medium_.file->sync_all();
}

absl::StatusOr<std::unique_ptr<KvStore>> open_kv_store(std::string_view spec) {
  auto config = parse_kv_config(spec);
  if (!config.ok()) return config.status();
  auto medium = open_kv_medium(*config);
  if (!medium.ok()) return medium.status();
  auto store = KvStoreImpl::make(*std::move(config), *std::move(medium));
  if (!store.ok()) return store.status();
  return std::unique_ptr<KvStore>(*std::move(store));
}

}  // namespace nvcache
