#include "apps/command/interrupt.h"

#include <atomic>
#include <csignal>

namespace nvcache {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { g_interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

void watch_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return g_interrupted.load(std::memory_order_relaxed); }

Status check_not_interrupted() {
  return interrupted() ? cancelled_error("interrupted") : ok_status();
}

}  // namespace nvcache
