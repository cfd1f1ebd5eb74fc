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

#include "base/text.h"
#include "kv_store/absence.h"
#include "kv_store/media.h"
#include "kv_store/store.h"
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

absl::Status sync_directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_status("opening directory", directory, errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error == 0 ? absl::OkStatus() : errno_status("syncing directory", directory, error);
}

absl::StatusOr<std::unique_ptr<KvStoreImpl>> open_store(KvConfig config) {
  auto medium = open_kv_medium(config);
  if (!medium.ok()) return medium.status();
  return KvStoreImpl::make(std::move(config), *std::move(medium));
}

// What a file holds whose size or zones are not those that are wanted.
struct OldStore {
  uint64_t cas = 0;            // numbers of values up to this one may have been given
  uint64_t outdated_cas = 0;   // values up to this one are outdated
  std::unique_ptr<KvStoreImpl> store;  // only read; null: nothing in it can be trusted
  KvMedium medium;                     // then: keeps the file's lock
};

// Opens and closes the store, so that it is whole. Its size stays.
absl::Status finish_cleaning(KvConfig config) {
  config.read_only = false;
  config.sync_seconds = 0;
  auto store = open_store(std::move(config));
  return store.ok() ? (*store)->close() : store.status();
}

// Empty: the store fits, or the file holds none, of which the opening will tell.
// `notes`: of the file's opening.
absl::StatusOr<std::optional<OldStore>> open_if_unfit(const KvConfig& wanted, uint64_t length,
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
  if (!found.ok() || !found->has_value()) return std::nullopt;
  const KvGeometry& geometry = (*found)->superblock.geometry;
  if (length == wanted.size_bytes && geometry.zone_bytes >= wanted.zone_bytes) return std::nullopt;
  OldStore old{.cas = (*found)->state.cas,
               .outdated_cas = (*found)->state.outdated_cas,
               .store = nullptr,
               .medium = {}};
  const bool away = was_away_too_long(**found, *medium, config);
  if (away) {
    notes->push_back(absence_note(**found, *medium, config));
    old.outdated_cas = old.cas;
    if (config.empty_after_absence) {
      old.medium = *std::move(medium);
      return old;
    }
  }
  if (trust_in(**found, *medium, config) == KvTrust::kNothing) {
    notes->push_back(why_emptied(**found, *medium));
    old.medium = *std::move(medium);
    return old;
  }
  auto store = KvStoreImpl::make(config, *std::move(medium));
  if (!store.ok()) return store.status();
  if ((*store)->has_unfinished_cleaning()) {
    store->reset();
    if (absl::Status status = finish_cleaning(config); !status.ok()) return status;
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

}  // namespace

absl::StatusOr<KvResized> resize_kv_file(const KvConfig& wanted, const KvResizeProgress& progress) {
  KvResized resized;
  const std::string path = path_of_kv_medium(wanted.medium);
  const std::optional<uint64_t> length = path.empty() ? std::nullopt : length_of(path);
  if (!length) return resized;
  const auto unfit = open_if_unfit(wanted, *length, &resized.notes);
  if (!unfit.ok()) return unfit.status();
  if (!*unfit) return resized;
  const OldStore& old = **unfit;

  const std::string unfinished = resizing_path(path);
  KvConfig config = wanted;
  config.medium = "file:" + unfinished;
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
    return absl::Status(
        to.status().code(),
        fmt::format("cannot resize the store from {} to {} bytes: {}; its file is unchanged. Give "
                    "its old size, make room, or remove it to start empty",
                    *length, wanted.size_bytes, message_of(to.status())));
  }
  if (old.store != nullptr && !copy_items(*old.store, **to, progress, &resized)) {
    to->reset();
    unlink(unfinished.c_str());
    return absl::AbortedError("ended while the store was copied; its file is unchanged");
  }
  resized.items_kept = (*to)->stats().items;
  resized.before_bytes = *length;
  resized.after_bytes = wanted.size_bytes;
  absl::Status status = (*to)->close();
  if (status.ok() && rename(unfinished.c_str(), path.c_str()) != 0) {
    status = errno_status("renaming file", unfinished, errno);
  }
  if (!status.ok()) {
    unlink(unfinished.c_str());
    return status;
  }
  if (status = sync_directory_of(path); !status.ok()) return status;
  return resized;
}

}  // namespace nvcache
