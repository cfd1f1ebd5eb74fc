// The C API over BlockCache. Exceptions (out of memory) stop here.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvcache/block_cache.h"
#include "nvcache/nvcache.h"

struct nvcache_cache {
  std::unique_ptr<nvcache::BlockCache> cache;
};

namespace {

using ::nvcache::BlockKey;
using ::nvcache::ByteView;
using ::nvcache::Lookup;
using ::nvcache::MissToken;
using ::nvcache::Origin;
using ::nvcache::Pin;
using ::nvcache::Reason;

char* copy_text(std::string_view text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

nvcache_status_t status_code(const nvcache::Status& status) {
  switch (status.code()) {
    case nvcache::StatusCode::kOk:
      return NVCACHE_OK;
    case nvcache::StatusCode::kInvalidArgument:
    case nvcache::StatusCode::kOutOfRange:
      return NVCACHE_INVALID_ARGUMENT;
    case nvcache::StatusCode::kResourceExhausted:
      return NVCACHE_NO_RESOURCES;
    default:
      return NVCACHE_FAILED;
  }
}

BlockKey to_key(nvcache_key_t key) { return {key.file, key.offset}; }

ByteView to_view(const void* block, size_t size_bytes) {
  return {static_cast<const std::byte*>(block), block == nullptr ? 0 : size_bytes};
}

// A token with its "checked" flag in the upper half.
uint64_t pack(const MissToken& token) { return uint64_t{token.checked} << 32 | token.generation; }
MissToken unpack(uint64_t packed) { return {static_cast<uint32_t>(packed), (packed >> 32) != 0}; }

int put(nvcache_t* cache, nvcache_key_t key, ByteView block, nvcache_origin_t origin,
        MissToken token) try {
  const Origin from = origin == NVCACHE_WRITE ? Origin::kWrite : Origin::kRead;
  return static_cast<int>(cache->cache->put(to_key(key), block, from, token).reason);
} catch (const std::bad_alloc&) {
  return static_cast<int>(Reason::kNoSpace);
}

}  // namespace

extern "C" {

nvcache_status_t nvcache_open(const char* spec, nvcache_t** cache, char** error) try {
  *cache = nullptr;
  if (error != nullptr) *error = nullptr;
  nvcache::StatusOr<std::unique_ptr<nvcache::BlockCache>> opened =
      nvcache::open_block_cache(spec == nullptr ? "" : spec);
  if (!opened.ok()) {
    if (error != nullptr) {
      const std::string_view message = opened.status().message();
      *error = copy_text(message.empty() ? "no memory"
                                         : std::string_view(message.data(), message.size()));
    }
    return status_code(opened.status());
  }
  *cache = new nvcache_t{*std::move(opened)};
  return NVCACHE_OK;
} catch (const std::bad_alloc&) {
  if (error != nullptr) *error = copy_text("no memory");
  return NVCACHE_NO_RESOURCES;
}

void nvcache_close(nvcache_t* cache) { delete cache; }

int nvcache_get(nvcache_t* cache, nvcache_key_t key, nvcache_pin_t* pin) try {
  Lookup lookup = cache->cache->lookup(to_key(key));
  *pin = {};
  if (!lookup.hit()) {
    pin->miss_token = pack(lookup.token);
    return 0;
  }
  const ByteView block = lookup.pin.bytes();
  pin->data = block.data();
  pin->size_bytes = block.size();
  auto [owner, handle] = std::move(lookup.pin).detach();
  pin->owner = owner;
  pin->handle = handle;
  return 1;
} catch (const std::bad_alloc&) {
  *pin = {};
  return 0;
}

size_t nvcache_get_copy(nvcache_t* cache, nvcache_key_t key, void* buffer,
                        size_t capacity_bytes) try {
  const nvcache::MutableBytes into(static_cast<std::byte*>(buffer), capacity_bytes);
  const Lookup lookup = cache->cache->lookup(to_key(key), {.copy_into = into});
  return lookup.size_bytes <= capacity_bytes ? lookup.size_bytes : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

void nvcache_unpin(nvcache_pin_t* pin) {
  if (pin->owner == nullptr) return;
  static_cast<Pin::Owner*>(pin->owner)->release(pin->handle);
  *pin = {};
}

int nvcache_put(nvcache_t* cache, nvcache_key_t key, const void* block, size_t size_bytes,
                nvcache_origin_t origin) {
  return put(cache, key, to_view(block, size_bytes), origin, MissToken());
}

int nvcache_put_after_miss(nvcache_t* cache, nvcache_key_t key, const void* block,
                           size_t size_bytes, nvcache_origin_t origin, const nvcache_pin_t* miss) {
  return put(cache, key, to_view(block, size_bytes), origin, unpack(miss->miss_token));
}

const char* nvcache_reason_name(int reason) {
  if (reason < 0 || reason >= static_cast<int>(nvcache::kReasonCount)) return "unknown";
  return nvcache::reason_name(static_cast<Reason>(reason)).data();  // literals end in NUL
}

int nvcache_erase(nvcache_t* cache, nvcache_key_t key) {
  return cache->cache->erase(to_key(key)) ? 1 : 0;
}

nvcache_status_t nvcache_erase_blocks(nvcache_t* cache, const nvcache_key_t* keys, size_t key_count,
                                      const uint64_t* files, size_t file_count, nvcache_gone_t gone,
                                      uint64_t* erased) try {
  if (gone < NVCACHE_MAY_RETURN || gone > NVCACHE_DURABLE) return NVCACHE_INVALID_ARGUMENT;
  std::vector<BlockKey> given;
  given.reserve(key_count);
  for (size_t i = 0; i < key_count; ++i) given.push_back(to_key(keys[i]));
  const nvcache::StatusOr<uint64_t> count = cache->cache->erase(
      {.keys = given, .files = {files, file_count}}, static_cast<nvcache::Gone>(gone));
  if (erased != nullptr) *erased = count.value_or(0);
  return status_code(count.status());
} catch (const std::bad_alloc&) {
  return NVCACHE_NO_RESOURCES;
}

nvcache_status_t nvcache_resize(nvcache_t* cache, uint64_t size_bytes) {
  return status_code(cache->cache->resize(size_bytes));
}

void nvcache_set_dataset_size(nvcache_t* cache, uint64_t size_bytes) {
  cache->cache->set_dataset_size(size_bytes);
}

void nvcache_note_storage_read(nvcache_t* cache, uint64_t took_ns) {
  cache->cache->note_storage_read(took_ns);
}

void nvcache_drain(nvcache_t* cache) { cache->cache->drain(); }

char* nvcache_stats_json(nvcache_t* cache) try {
  return copy_text(cache->cache->stats().to_json());
} catch (const std::bad_alloc&) {
  return nullptr;
}

char* nvcache_stats_prometheus(nvcache_t* cache) try {
  return copy_text(cache->cache->stats().to_prometheus());
} catch (const std::bad_alloc&) {
  return nullptr;
}

void nvcache_free(char* text) { std::free(text); }

}  // extern "C"
