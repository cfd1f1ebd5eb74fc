// How a store begins and ends: what its medium holds is found or made, its threads start and stop.
#include <chrono>
#include <utility>

#include "base/text.h"
#include "kv_store/format/time_record.h"
#include "kv_store/store/store.h"

namespace nvcache {

StatusOr<std::unique_ptr<KvStoreImpl>> KvStoreImpl::make(KvConfig config, KvMedium medium) {
  const auto start = std::chrono::steady_clock::now();
  if (medium.medium->direct().empty()) {
    return invalid_argument("medium: {} is not byte-addressable; allowed: memory, mapped files",
                            medium.medium->traits().name);
  }
  const bool own_clock = static_cast<bool>(config.now_s);
  config.complete();
  const StatusOr<KvFoundStore> found = find_or_format(medium, config);
  if (!found.ok()) return found.status();
  keep_time(own_clock, *medium.medium, found->superblock.nonce, &config);
  std::unique_ptr<KvStoreImpl> store(new KvStoreImpl(std::move(config), std::move(medium), *found));
  if (Status status = store->recovery_.open(); !status.ok()) return status;
  store->cas_numbers_.start(found->state.cas, store->recovery_.state().cas);
  store->outdated_cas_ = found->state.outdated_cas;
  store->away_s_ = found->away_s;
  if (Status status = store->start_threads(); !status.ok()) return status;
  store->recovery_seconds_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return store;
}

KvStoreImpl::KvStoreImpl(KvConfig config, KvMedium medium, const KvFoundStore& found)
    : parts_(std::move(config), std::move(medium), found.superblock, found.recovered),
      index_(parts_),
      cleaner_(parts_),
      recovery_(parts_, cleaner_, found.state),
      cache_(parts_.config.write_cache_bytes),
      cleaning_({.name = "nvcache-clean",
                 .round = [this] { return parts_.zones.clean_ahead(cleaner_); }}),
      syncer_(
          {.name = "nvcache-sync", .interval_seconds = parts_.config.sync_seconds, .round = [this] {
             sync_in_background();
             return false;
           }}) {}

Status KvStoreImpl::start_threads() {
  const KvConfig& config = parts_.config;
  if (config.read_only) return ok_status();
  if (config.clean_ahead && parts_.zones.most_ahead() > 0) {
    if (!cleaning_.start()) return resource_exhausted_error("no thread for the cleaner");
    parts_.zones.keep_ahead([this] { cleaning_.wake(); });
  }
  const bool outlives = parts_.medium.has_pages || parts_.medium.file != nullptr;
  if (outlives && config.sync_seconds > 0 && !syncer_.start()) {
    return resource_exhausted_error("no thread for background syncs");
  }
  return ok_status();
}

KvStoreImpl::~KvStoreImpl() { (void)close(); }  // the next opening recovers then

Status KvStoreImpl::close() {
  syncer_.stop();
  cleaning_.stop();
  if (!syncer_.is_in_this_process()) return ok_status();  // the medium is its parent's
  if (!recovery_.is_open() || !parts_.medium.medium->traits().persistent) return ok_status();
  const Status status = sync();
  return status.ok() ? recovery_.close(cas_numbers_.given()) : status;
}

}  // namespace nvcache
