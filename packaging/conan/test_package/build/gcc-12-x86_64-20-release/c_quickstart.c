/* A block cache from C: look up, fetch from disk on a miss, offer what was fetched. */
#include <nvcache/nvcache.h>
#include <stdio.h>
#include <string.h>

static void read_block_from_disk(nvcache_key_t key, char* block, size_t size_bytes) {
  memset(block, (int)(key.offset / 4096 % 26) + 'a', size_bytes);
}

int main(void) {
  nvcache_t* cache = NULL;
  char* error = NULL;

  /* A mistake in the specification is told, with the key and what is allowed. */
  if (nvcache_open("nvcache://?size=huge", &cache, &error) != NVCACHE_INVALID_ARGUMENT) return 1;
  printf("as expected: %s\n", error);
  nvcache_free(error);

  if (nvcache_open("nvcache://?size=16MiB&admission=always&eviction=clock", &cache, &error) !=
      NVCACHE_OK) {
    fprintf(stderr, "cannot open: %s\n", error);
    nvcache_free(error);
    return 1;
  }
  int hits = 0;
  for (int i = 0; i < 300; ++i) {
    nvcache_key_t key = {.file = 1, .offset = (uint64_t)(i % 100) * 4096};
    char block[4096];
    nvcache_pin_t pin;
    if (nvcache_get(cache, key, &pin)) { /* zero copy: pin.data is the cached block */
      hits += ((const char*)pin.data)[0] == (char)('a' + i % 100 % 26);
    } else {
      read_block_from_disk(key, block, sizeof block);
      int refused = nvcache_put_after_miss(cache, key, block, sizeof block, NVCACHE_READ, &pin);
      if (refused) printf("not cached: %s\n", nvcache_reason_name(refused));
    }
    nvcache_unpin(&pin);
  }
  char* json = nvcache_stats_json(cache);
  printf("%d hits\n%s\n", hits, json);
  nvcache_free(json);
  nvcache_close(cache);
  return hits == 200 ? 0 : 1;
}
