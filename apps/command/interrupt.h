// Ctrl-C and SIGTERM set a flag that long runs check. Process-wide; thread-safe.
#pragma once

#include "nvcache/status.h"

namespace nvcache {

// From now on the first SIGINT or SIGTERM sets the flag; a second one kills.
void watch_for_interrupt();

// Async-signal-safe and thread-safe.
bool interrupted();

// CANCELLED if interrupted, else OK.
Status check_not_interrupted();

}  // namespace nvcache
