#include "experiments/engines/wiredtiger_engine.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "adapters/wiredtiger/cache_settings.h"
#include "base/mutex.h"
#include "base/text.h"
#include "block_cache/face/open_config.h"
#include "experiments/engines/wiredtiger_block_cache.h"
#include "experiments/engines/wiredtiger_connection.h"
#include "experiments/engines/wiredtiger_table.h"
#include "experiments/harness/copy_folder.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr int kLeafPageBytes = 32768;  // WiredTiger's default, at most
constexpr uint64_t kLoadCacheBytes = uint64_t{256} << 20;
constexpr int kCheckpointSeconds = 60;
constexpr int kMostSessions = 1024;

std::string connection_config(uint64_t cache_bytes) {
  return fmt::format("cache_size={},direct_io=[data],statistics=(fast),session_max={}", cache_bytes,
                     kMostSessions);
}

class WiredtigerEngine final : public KvEngine {
 public:
  WiredtigerEngine(std::unique_ptr<WiredtigerConnection> connection,
                   std::unique_ptr<WiredtigerSession> statistics,
                   std::shared_ptr<FileBlockCache> files, bool own_cache)
      : id_(next_id_.fetch_add(1)),
        own_cache_(own_cache),
        files_(std::move(files)),
        connection_(std::move(connection)),
        statistics_(std::move(statistics)) {}

  Status put(uint32_t /*database*/, std::string_view key, std::string_view value) override {
    const auto client = mine();
    return client.ok() ? (*client)->put(key, value) : client.status();
  }
  Status read(uint32_t /*database*/, std::string_view key, std::string* value) override {
    const auto client = mine();
    return client.ok() ? (*client)->read(key, value) : client.status();
  }
  Status scan(uint32_t /*database*/, std::string_view first_key, uint32_t rows,
              const RowVisitor& visit) override {
    const auto client = mine();
    return client.ok() ? (*client)->scan(first_key, rows, visit) : client.status();
  }

  uint64_t thread_block_reads() override {
    static thread_local const uint64_t first = FileBlockCache::thread_disk_reads();
    return FileBlockCache::thread_disk_reads() - first;
  }

  EngineMetrics metrics() const override {
    EngineMetrics metrics;
    metrics.background_written_bytes = files_->stats()[FileCount::kWrittenBytes];
    if (files_->cache() != nullptr) metrics.tier = files_->cache()->stats();
    MutexLock lock(mutex_);
    if (statistics_ == nullptr) return metrics;
    add_wiredtiger_statistics(statistics_->get(), own_cache_, &metrics);
    return metrics;
  }

  Status close() override {
    MutexLock lock(mutex_);
    clients_.clear();
    statistics_.reset();
    return connection_->close();
  }

 private:
  // A session belongs to one thread; it is closed with the database.
  StatusOr<WiredtigerTable*> mine() {
    thread_local struct {
      uint64_t engine = 0;
      WiredtigerTable* client = nullptr;
    } last;
    if (last.engine == id_) return last.client;
    MutexLock lock(mutex_);
    std::unique_ptr<WiredtigerTable>& client = clients_[std::this_thread::get_id()];
    if (client == nullptr) {
      auto opened = WiredtigerTable::open(*connection_);
      if (!opened.ok()) return opened.status();
      client = *std::move(opened);
    }
    last = {id_, client.get()};
    return last.client;
  }

  inline static std::atomic<uint64_t> next_id_{1};
  const uint64_t id_;  // never used again, unlike an address
  const bool own_cache_;
  const std::shared_ptr<FileBlockCache> files_;
  const std::unique_ptr<WiredtigerConnection> connection_;
  mutable Mutex mutex_;
  std::unique_ptr<WiredtigerSession> statistics_ NVCACHE_GUARDED_BY(mutex_);
  std::map<std::thread::id, std::unique_ptr<WiredtigerTable>> clients_ NVCACHE_GUARDED_BY(mutex_);
};

