// No exception may cross WiredTiger's C frames. The code below them throws when memory runs out.
#pragma once

#include <cerrno>
#include <new>

#include "wiredtiger.h"

namespace nvcache {

// The body's result, or the error that its exception stands for.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (...) {
    return WT_ERROR;
  }
}

// The cache's part of an operation. If it fails, the operation goes on without it.
template <typename Body>
void harmless(Body&& body) noexcept {
  try {
    body();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the disk has all data
  }
}

}  // namespace nvcache
