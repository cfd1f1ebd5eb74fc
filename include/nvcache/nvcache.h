/* nvcache's C API: a second-tier block cache for storage engines.
 *
 * Everything here is thread-safe unless it says otherwise. No function throws,
 * calls back, or terminates the process. A failing medium is never an error of
 * get or put: lookups miss and blocks are refused.
 *
 * See examples/c_quickstart.c. C++ programs may use nvcache/block_cache.h.
 */
#ifndef NVCACHE_NVCACHE_H_
#define NVCACHE_NVCACHE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NVCACHE_API __attribute__((visibility("default")))
#else
#define NVCACHE_API
#endif

typedef struct nvcache_cache nvcache_t;

/* A block's name: 16 bytes. nvcache_erase_blocks() removes all of one `file`. */
typedef struct nvcache_key {
  uint64_t file;
  uint64_t offset;
} nvcache_key_t;

/* Result codes of functions that can fail. */
typedef enum nvcache_status {
  NVCACHE_OK = 0,
  NVCACHE_INVALID_ARGUMENT = 1, /* a specification or value is wrong */
  NVCACHE_NO_RESOURCES = 2,     /* no memory, or no room on the device */
  NVCACHE_FAILED = 3            /* anything else, e.g. the file cannot be opened */
} nvcache_status_t;

/* Where an offered block comes from. */
typedef enum nvcache_origin { NVCACHE_READ = 0, NVCACHE_WRITE = 1 } nvcache_origin_t;

/* A pinned block: `data` (`size_bytes` long) stays valid and unchanged until
 * nvcache_unpin(). Also receives the token of a miss. Treat the rest as opaque.
 * One pin is used by one thread at a time. */
typedef struct nvcache_pin {
  const void* data;
  size_t size_bytes;
  void* owner;
  uint64_t handle;
  uint64_t miss_token;
} nvcache_pin_t;

/* Opens the cache that `spec` describes, e.g.
 *   "nvcache://?size=1GiB&medium=file:/mnt/x".
 * On success *cache is the caller's to close. On failure *cache is NULL and, if
 * `error` is not NULL, *error is a message to free with nvcache_free(). */
NVCACHE_API nvcache_status_t nvcache_open(const char* spec, nvcache_t** cache, char** error);

/* Closes a cache; NULL is allowed. All pins must be gone and no other thread may
 * be using the cache. Its blocks are lost, unless it has restart=warm. */
NVCACHE_API void nvcache_close(nvcache_t* cache);

/* Looks a block up. Returns 1 and pins it on a hit: release it with
 * nvcache_unpin(). Returns 0 on a miss; then `pin` holds the token that
 * nvcache_put_after_miss() takes. Takes no lock; a miss touches no medium. */
NVCACHE_API int nvcache_get(nvcache_t* cache, nvcache_key_t key, nvcache_pin_t* pin);

/* Copies a block of at most `capacity_bytes` into `buffer`. Returns its size in
 * bytes, 0 on a miss. A block larger than the buffer is a miss. */
NVCACHE_API size_t nvcache_get_copy(nvcache_t* cache, nvcache_key_t key, void* buffer,
                                    size_t capacity_bytes);

/* Releases a pin that nvcache_get() filled, once; harmless after a miss. */
NVCACHE_API void nvcache_unpin(nvcache_pin_t* pin);

/* Offers a block of 1 byte to 1 MiB; the bytes are copied. Returns 0 if it was
 * admitted, else the reason of the refusal, for nvcache_reason_name(). */
NVCACHE_API int nvcache_put(nvcache_t* cache, nvcache_key_t key, const void* block,
                            size_t size_bytes, nvcache_origin_t origin);

/* As nvcache_put(), refused if the key was erased since the lookup that filled
 * `miss`. For readers that fetched the block from disk after that miss. */
NVCACHE_API int nvcache_put_after_miss(nvcache_t* cache, nvcache_key_t key, const void* block,
                                       size_t size_bytes, nvcache_origin_t origin,
                                       const nvcache_pin_t* miss);

/* A refusal's reason in words ("overhead"); "admitted" for 0. Never NULL, static. */
NVCACHE_API const char* nvcache_reason_name(int reason);

/* How an erase must hold; nvcache/erase.h says more. */
typedef enum nvcache_gone {
  NVCACHE_MAY_RETURN = 0, /* the key never names other bytes, or is never looked up again: it may
                           * be back after a restart. Of files: they are gone */
  NVCACHE_FOR_GOOD = 1,   /* what was erased is never served again; with keys=immutable it may be
                           * back after a restart, for its bytes are right */
  NVCACHE_DURABLE = 2     /* nor after a crash, whatever the keys. With keys=immutable a list is
                           * written, and the medium synced: give many at once */
} nvcache_gone_t;

/* Removes a block, for good; returns 1 if it was present. Once it returns, no lookup finds
 * the old block. */
NVCACHE_API int nvcache_erase(nvcache_t* cache, nvcache_key_t key);

/* Removes the blocks of these keys, and all blocks of these files; *erased, unless NULL, is how
 * many there were. Files cost a pass over the metadata. NVCACHE_INVALID_ARGUMENT: no such `gone`,
 * and nothing changed. Other errors, of NVCACHE_DURABLE alone: they are erased now, and may be back
 * after a restart. */
NVCACHE_API nvcache_status_t nvcache_erase_blocks(nvcache_t* cache, const nvcache_key_t* keys,
                                                  size_t key_count, const uint64_t* files,
                                                  size_t file_count, nvcache_gone_t gone,
                                                  uint64_t* erased);

/* Changes the size in bytes; 0 switches the cache off until the next change.
 * NVCACHE_INVALID_ARGUMENT between 0 and 64 KiB, and beyond max_size. */
NVCACHE_API nvcache_status_t nvcache_resize(nvcache_t* cache, uint64_t size_bytes);

/* Tells small_bypass how many bytes the engine's dataset has now. */
NVCACHE_API void nvcache_set_dataset_size(nvcache_t* cache, uint64_t size_bytes);

/* Tells how long the engine's read of its own storage took, after a miss: break_even weighs it
 * against what writes to the medium take. Lock-free. */
NVCACHE_API void nvcache_note_storage_read(nvcache_t* cache, uint64_t took_ns);

/* Waits until queued writes have reached the medium. */
NVCACHE_API void nvcache_drain(nvcache_t* cache);

/* Statistics as JSON or Prometheus text; free with nvcache_free(). NULL when out
 * of memory. nvcache/stats.h documents the names and units. */
NVCACHE_API char* nvcache_stats_json(nvcache_t* cache);
NVCACHE_API char* nvcache_stats_prometheus(nvcache_t* cache);

/* Frees a string that this API returned; NULL is allowed. */
NVCACHE_API void nvcache_free(char* text);

#ifdef __cplusplus
}
#endif

#endif /* NVCACHE_NVCACHE_H_ */