class WiredtigerKind final : public EngineKind {
 public:
  nlohmann::json describe() const override {
    int major = 0, minor = 0, patch = 0;
    ::wiredtiger_version(&major, &minor, &patch);
    return {{"name", "wiredtiger"},
            {"version", fmt::format("{}.{}.{}", major, minor, patch)},
            {"table", "row store, key_format=u, value_format=u"},
            {"block_bytes", kLeafPageBytes},
            {"compression", "none"},
            {"direct_io", true},
            {"checkpoint_seconds", kCheckpointSeconds},
            {"write_ahead_log", "on, not synced"}};
  }

  bool clones_share_blocks() const override { return false; }

  StatusOr<std::shared_ptr<BlockCache>> open_tier(const std::string& spec) const override {
    const StatusOr<std::optional<Config>> config = read_cache(spec);
    if (!config.ok()) return config.status();
    if (!*config) return nullptr;
    StatusOr<std::unique_ptr<BlockCache>> tier = open_block_cache(**config);
    if (!tier.ok()) return tier.status();
    return std::shared_ptr<BlockCache>(*std::move(tier));
  }

  Status check_own_cache(std::string_view spec) const override {
    return wiredtiger_block_cache_config(spec).status();
  }

  Status load(const std::string& directory, uint32_t databases, uint64_t count,
              const SortedPair& pair, uint32_t /*threads*/,
              std::function<void(uint64_t)> progress) override {
    if (databases != 1) return invalid_argument("wiredtiger: {} databases given", databases);
    std::error_code error;
    std::filesystem::create_directory(directory, error);
    auto connection =
        // Without a log: each copy would have to include it.
        WiredtigerConnection::open(directory, connection_config(kLoadCacheBytes) + ",create=true",
                                   std::make_shared<FileBlockCache>(nullptr));
    if (!connection.ok()) return connection.status();
    auto session = WiredtigerSession::open(**connection);
    if (!session.ok()) return session.status();
    Status status = fill_wiredtiger_table(**connection, **session, count, pair, progress);
    session->reset();
    Status closed = (*connection)->close();  // with a checkpoint
    return status.ok() ? closed : status;
  }

  Status clone(const std::string& from, const std::string& to) override {
    // WiredTiger overwrites blocks in place, so copies cannot share files.
    return copy_folder(from, to);
  }

  StatusOr<std::unique_ptr<KvEngine>> open(const EngineOptions& options) override {
    std::string config =
        fmt::format("{},log=(enabled=true),transaction_sync=(enabled=false),checkpoint=(wait={})",
                    connection_config(options.dram_cache_bytes), kCheckpointSeconds);
    if (!options.own_cache.empty()) {
      auto own = wiredtiger_block_cache_config(options.own_cache);
      if (!own.ok()) return own.status();
      config += "," + *own;
    }
    if (!options.settings.empty()) config += "," + options.settings;
    auto files = files_of(options);
    if (!files.ok()) return files.status();
    auto connection = WiredtigerConnection::open(options.directory, config, *files);
    if (!connection.ok()) return connection.status();
    auto statistics = WiredtigerSession::open(**connection);
    if (!statistics.ok()) return statistics.status();
    return std::make_unique<WiredtigerEngine>(*std::move(connection), *std::move(statistics),
                                              *std::move(files), !options.own_cache.empty());
  }

 private:
  // A tier that stays open from run to run needs its FileBlockCache, which knows which blocks
  // of which files are in it.
  StatusOr<std::shared_ptr<FileBlockCache>> files_of(const EngineOptions& options) {
    if (options.tier != nullptr) {
      std::shared_ptr<FileBlockCache>& files = kept_[options.tier.get()];
      if (files == nullptr) files = std::make_shared<FileBlockCache>(options.tier);
      return files;
    }
    auto tier = open_tier(options.tier_spec);
    if (!tier.ok()) return tier.status();
    return std::make_shared<FileBlockCache>(*std::move(tier));
  }

  std::map<BlockCache*, std::shared_ptr<FileBlockCache>> kept_;  // each holds its BlockCache
};

}  // namespace

std::unique_ptr<EngineKind> make_wiredtiger_kind() { return std::make_unique<WiredtigerKind>(); }

}  // namespace nvcache
