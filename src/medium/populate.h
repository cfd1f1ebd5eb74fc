// Gets pages for memory that will be written soon, many in one call: the kernel takes longer to
// provide them one by one, when each is touched.
//
// Hints: what fails here happens at the first touch. Thread-safe on disjoint extents.
#pragma once

#include "medium/medium.h"
#include "nvcache/bytes.h"

namespace nvcache {

// The bytes stay as they are. Does nothing before Linux 5.14.
void populate_memory(ByteView bytes);

// The same for an extent of a file that is mapped at `base`. Whole pages that are not in memory are
// filled with zeros, whatever they held, so that none is read from the disk. Costs about 1 us a
// page that is new, a third of what its first touch costs where the mapping has no read-ahead.
void populate_file(int fd, std::byte* base, Extent extent);

}  // namespace nvcache
