/* A program of others with some of its standard streams closed, and a cache: nvcache may neither
 * take their places nor fill them.
 *
 * usage: host SPECIFICATION CLOSED        CLOSED: digits of 0 to 2
 * exit code: 0 good; 200 the medium is not to be had here; else the line of what is wrong */
#include <fcntl.h>
#include <nvcache/nvcache.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { kNoMedium = 200, kBlocks = 600 };

#define CHECK(good) \
  if (!(good)) return __LINE__

static const char* closed;

static int all_closed(void) {
  for (const char* each = closed; *each != '\0'; ++each) {
    if (fcntl(*each - '0', F_GETFD) != -1) return 0;
    if (write(*each - '0', "a message of the host\n", 22) != -1) return 0;
  }
  return 1;
}

static int pass(nvcache_t* cache) {
  int found = 0;
  for (int i = 0; i < kBlocks; ++i) {
    char block[4096];
    memset(block, 'a' + i % 26, sizeof block);
    const nvcache_key_t key = {.file = 1, .offset = (uint64_t)i * sizeof block};
    nvcache_pin_t pin;
    if (nvcache_get(cache, key, &pin)) {
      found += memcmp(pin.data, block, sizeof block) == 0;
    } else {
      (void)nvcache_put(cache, key, block, sizeof block, NVCACHE_READ);
    }
    nvcache_unpin(&pin);
  }
  nvcache_drain(cache);
  return found;
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  closed = argv[2];
  for (const char* each = closed; *each != '\0'; ++each) close(*each - '0');
  nvcache_t* cache = NULL;
  if (nvcache_open(argv[1], &cache, NULL) != NVCACHE_OK) return kNoMedium;
  CHECK(all_closed());
  /* One that others hold already is looked for in /proc. */
  nvcache_t* second = NULL;
  if (nvcache_open(argv[1], &second, NULL) == NVCACHE_OK) nvcache_close(second);
  CHECK(all_closed());
  /* Blocks of an earlier opening come back in the background. */
  while (pass(cache) < kBlocks) CHECK(all_closed());
  CHECK(all_closed());
  nvcache_close(cache);
  CHECK(all_closed());
  return 0;
}
