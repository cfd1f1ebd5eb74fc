/* A library as others are: its thread-local variable has to lie in the room that the process has
 * for such variables since its start. */
static __thread volatile char own[512];

char nvcache_test_use_static_tls(int at) { return own[at % (int)sizeof own]++; }
