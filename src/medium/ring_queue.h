// A queue of io_uring's.
//
// The system may refuse it (profiles of Docker, Podman and Kubernetes, gVisor, a setting of the
// kernel), and some sandboxes kill a process that asks: `async=threads` does not.
#pragma once

#include <cstdint>
#include <memory>

#include "medium/read_queue.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct ReadTarget;

// Makes a ring, reads the first unit of the descriptor with it, and ends it. The error says what
// the system refused: UNIMPLEMENTED if nvcache was built without liburing.
[[nodiscard]] Status try_ring(int fd, uint32_t unit_bytes);

// RESOURCE_EXHAUSTED, UNAVAILABLE: as the system says.
[[nodiscard]] StatusOr<std::unique_ptr<ReadQueue>> open_ring_queue(const ReadTarget& target);

}  // namespace nvcache
