#include "adapters/wiredtiger/shared_caches.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "block_cache/api/config.h"
#include "block_cache/face/open_config.h"
#include "medium/table.h"

namespace nvcache {
namespace {

// A file or device that holds a cache, or held one. Kept for the life of the process: some hundred
// bytes.
struct Place {
  Mutex mutex;  // held while the cache is opened or closed
  CondVar closed;
  bool in_use NVCACHE_GUARDED_BY(mutex) = false;  // from opened to closed
  std::weak_ptr<FileBlockCache> cache NVCACHE_GUARDED_BY(mutex);
  Config config NVCACHE_GUARDED_BY(mutex);
  OnWrite on_write NVCACHE_GUARDED_BY(mutex) = OnWrite::kOffer;
};

// All databases of a cache hold this. The last one closes the cache, and wakes who waits for that.
struct LastUser {
  explicit LastUser(std::shared_ptr<Place> of) : place(std::move(of)) {}
  ~LastUser() {
    if (cache == nullptr) return;  // it was not opened
    const MutexLock closing(place->mutex);
    cache.reset();
    place->cache.reset();
    place->in_use = false;
    place->closed.notify_all();
  }
  LastUser(const LastUser&) = delete;
  LastUser& operator=(const LastUser&) = delete;

  const std::shared_ptr<Place> place;
  std::shared_ptr<FileBlockCache> cache;
};

std::shared_ptr<Place> place_at(const std::string& path) {
  static Mutex mutex;
  static std::unordered_map<std::string, std::shared_ptr<Place>> places;
  const MutexLock lock(mutex);
  std::shared_ptr<Place>& place = places[path];
  if (place == nullptr) place = std::make_shared<Place>();
  return place;
}

// The file or device, by one name; empty if the cache is in memory.
std::string path_of(std::string_view medium) {
  const std::filesystem::path path(place_of_medium(medium));
  if (path.empty()) return "";
  std::error_code error;
  const auto whole = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : whole.string();
}

StatusOr<std::shared_ptr<FileBlockCache>> open_one(const Config& config, OnWrite on_write) {
  auto cache = open_block_cache(config);
  if (!cache.ok()) return cache.status();
  return std::make_shared<FileBlockCache>(*std::move(cache), on_write);
}

}  // namespace

StatusOr<std::shared_ptr<FileBlockCache>> open_shared_cache(const Config& config,
                                                            OnWrite on_write) {
  if (config.restart == Restart::kWarm) {
    return invalid_argument(
        "restart: warm given; allowed under WiredTiger, whose files are overwritten in place: "
        "cold");
  }
  const std::string path = path_of(config.medium);
  if (path.empty()) return open_one(config, on_write);

  const std::shared_ptr<Place> place = place_at(path);
  // Its last database may let go of it at any time; then this closes it, which takes the lock.
  std::shared_ptr<FileBlockCache> open;
  MutexLock lock(place->mutex);
  // One look: it is not closed yet then.
  while ((open = place->cache.lock()) == nullptr && place->in_use) {
    place->closed.wait(place->mutex);
  }
  if (open != nullptr) {
    if (place->config == config && place->on_write == on_write) return open;
    return invalid_argument(
        "cache in {}: another database of this process has it open otherwise: {}; allowed: the "
        "same cache=(...) and writes=, to share it, or another file",
        path,
        place->config == config ? "other writes="
                                : differences(config_rows(), config, place->config));
  }
  // All memory that this takes is there before the cache is: giving it up would take the lock.
  const auto last = std::make_shared<LastUser>(place);
  Config known = config;
  auto opened = open_one(config, on_write);
  if (!opened.ok()) return opened.status();
  last->cache = *std::move(opened);
  place->in_use = true;
  place->config = std::move(known);
  place->on_write = on_write;
  const std::shared_ptr<FileBlockCache> shared(last, last->cache.get());
  place->cache = shared;
  return shared;
}

}  // namespace nvcache
