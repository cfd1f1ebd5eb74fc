#include "apps/nvcached/net/worker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace nvcache::server {
namespace {

constexpr timeval kTick = {1, 0};
constexpr timeval kRoomTick = {0, 2000};
constexpr size_t kTriesAtOnce = 32;  // for room

// So many connections have ended.
void count_ended(ConnectionGauges& gauges, uint64_t connections) {
  const uint64_t before = gauges.current.fetch_sub(connections);
  NVCACHE_ASSERT(before >= connections);
}

}  // namespace

Status Worker::start() {
  NVCACHE_ASSERT(second_event_ == nullptr);
  if (loop_.create()) {
    second_event_ = event_new(loop_.base(), -1, EV_PERSIST, on_second, this);
    room_event_ = event_new(loop_.base(), -1, 0, on_room_tick, this);
  }
  if (second_event_ == nullptr || room_event_ == nullptr || event_add(second_event_, &kTick) != 0) {
    return resource_exhausted_error("cannot create the event loop of a worker thread");
  }
  share_.spare_input().reserve(LoopShare::kSpareInputBytes);
  return loop_.start();
}

void Worker::stop() {
  loop_.stop();
  std::list<std::unique_ptr<Connection>> all;
  {
    const MutexLock lock(mutex_);
    all.splice(all.end(), connections_);
    all.splice(all.end(), adopted_);
  }
  count_ended(service_.connections(), all.size());
  for (const auto& each : all) each->set_close_reason("shutdown");
  all.clear();
  for (event** const each : {&second_event_, &room_event_}) {
    if (*each != nullptr) event_free(*each);
    *each = nullptr;
  }
}

void Worker::adopt(int fd, std::unique_ptr<Transport> transport, std::string address,
                   std::string listen_address) {
  NVCACHE_ASSERT(transport != nullptr);
  ConnectionOwner& owner = *this;
  auto connection = std::make_unique<Connection>(owner, share_, fd, std::move(transport),
                                                 std::move(address), std::move(listen_address));
  {
    const MutexLock lock(mutex_);
    adopted_.push_back(std::move(connection));
    service_.connections().current += 1;
  }
  loop_.wake();
}

void Worker::take_adopted() {
  std::list<std::unique_ptr<Connection>> fresh;
  {
    const MutexLock lock(mutex_);
    fresh.swap(adopted_);
  }
  while (!fresh.empty()) {
    Connection& connection = *fresh.front();
    {
      const MutexLock lock(mutex_);
      connections_.splice(connections_.end(), fresh, fresh.begin());
      connection.self = std::prev(connections_.end());
    }
    if (!connection.start(loop_.base())) remove(connection);
  }
}

void Worker::remove(Connection& connection) {
  std::list<std::unique_ptr<Connection>> gone;
  {
    const MutexLock lock(mutex_);
    NVCACHE_ASSERT(connection.self->get() == &connection);
    gone.splice(gone.end(), connections_, connection.self);
  }
  gone.clear();
  count_ended(service_.connections(), 1);
}

ConnectionOwner::Gone Worker::close_costlier(double cost, bool spares_new) {
  Worker* const other = find_costliest_ ? find_costliest_(*this) : nullptr;
  const double cost_there = other == nullptr ? 0 : other->most_cost();
  if (close_costlier_here(std::max(cost, cost_there), spares_new)) return Gone::kOne;
  if (other != nullptr && other->ask_to_close_costlier(cost, spares_new)) return Gone::kSoon;
  return close_costlier_here(cost, spares_new) ? Gone::kOne : Gone::kNobody;
}

void Worker::try_again_soon() { (void)event_add(room_event_, &kRoomTick); }

// Each of them may end, or end others, meanwhile.
void Worker::on_room_tick(int, short, void* self) {
  auto& worker = *static_cast<Worker*>(self);
  std::list<Connection*>& waiting = worker.share_.waiting();
  const size_t tries = std::min(waiting.size(), kTriesAtOnce);
  for (size_t i = 0; i < tries && !waiting.empty(); ++i) {
    waiting.splice(waiting.end(), waiting, waiting.begin());
    waiting.back()->try_again();
  }
  if (!waiting.empty()) worker.try_again_soon();
}

