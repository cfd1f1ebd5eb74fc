// Which files the caches of this process keep their blocks in. A scan that measures an engine's
// dataset leaves them out.
//
// Thread-safe: a lock for each call, and a comparison with each file. Not known are the files of
// other processes.
#pragma once

#include <sys/stat.h>

namespace nvcache {

// `fd` is open. Call forget_cache_file() before it is closed. A file that cannot be examined, or
// for which there is no memory, is not noted.
void note_cache_file(int fd) noexcept;
void forget_cache_file(int fd) noexcept;
bool is_cache_file(const struct stat& file);

}  // namespace nvcache
