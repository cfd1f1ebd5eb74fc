#include "apps/nvcached/net/worker.h"

#include "base/assert.h"

namespace nvcache::server {
namespace {

constexpr timeval kTick = {1, 0};

// So many connections have ended.
void count_ended(ConnectionGauges& gauges, uint64_t connections) {
  const uint64_t before = gauges.current.fetch_sub(connections);
  NVCACHE_ASSERT(before >= connections);
}

}  // namespace

absl::Status Worker::start() {
  NVCACHE_ASSERT(second_event_ == nullptr);
  if (loop_.create()) second_event_ = event_new(loop_.base(), -1, EV_PERSIST, on_second, this);
  if (second_event_ == nullptr || event_add(second_event_, &kTick) != 0) {
    return absl::ResourceExhaustedError("cannot create the event loop of a worker thread");
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
  if (second_event_ != nullptr) event_free(second_event_);
  second_event_ = nullptr;
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

bool Worker::close_slowest(const Connection& wanting) {
  return close_first([&](const Connection& each) {
    return &each != &wanting && each.pace().goes_before(wanting.pace());
  });
}

bool Worker::close_elsewhere(ReadingPace::Kind kind) {
  return close_elsewhere_ && close_elsewhere_(*this, kind);
}

bool Worker::close_one_before(ReadingPace::Kind kind) {
  using Kind = ReadingPace::Kind;
  int there = 0;
  for (const Kind before : {Kind::kNew, Kind::kDead}) {
    if (before > kind) there += share_.of_kind(before);
  }
  int asked = asked_to_close_.load();
  while (asked < there) {
    if (!asked_to_close_.compare_exchange_weak(asked, asked + 1)) continue;
    loop_.wake();
    return true;
  }
  return false;
}

void Worker::on_wake() {
  take_adopted();
  close_those_asked_for();
}

void Worker::close_those_asked_for() {
  for (int left = asked_to_close_.exchange(0); left > 0 && close_one_that_does_not_read(); --left) {
  }
}

// Whoever takes ahead of another's end may take more than that one gives back.
void Worker::come_within_budget() {
  const Budget& budget = service_.buffers();
  while (budget.used() > budget.most() && close_one_that_does_not_read()) {
  }
}

bool Worker::close_one_that_does_not_read() {
  return close_first(
      [](const Connection& each) { return each.pace().kind() >= ReadingPace::Kind::kNew; });
}

bool Worker::close_first(absl::FunctionRef<bool(const Connection&)> may_go) {
  std::list<std::unique_ptr<Connection>> gone;
  {
    const MutexLock lock(mutex_);
    auto first = connections_.end();
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      if (!may_go(**at)) continue;
      if (first == connections_.end() || (*at)->pace().goes_before((*first)->pace())) first = at;
    }
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
  for (const auto& each : connections_) each->end_second();
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
