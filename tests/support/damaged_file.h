// Damage to a medium's file behind the cache's back.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace nvcache {

// Inverts one byte in each 512 of the file: the one at `first` and those that follow.
inline void flip_bytes(const std::string& path, off_t first) {
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0) << path << ": " << std::strerror(errno);
  const auto size = static_cast<off_t>(std::filesystem::file_size(path));
  for (off_t at = first; at < size; at += 512) {
    unsigned char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
    byte = static_cast<unsigned char>(~byte);
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
  }
  ::close(fd);
}

}  // namespace nvcache
