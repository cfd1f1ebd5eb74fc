// A step of a client's conversation: the bytes that it served, and what the owner of the bytes does
// next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvcache::server {

struct Turn {
  // A turn ends when so much output is pending, even within a get of many keys.
  static constexpr size_t kFullOutputBytes = 256 << 10;

  enum Next : uint8_t {
    kGoOn,   // call again with the bytes after `used`
    kMore,   // nothing to do until more bytes arrive
    kWatch,  // send from now on what watcher() takes, and ignore what arrives
    kFull,   // too much output is pending: send it, then call again
    kQuit,   // the client is done: send what is pending, then close
    kClose,  // the same after a request that cannot be served
  };
  size_t used = 0;  // bytes at the front that are served
  Next next = kGoOn;
  size_t want = 0;  // kMore: the least length of the whole request at the front
};

}  // namespace nvcache::server
