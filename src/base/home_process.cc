#include "base/home_process.h"

#include <pthread.h>

namespace nvcache {

constinit std::atomic<uint32_t> HomeProcess::forks_{0};

void HomeProcess::count_fork() { forks_.fetch_add(1, std::memory_order_relaxed); }

const int HomeProcess::counts_ = pthread_atfork(nullptr, nullptr, &HomeProcess::count_fork);

}  // namespace nvcache
