#include "adapters/rocksdb/tiered_codec.h"

#include <cstddef>
#include <utility>

#if NVCACHE_ROCKSDB_7
// RocksDB's function for the size of a saved block of its cache of compressed blocks. The
// saved form lacks the block's trailer, and so the compression type: nobody can read an
// object made from it. Null if RocksDB does not export the function.
extern "C" __attribute__((weak)) size_t nvcache_compressed_block_size(void* block) __asm__(
    "_ZN7rocksdb15BlocklikeTraitsINS_13BlockContentsEE12SizeCallbackEPv");
#endif

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::Cache;
using Helper = Cache::CacheItemHelper;

bool can_be_saved(const Helper* helper, const void* value) {
#if NVCACHE_ROCKSDB_7
  if (helper->size_cb == &nvcache_compressed_block_size) return false;
#endif
  return helper->size_cb != nullptr && helper->saveto_cb != nullptr && value != nullptr;
}

class Codec final : public ObjectCodec {
 public:
  Codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator, uint64_t form)
      : allocator_(std::move(allocator)), form_(form) {}

  size_t saved_bytes(const Object& object) override {
    return helper_in(object.kind)->size_cb(object.value);
  }

  bool save(const Object& object, MutableBytes into) override {
    return helper_in(object.kind)
        ->saveto_cb(object.value, 0, into.size(), reinterpret_cast<char*>(into.data()))
        .ok();
  }

  void destroy([[maybe_unused]] std::string_view key, const Object& object) override {
#if NVCACHE_ROCKSDB_7
    const Cache::DeleterFn deleter = deleter_of(object.kind);
    if (deleter != nullptr) deleter(slice(key), object.value);
#else
    const Helper* const helper = helper_in(object.kind);
    if (helper->del_cb != nullptr) helper->del_cb(object.value, allocator_.get());
#endif
  }

  uint64_t form() const override { return form_; }

 private:
  [[maybe_unused]] const std::shared_ptr<::rocksdb::MemoryAllocator>
      allocator_;  // RocksDB 7 does not ask for it
  const uint64_t form_;
};

}  // namespace

ObjectKind kind_of(const Helper* helper, const void* value) {
  const bool movable = can_be_saved(helper, value);
#if NVCACHE_ROCKSDB_7
  if (!movable) return kind_of(helper->del_cb);
#endif
  return {.word = reinterpret_cast<uintptr_t>(helper), .movable = movable};
}

ObjectKind kept_in_dram(ObjectKind kind) {
#if NVCACHE_ROCKSDB_7
  return kind_of(deleter_of(kind));
#else
  kind.movable = false;
  return kind;
#endif
}

#if NVCACHE_ROCKSDB_7
ObjectKind kind_of(Cache::DeleterFn deleter) {
  return {.word = reinterpret_cast<uintptr_t>(deleter)};
}

Cache::DeleterFn deleter_of(ObjectKind kind) {
  return kind.movable ? helper_in(kind)->del_cb : reinterpret_cast<Cache::DeleterFn>(kind.word);
}
#endif

std::shared_ptr<ObjectCodec> make_codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                                        uint64_t form) {
  return std::make_shared<Codec>(std::move(allocator), form);
}

}  // namespace nvcache::rocksdb