bool Worker::ask_to_close_costlier(double cost, bool spares_new) {
  if (most_cost() <= cost) return false;
  double asked = asked_cost_.load();
  while (cost < asked && !asked_cost_.compare_exchange_weak(asked, cost)) {
  }
  if (!spares_new) asked_spares_new_ = false;
  ++asked_to_close_;
  loop_.wake();
  return true;
}

void Worker::on_wake() {
  take_adopted();
  close_those_asked_for();
}

void Worker::close_those_asked_for() {
  const double cost = asked_cost_.exchange(kNoCost);
  const bool spares_new = asked_spares_new_.exchange(true);
  int left = asked_to_close_.exchange(0);
  for (; left > 0 && close_costlier_here(cost, spares_new); --left) {
  }
}

// Whoever takes of the reserve, ahead of another's end, may take more than that one gives back.
void Worker::come_within_budget() {
  const Budget& budget = service_.buffers();
  while (budget.used() > budget.usual() && close_costlier_here(0, /*spares_new=*/true)) {
  }
}

bool Worker::close_costlier_here(double cost, bool spares_new) {
  if (share_.most_cost() <= cost) return false;
  std::list<std::unique_ptr<Connection>> gone;
  {
    const MutexLock lock(mutex_);
    auto first = connections_.end();
    double most_cost = cost;
    double next_cost = 0;  // of those that stay
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      const double its_cost = (*at)->cost();
      if (its_cost <= most_cost || (spares_new && (*at)->holds_anew())) {
        next_cost = std::max(next_cost, its_cost);
        continue;
      }
      if (first != connections_.end()) next_cost = std::max(next_cost, most_cost);
      most_cost = its_cost;
      first = at;
    }
    share_.set_most_cost(next_cost);
    if (first == connections_.end()) return false;
    gone.splice(gone.end(), connections_, first);
  }
  share_.counters().add(Count::kBufferKicks);
  count_ended(service_.connections(), 1);
  gone.front()->set_close_reason("error");
  return true;
}

void Worker::on_second(int, short, void* self) try {
  auto& worker = *static_cast<Worker*>(self);
  worker.close_idle();
  worker.end_second();
  worker.come_within_budget();
  worker.unpin_stalled();
} catch (const std::bad_alloc&) {  // the next second tries again
}

void Worker::end_second() {
  const MutexLock lock(mutex_);
  double most_cost = 0;
  for (const auto& each : connections_) {
    each->end_second();
    most_cost = std::max(most_cost, each->cost());
  }
  share_.set_most_cost(most_cost);
}

// Copies without the lock: only this thread removes connections.
void Worker::unpin_stalled() {
  if (service_.pins().used() == 0) return;
  std::vector<Connection*> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& each : connections_) all.push_back(each.get());
  }
  for (Connection* each : all) {
    if (each->unpin_stalled()) continue;
    each->set_close_reason("error");
    remove(*each);
  }
}

void Worker::close_idle() {
  const uint32_t timeout_s = service_.settings().idle_timeout_s;
  if (timeout_s == 0) return;
  const uint32_t now_s = service_.items().now_s();
  std::list<std::unique_ptr<Connection>> gone;
  {
    const MutexLock lock(mutex_);
    for (auto at = connections_.begin(); at != connections_.end();) {
      const auto next = std::next(at);
      if (now_s > (*at)->active_s() + timeout_s) gone.splice(gone.end(), connections_, at);
      at = next;
    }
  }
  share_.counters().add(Count::kIdleKicks, gone.size());
  for (const auto& each : gone) each->set_close_reason("idle_timeout");
  count_ended(service_.connections(), gone.size());
}

void Worker::visit_connections(const StatVisitor& visit) const {
  const uint32_t now_s = service_.items().now_s();
  const MutexLock lock(mutex_);
  for (const auto& connection : connections_) connection->visit(visit, now_s);
}

}  // namespace nvcache::server
