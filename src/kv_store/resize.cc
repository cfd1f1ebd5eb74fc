#include "kv_store/resize.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "kv_store/medium/media.h"
#include "kv_store/recovery/absence.h"
#include "kv_store/recovery/found_store.h"
#include "kv_store/store/store.h"
#include "medium/check.h"

namespace nvcache {

std::string resizing_path(const std::string& path) { return path + ".resizing"; }
namespace {

// Of a file that exists and is not empty.
std::optional<uint64_t> length_of(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(found.st_size);
}

Status sync_directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  const int fd = open_file(directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return errno_status("opening directory", directory, errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error == 0 ? ok_status() : errno_status("syncing directory", directory, error);
}

StatusOr<std::unique_ptr<KvStoreImpl>> open_store(KvConfig config) {
  auto medium = open_kv_medium(config);
  if (!medium.ok()) return medium.status();
  return KvStoreImpl::make(std::move(config), *std::move(medium));
}

// Why a store is made anew.
enum class Unfit : uint8_t {
  kNo,
  kTable,   // it is full long before the zones are: the store can go on as it is
  kWanted,  // another size, larger zones or another table are wanted
};

// The store of a file that does not fit.
struct OldStore {
  Unfit why = Unfit::kNo;
  uint64_t item_bytes = 0;             // to plan the new store with
  uint64_t cas = 0;                    // numbers of values up to this one may have been given
  uint64_t outdated_cas = 0;           // values up to this one are outdated
  std::unique_ptr<KvStoreImpl> store;  // only read; null: nothing in it can be trusted
  KvMedium medium;                     // then: keeps the file's lock
};

Unfit unfit_for(const KvConfig& wanted, uint64_t length, const KvGeometry& geometry,
                const ZoneHeaders::Live& live) {
  if (length != wanted.size_bytes || geometry.zone_bytes < wanted.zone_bytes) return Unfit::kWanted;
  if (wanted.fits_item) {
    const bool grows = fitting_item_bytes(geometry, live.items, live.item_bytes) != 0;
    return grows ? Unfit::kTable : Unfit::kNo;
  }
  const auto planned =
      plan_geometry(wanted.size_bytes, geometry.zone_bytes, wanted.item_bytes, wanted.version_bits);
  return planned.ok() && planned->groups == geometry.groups ? Unfit::kNo : Unfit::kWanted;
}

// Few items say nothing of those to come.
uint64_t item_bytes_for(const KvConfig& wanted, const ZoneHeaders::Live& live) {
  constexpr uint64_t kLeastItems = 1000;
  if (!wanted.fits_item || live.items < kLeastItems) return wanted.item_bytes;
  return std::min(wanted.item_bytes, planned_item_bytes(live.items, live.item_bytes));
}

std::string table_note(const KvGeometry& geometry, const ZoneHeaders::Live& live) {
  return fmt::format(
      "the table of items was full with {} items, which took {} of {} bytes: it grows (item={})",
      live.items, live.item_bytes, geometry.size_bytes,
      fitting_item_bytes(geometry, live.items, live.item_bytes));
}

// Opens and closes the store, so that it is whole. Its size stays.
Status finish_cleaning(KvConfig config) {
  config.read_only = false;
  config.sync_seconds = 0;
  auto store = open_store(std::move(config));
  return store.ok() ? (*store)->close() : store.status();
}

// Empty: the store fits, or the file holds none, of which the opening will tell.
// `notes`: of the file's opening.
StatusOr<std::optional<OldStore>> open_if_unfit(const KvConfig& wanted, uint64_t length,
                                                std::vector<std::string>* notes) {
  KvConfig config = wanted;
  config.size_bytes = length;
  config.read_only = true;
  auto medium = open_kv_medium(config);
  if (!medium.ok()) return medium.status();
  notes->insert(notes->end(), medium->notes.begin(), medium->notes.end());
  // Of a resize that was killed: whoever has the store's lock, as this one has now, writes there.
  unlink(resizing_path(path_of_kv_medium(wanted.medium)).c_str());
  const auto found = find_store(*medium);
  if (!found.ok()) return std::nullopt;
  const std::optional<KvFoundStore>& before = *found;
  if (!before) return std::nullopt;
  const KvGeometry& geometry = before->superblock.geometry;
  const ZoneHeaders::Live live = live_in(*medium, geometry);
  const Unfit why = unfit_for(wanted, length, geometry, live);
  const bool away = was_away_too_long(*before, *medium, config);
  const bool trusted = trust_in(*before, *medium, config) != KvTrust::kNothing;
  // Nothing is left of what filled the table where the opening empties the store.
  const bool starts_empty = !trusted || (away && config.empty_after_absence);
  if (why == Unfit::kNo || (why == Unfit::kTable && starts_empty)) return std::nullopt;
  if (why == Unfit::kTable) notes->push_back(table_note(geometry, live));
  OldStore old{.why = why,
               .item_bytes = item_bytes_for(wanted, live),
               .cas = before->state.cas,
               .outdated_cas = before->state.outdated_cas,
               .store = nullptr,
               .medium = {}};
  if (away) {
    notes->push_back(absence_note(*before, *medium, config));
    old.outdated_cas = old.cas;
    if (config.empty_after_absence) {
      old.medium = *std::move(medium);
      return old;
    }
  }
  if (!trusted) {
    notes->push_back(why_emptied(*before, *medium));
    old.medium = *std::move(medium);
    return old;
  }
  auto store = KvStoreImpl::make(config, *std::move(medium));
  if (!store.ok()) return store.status();
  if ((*store)->has_unfinished_cleaning()) {
    store->reset();
    if (Status status = finish_cleaning(config); !status.ok()) return status;
    return open_if_unfit(wanted, length, notes);
  }
  old.store = *std::move(store);
  return old;
}

// False: `progress` gave up.
bool copy_items(KvStoreImpl& from, KvStoreImpl& to, const KvResizeProgress& progress,
                KvResized* resized) {
  const uint64_t zones = from.geometry().zones;
  uint64_t done = 0;
  for (const uint64_t zone : from.zones_by_age()) {
    from.visit_zone(zone, [&](std::string_view key, ByteView value, const KvMeta& meta) {
      ++resized->items_found;
      (void)to.copy_in(key, value, meta);  // what does not fit is evicted, or not there
    });
    if (progress && !progress(++done, zones)) return false;
  }
  return true;
}

// Copies the store into a new file, which takes the old one's name.
Status make_anew(const KvConfig& wanted, const std::string& path, const OldStore& old,
                 const KvResizeProgress& progress, KvResized* resized) {
  const std::string unfinished = resizing_path(path);
  KvConfig config = wanted;
  config.medium = kv_medium_of_file(unfinished);
  config.item_bytes = old.item_bytes;
  config.durability = Durability::kCache;  // nothing relies on it until it is closed
  config.survives = KvSurvives::kProcess;
  config.write_cache_bytes = 0;
  config.sync_seconds = 0;
  config.cas_given = old.cas;  // so that none comes again
  config.outdated_cas = old.outdated_cas;
  if (unlink(unfinished.c_str()) != 0 && errno != ENOENT) {
    return errno_status("removing file", unfinished, errno);
  }
  auto to = open_store(config);
  if (!to.ok()) {
    unlink(unfinished.c_str());
    return to.status();
  }
  if (old.store != nullptr && !copy_items(*old.store, **to, progress, resized)) {
    to->reset();
    unlink(unfinished.c_str());
    return aborted_error("ended while the store was copied; its file is unchanged");
  }
  resized->items_kept = (*to)->stats().items;
  Status status = (*to)->close();
  if (status.ok() && rename(unfinished.c_str(), path.c_str()) != 0) {
    status = errno_status("renaming file", unfinished, errno);
  }
  if (!status.ok()) unlink(unfinished.c_str());
  return status;
}

Status resize_error(const Status& status, uint64_t from_bytes, uint64_t to_bytes) {
  if (is_aborted(status)) return status;
  const bool same_size = from_bytes == to_bytes;
  const std::string what =
      same_size ? std::string("copy the store for a larger zone or another item")
                : fmt::format("resize the store from {} to {} bytes", from_bytes, to_bytes);
  return Status(
      status.code(),
      fmt::format("cannot {}: {}; its file is unchanged. Give its old {}, make room, or remove it "
                  "to start empty",
                  what, status.message(), same_size ? "settings" : "size"));
}

}  // namespace

StatusOr<KvResized> resize_kv_file(const KvConfig& wanted, const KvResizeProgress& progress) {
  KvResized resized;
  const std::string path = path_of_kv_medium(wanted.medium);
  const std::optional<uint64_t> length = path.empty() ? std::nullopt : length_of(path);
  if (!length) return resized;
  const auto unfit = open_if_unfit(wanted, *length, &resized.notes);
  if (!unfit.ok()) return unfit.status();
  const std::optional<OldStore>& old = *unfit;
  if (!old) return resized;
  const Status status = make_anew(wanted, path, *old, progress, &resized);
  if (old->why == Unfit::kTable && !status.ok() && !is_aborted(status)) {
    KvResized unchanged;
    unchanged.notes = std::move(resized.notes);
    unchanged.notes.push_back(fmt::format(
        "the table of items cannot grow now: {}; the store goes on as it is", status.message()));
    return unchanged;
  }
  if (!status.ok()) return resize_error(status, *length, wanted.size_bytes);
  resized.before_bytes = *length;
  resized.after_bytes = wanted.size_bytes;
  if (Status synced = sync_directory_of(path); !synced.ok()) return synced;
  return resized;
}

}  // namespace nvcache
