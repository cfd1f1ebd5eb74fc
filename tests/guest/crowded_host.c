/* A process whose room for thread-local variables of libraries is used up when it loads ours.
 *
 * usage: crowded_host LIBRARY... -- OURS...     the first use that room; the last of them must fail
 * exit code: 0 good; 1 one of ours cannot be loaded, or the room is not used up */
#include <dlfcn.h>
#include <nvcache/nvcache.h>
#include <stdio.h>
#include <string.h>

/* Opens a cache by a library that has the C interface, and counts a lookup: each thread has its own
 * counters. */
static int uses(void* library) {
  nvcache_status_t (*open)(const char*, nvcache_t**, char**);
  int (*get)(nvcache_t*, nvcache_key_t, nvcache_pin_t*);
  void (*close)(nvcache_t*);
  *(void**)&open = dlsym(library, "nvcache_open");
  *(void**)&get = dlsym(library, "nvcache_get");
  *(void**)&close = dlsym(library, "nvcache_close");
  if (open == NULL || get == NULL || close == NULL) return 0;
  nvcache_t* cache = NULL;
  if (open("nvcache://?size=1MiB&medium=dram", &cache, NULL) != NVCACHE_OK) return 1;
  const nvcache_key_t key = {.file = 1, .offset = 0};
  nvcache_pin_t pin;
  const int found = get(cache, key, &pin);
  close(cache);
  return found;
}

int main(int argc, char** argv) {
  int at = 1;
  int refused = 0;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    if (dlopen(argv[at], RTLD_NOW | RTLD_LOCAL) == NULL) ++refused;
  }
  if (refused == 0) {
    fprintf(stderr, "%d libraries did not use the room up\n", at - 1);
    return 1;
  }
  int failed = at + 1 >= argc;
  for (++at; at < argc; ++at) {
    void* const ours = dlopen(argv[at], RTLD_NOW | RTLD_LOCAL);
    if (ours == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      failed = 1;
      continue;
    }
    printf("%s\n", argv[at]);
    failed |= uses(ours) != 0;
  }
  return failed;
}
