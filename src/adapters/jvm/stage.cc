// libnvcache_jvm_<stage>.so: TieredBlockCache for one version and ABI of RocksDB. It is compiled
// with that version's headers. It reaches RocksDB's code by far_symbols.h.
#include "adapters/jvm/stage.h"

#include <memory>
#include <new>
#include <utility>

#include "adapters/jvm/boundary.h"
#include "adapters/jvm/far_cache.h"
#include "adapters/jvm/far_symbols.h"
#include "adapters/rocksdb/program_options.h"
#include "adapters/rocksdb/tiered_cache_8.h"
#include "adapters/rocksdb/tiered_codec.h"
#include "rocksdb/cache.h"
#include "rocksdb/statistics.h"

namespace nvcache::jvm {
namespace {

const Boundary* boundary = nullptr;
uint64_t form = 0;  // of the blocks that this version saves

bool make(Asked asked, const void* options, const char* spec,
          std::shared_ptr<::rocksdb::Cache>* cache) {
  const ::rocksdb::ShardedCacheOptions* common = nullptr;
  rocksdb::ProgramCache program;
  if (asked == Asked::kHyperClockCache) {
    common = static_cast<const ::rocksdb::HyperClockCacheOptions*>(options);
    program = rocksdb::program_of(*common);
  } else {
    const auto& lru = *static_cast<const ::rocksdb::LRUCacheOptions*>(options);
    common = &lru;
    program = rocksdb::program_of(lru);
  }
  // Uncharged metadata is the mark of a database's cache of open tables, which holds no blocks.
  if (!program.charge_metadata || common->secondary_cache != nullptr) return false;
  std::shared_ptr<TieredCache> far =
      open_far_cache(*boundary, spec, program, rocksdb::make_codec(common->memory_allocator, form));
  if (far == nullptr) return false;
  *cache = std::make_shared<rocksdb::TieredBlockCache>(std::move(far), common->memory_allocator);
  return true;
}

bool open_by_spec(std::string_view spec, const Problem& problem,
                  std::shared_ptr<::rocksdb::Cache>* cache) {
  std::shared_ptr<TieredCache> far = open_far_cache_by_spec(
      *boundary, spec, rocksdb::make_codec(/*allocator=*/nullptr, form), problem);
  if (far == nullptr) return false;
  *cache = std::make_shared<rocksdb::TieredBlockCache>(std::move(far), /*allocator=*/nullptr);
  return true;
}

// Whether the library numbers its tickers as the headers do.
const char* wrong_ticker() {
  const std::pair<::rocksdb::Tickers, const char*> wanted[] = {
      {::rocksdb::SECONDARY_CACHE_HITS, "rocksdb.secondary.cache.hits"},
      {::rocksdb::SECONDARY_CACHE_FILTER_HITS, "rocksdb.secondary.cache.filter.hits"},
      {::rocksdb::SECONDARY_CACHE_INDEX_HITS, "rocksdb.secondary.cache.index.hits"},
      {::rocksdb::SECONDARY_CACHE_DATA_HITS, "rocksdb.secondary.cache.data.hits"},
  };
  const auto* const names = static_cast<decltype(::rocksdb::TickersNameMap)*>(far_tickers());
  if (names == nullptr) return "rocksdb::TickersNameMap";
  for (const auto& [ticker, name] : wanted) {
    if (ticker >= names->size() || (*names)[ticker].first != ticker ||
        (*names)[ticker].second != name) {
      return name;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace nvcache::jvm

extern "C" __attribute__((visibility("default"))) const char* nvcache_jvm_bind(
    void* handle, const nvcache::jvm::Boundary* boundary, uint32_t major, uint32_t minor) {
  if (boundary->version != nvcache::jvm::kBoundaryVersion) return "libnvcache_jvm_core.so's table";
  nvcache::jvm::boundary = boundary;
  nvcache::jvm::form = nvcache::rocksdb::form_of_version(major, minor);
  if (const char* const missing = nvcache::jvm::bind_far_symbols(handle)) return missing;
  return nvcache::jvm::wrong_ticker();
}

extern "C" __attribute__((visibility("default"))) bool nvcache_jvm_make(nvcache::jvm::Asked asked,
                                                                        const void* options,
                                                                        const char* spec,
                                                                        void* cache) try {
  return nvcache::jvm::make(asked, options, spec,
                            static_cast<std::shared_ptr<::rocksdb::Cache>*>(cache));
} catch (...) {  // std::bad_alloc
  return false;
}

extern "C" __attribute__((visibility("default"))) bool nvcache_jvm_open_by_spec(
    nvcache::jvm::PlainText spec, const nvcache::jvm::Problem& problem, void* cache) try {
  return nvcache::jvm::open_by_spec(spec, problem,
                                    static_cast<std::shared_ptr<::rocksdb::Cache>*>(cache));
} catch (...) {  // std::bad_alloc
  constexpr std::string_view kMessage = "out of memory";
  problem.tell(problem.to, kMessage.data(), kMessage.size());
  return false;
}

extern "C" __attribute__((visibility("default"))) void nvcache_jvm_close(void* cache) {
  std::destroy_at(static_cast<std::shared_ptr<::rocksdb::Cache>*>(cache));
}
