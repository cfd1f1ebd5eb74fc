// The queues of a medium on a device: by io_uring where the system lets us, else by threads.
#pragma once

#include <cstdint>
#include <memory>

#include "medium/medium.h"
#include "medium/read_queue.h"
#include "medium/reader_threads.h"

namespace nvcache {

// A descriptor for direct I/O, where `medium` has its byte 0 at `first_byte`. Where a queue cannot
// read, the medium does, and its Status names what is wrong.
struct ReadTarget {
  Medium& medium;
  int fd = -1;
  uint64_t first_byte = 0;
};

// Sets `async` and `no_ring`: of what is wanted, the best that the system has for this descriptor.
// For io_uring it makes a ring and reads a unit by it.
void find_way(AsyncReads wanted, int fd, Traits* traits);

// Thread-safe, without locks where a queue is kept. Each of the queues that are kept (base/kept.h)
// has some 20 KB, of which io_uring's has 14 KB that the kernel shares. The medium owns it.
class ReadQueues {
 public:
  // `way`: as find_way() found it.
  ReadQueues(const ReadTarget& target, AsyncReads way) : target_(target), way_(way) {}

  // Null if the way is kOff, or without memory.
  TakenReadQueue take() noexcept;

 private:
  std::unique_ptr<ReadQueue> make();

  const ReadTarget target_;
  const AsyncReads way_;
  ReaderThreads threads_{target_.medium};
  KeptReadQueues kept_;
};

}  // namespace nvcache
