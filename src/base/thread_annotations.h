// Annotations of mutexes and the data that they guard, checked by clang (-Wthread-safety); nothing
// for other compilers. Each name is clang's: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#if defined(__clang__)
#define NVCACHE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define NVCACHE_THREAD_ANNOTATION(x)
#endif

// Of data: the mutex is held by who reads or writes it.
#define NVCACHE_GUARDED_BY(mutex) NVCACHE_THREAD_ANNOTATION(guarded_by(mutex))
// Of a function: its caller holds the mutex; does not hold it.
#define NVCACHE_REQUIRES(...) NVCACHE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define NVCACHE_EXCLUDES(...) NVCACHE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// Of a function: it takes the mutex; gives it back; says which one it returns.
#define NVCACHE_ACQUIRE(...) NVCACHE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define NVCACHE_TRY_ACQUIRE(...) NVCACHE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define NVCACHE_RELEASE(...) NVCACHE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define NVCACHE_ASSERT_HELD(...) NVCACHE_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))
#define NVCACHE_RETURNS_MUTEX(mutex) NVCACHE_THREAD_ANNOTATION(lock_returned(mutex))
// Of a mutex: it is taken before the other.
#define NVCACHE_ACQUIRED_BEFORE(...) NVCACHE_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
// Of a class: it is a mutex; it holds one as long as it lives.
#define NVCACHE_MUTEX NVCACHE_THREAD_ANNOTATION(capability("mutex"))
#define NVCACHE_SCOPED_LOCK NVCACHE_THREAD_ANNOTATION(scoped_lockable)
