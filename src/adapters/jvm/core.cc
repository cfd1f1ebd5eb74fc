// libnvcache_jvm_core.so: nvcache, behind the table of functions in boundary.h.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "adapters/jvm/boundary.h"
#include "adapters/jvm/process_stats.h"
#include "adapters/rocksdb/program_settings.h"
#include "base/text.h"
#include "nvcache/tiered_cache.h"
#include "tiered_cache/tiered_cache_impl.h"

namespace nvcache::jvm {

struct Cache {
  std::unique_ptr<TieredCache> tiered;
  TieredCacheControl* control = nullptr;
  std::string policy;
  std::string first_medium;
  std::string lower_medium;
};

namespace {

class FarCodec final : public ObjectCodec {
 public:
  explicit FarCodec(const Codec& codec) : far_(codec) {}
  ~FarCodec() override { far_.end(far_.engine); }
  FarCodec(const FarCodec&) = delete;
  FarCodec& operator=(const FarCodec&) = delete;

  size_t saved_bytes(const Object& object) override {
    return far_.saved_bytes(far_.engine, object);
  }
  bool save(const Object& object, MutableBytes into) override {
    if (!far_.save(far_.engine, object, into)) return false;
#ifdef NVCACHE_JVM_DAMAGE
    into[into.size() / 2] ^= std::byte{1};  // a negative control: readers must notice
#endif
    return true;
  }
  void destroy(std::string_view key, const Object& object) override {
    far_.destroy(far_.engine, key, object);
  }
  uint64_t form() const override { return far_.form; }

 private:
  const Codec far_;
};

// Every cache of the program would say the same.
void complain_once(const std::string& message) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  std::fprintf(stderr, "nvcache: NVCACHE_TIERED: %s; RocksDB's own cache goes on\n",
               message.c_str());
}

StatusOr<std::unique_ptr<Cache>> open_cache(const StatusOr<TieredConfig>& config,
                                            std::shared_ptr<ObjectCodec> codec) {
  if (!config.ok()) return config.status();
  StatusOr<std::unique_ptr<TieredCacheImpl>> opened =
      TieredCacheImpl::make(*config, std::move(codec));
  if (!opened.ok()) return opened.status();
  auto cache = std::make_unique<Cache>();
  cache->tiered = *std::move(opened);
  cache->control = cache->tiered->control();
  const TieredStats stats = cache->tiered->stats();
  cache->policy = stats.policy;
  cache->first_medium = stats.tiers.front().medium;
  cache->lower_medium = stats.tiers.size() > 1 ? stats.tiers[1].medium : "";
  ProcessStats::of_this_process().add(cache->tiered.get());
  return cache;
}

Cache* open(PlainText spec, const rocksdb::ProgramCache& program, const Codec& codec) {
  auto far_codec = std::make_shared<FarCodec>(codec);
  if (!rocksdb::can_replace(program)) return nullptr;
  StatusOr<std::unique_ptr<Cache>> cache =
      open_cache(rocksdb::tiered_config_of(spec, program), std::move(far_codec));
  if (!cache.ok()) {
    complain_once(std::string(cache.status().message()));
    return nullptr;
  }
  return cache->release();
}

Cache* open_by_spec(PlainText spec, const Codec& codec, const Problem& problem) {
  StatusOr<std::unique_ptr<Cache>> cache =
      open_cache(rocksdb::tiered_config_of(spec), std::make_shared<FarCodec>(codec));
  if (cache.ok()) return cache->release();
  const std::string_view message = cache.status().message();
  problem.tell(problem.to, message.data(), message.size());
  return nullptr;
}

void close(Cache* cache) {
  ProcessStats::of_this_process().remove(cache->tiered.get());
  delete cache;
}

// The caller keeps `maker` as long as the function that is made of it.
auto maker_of(const Maker& maker) {
  return [&maker](ByteView saved, Object* made) { return maker.make(maker.maker, saved, made); };
}

TieredCache::Handle* lookup(Cache* cache, PlainText key, const Maker* make, Caller caller) {
  if (make == nullptr) return cache->tiered->lookup(key, nullptr, caller);
  const auto maker = maker_of(*make);
  const MakeObject make_object(maker);
  return cache->tiered->lookup(key, &make_object, caller);
}

Description describe(Cache* cache) {
  const TieredStats stats = cache->tiered->stats();
  Description about{.policy = std::string_view(cache->policy),
                    .lower_tiers = stats.tiers.size() - 1,
                    .first = {.medium = std::string_view(cache->first_medium),
                              .size_bytes = stats.tiers.front().size_bytes},
                    .all_lower = {.medium = std::string_view(cache->lower_medium)}};
  for (size_t i = 1; i < stats.tiers.size(); ++i) {
    about.all_lower.size_bytes += stats.tiers[i].size_bytes;
  }
  return about;
}

constexpr Boundary kBoundary = {
    .version = kBoundaryVersion,
    .open = open,
    .open_by_spec = open_by_spec,
    .close = close,
    .insert =
        [](Cache* cache, PlainText key, const Object& object, Priority priority,
           TieredCache::Handle** handle, bool* replaced, MissToken token) {
          return static_cast<int>(
              cache->tiered->insert(key, object, priority, handle, replaced, token).code());
        },
    .token = [](Cache* cache, PlainText key) { return cache->tiered->token(key); },
    .standalone =
        [](Cache* cache, PlainText key, const Object& object, bool beyond_limit) {
          return cache->tiered->standalone(key, object, beyond_limit);
        },
    .lookup = lookup,
    .object = [](Cache* cache,
                 const TieredCache::Handle* handle) { return &cache->tiered->object(handle); },
    .held =
        [](Cache* cache, const TieredCache::Handle* handle) {
          const TieredCacheControl::Held held = cache->control->held(handle);
          return Held{.key = held.key, .used_bytes = held.used_bytes};
        },
    .ref = [](Cache* cache, TieredCache::Handle* handle) { cache->tiered->ref(handle); },
    .release = [](Cache* cache, TieredCache::Handle* handle,
                  bool erase_if_last) { return cache->tiered->release(handle, erase_if_last); },
    .erase = [](Cache* cache, PlainText key) { cache->tiered->erase(key); },
    .erase_gone_files =
        [](Cache* cache, PlainSpan<const uint64_t> files) {
          cache->tiered->erase_gone_files(files);
        },
    .erase_unreferenced = [](Cache* cache) { cache->control->erase_unreferenced(); },
    .for_each =
        [](Cache* cache, const Visitor& visitor) {
          cache->control->for_each([&](std::string_view key, const Object& object) {
            visitor.visit(visitor.visitor, key, object);
          });
        },
    .limits = [](Cache* cache) { return cache->control->limits(); },
    .set_capacity = [](Cache* cache, size_t bytes) { cache->control->set_capacity(bytes); },
    .set_strict = [](Cache* cache, bool strict) { cache->control->set_strict(strict); },
    .use = [](Cache* cache) { return cache->control->use(); },
    .drain = [](Cache* cache) { cache->control->drain(); },
    .describe = describe,
};

// System.exit closes no cache.
__attribute__((destructor)) void write_at_exit() { ProcessStats::of_this_process().write(); }

}  // namespace
}  // namespace nvcache::jvm

extern "C" __attribute__((visibility("default"))) const nvcache::jvm::Boundary*
nvcache_jvm_boundary() {
  return &nvcache::jvm::kBoundary;
}
