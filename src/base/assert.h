// Assertions: conditions that hold unless nvcache itself is wrong. Input from outside is checked,
// and is an error.
//
// NVCACHE_ASSERT is on in every build, whatever NDEBUG says: a comparison and a branch that is
// never taken. It has no place where a lookup or a put passes each time.
// NVCACHE_ASSERT_SLOW is on under sanitizers, in fuzzers and with -DNVCACHE_SLOW_ASSERTIONS=ON, and
// else costs nothing: its expression is compiled and not run. For hot paths, and for what walks a
// structure.
//
// One that fails prints file, line and expression, and aborts. A process that goes on would serve
// bytes that may be wrong; one that ends leaves what it made durable, and the next start checks it.
#pragma once

namespace nvcache {

#ifdef NVCACHE_SLOW_ASSERTIONS
inline constexpr bool kSlowAssertions = true;
#else
inline constexpr bool kSlowAssertions = false;
#endif

// Allocates nothing and takes no lock.
[[noreturn, gnu::cold]] void fail_assertion(const char* file, int line, const char* expression);

}  // namespace nvcache

#define NVCACHE_ASSERT(expression)                                \
  do {                                                            \
    if (!(expression)) [[unlikely]]                               \
      ::nvcache::fail_assertion(__FILE__, __LINE__, #expression); \
  } while (false)

#define NVCACHE_ASSERT_SLOW(expression)                                   \
  do {                                                                    \
    if constexpr (::nvcache::kSlowAssertions) NVCACHE_ASSERT(expression); \
  } while (false)
