// The processor time of this process. Thread-safe; costs a system call.
#pragma once

namespace nvcache {

// User and system time of all threads of the process.
double process_cpu_seconds();

}  // namespace nvcache
