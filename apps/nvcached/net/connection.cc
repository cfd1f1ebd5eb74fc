#include "apps/nvcached/net/connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <new>
#include <utility>

#include "apps/nvcached/session/turn.h"
#include "base/assert.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr int kRoundsPerEvent = 8;
// Each of at least Turn::kFullOutputBytes: large answers take turns, too.
constexpr int kFullOutputsPerEvent = 4;
constexpr timeval kWatchTick = {0, 20'000};
constexpr double kSlowSeconds = 4;  // a client that would hold its buffers for longer is slow
// Clients that are not slow wait for each other.
constexpr uint32_t kMostWaitSeconds = 20;

}  // namespace

Connection::Connection(ConnectionOwner& owner, LoopShare& loop, int fd,
                       std::unique_ptr<Transport> transport, std::string address,
                       std::string listen_address)
    : owner_(owner),
      loop_(loop),
      fd_(fd),
      transport_(std::move(transport)),
      address_(std::move(address)),
      listen_address_(std::move(listen_address)),
      session_(loop.service(), loop.counters(), fd),
      active_s_(loop.service().items().now_s()) {}

Connection::~Connection() {
  if (watched_for_ != 0) tell_watchers("conn_close", close_reason_);
  end_waiting();
  if (read_event_ != nullptr) event_free(read_event_);
  if (write_event_ != nullptr) event_free(write_event_);
  loop_.service().buffers().give(held_bytes_);
  loop_.service().pins().give(held_pins_);
}

// Taken are the bytes that were written, less those on their way.
void Connection::note_taken() {
  if (taken_bytes_ == written_bytes_) return;
  int unsent_bytes = 0;
  if (ioctl(fd_, SIOCOUTQ, &unsent_bytes) != 0 || unsent_bytes < 0) unsent_bytes = 0;
  const uint64_t taken = written_bytes_ - std::min<uint64_t>(written_bytes_, unsent_bytes);
  if (taken <= taken_bytes_) return;
  pace_.move(taken - std::exchange(taken_bytes_, taken));
}

double Connection::cost_of(uint64_t held_bytes) const {
  return pace_.seconds_for(held_bytes) > kSlowSeconds ? pace_.cost(held_bytes) : 0;
}

void Connection::end_second() {
  note_taken();
  if (held_bytes_ > 0) ++holding_seconds_;
  if (waits_for_room()) {
    ++waited_seconds_;  // which is not its fault: its pace stays
  } else {
    pace_.end_second();
  }
}

Connection::Held Connection::hold(uint64_t bytes) {
  Budget& budget = loop_.service().buffers();
  const uint64_t more_bytes = bytes > held_bytes_ ? bytes - held_bytes_ : 0;
  if (bytes < held_bytes_) budget.give(held_bytes_ - bytes);
  if (more_bytes > 0 && !budget.take(more_bytes)) {
    const Held held = make_room_for(bytes, more_bytes);
    if (held != Held::kYes) return held;
  }
  held_bytes_ = bytes;
  if (bytes == 0) holding_seconds_ = 0;
  loop_.note_cost(cost());
  return Held::kYes;
}

Connection::Held Connection::make_room_for(uint64_t bytes, uint64_t more_bytes) {
  Budget& budget = loop_.service().buffers();
  note_taken();
  const double cost = cost_of(bytes);
  const bool spares_new = cost > 0;
  auto gone = owner_.close_costlier(cost, spares_new);
  for (; gone == ConnectionOwner::Gone::kOne; gone = owner_.close_costlier(cost, spares_new)) {
    if (budget.take(more_bytes)) return Held::kYes;
  }
  // A client that wants more than the reserve cannot do without it.
  const bool may_take = gone == ConnectionOwner::Gone::kSoon || bytes > budget.reserve();
  if (may_take && budget.take_of_reserve(more_bytes)) return Held::kYes;
  if (waited_seconds_ > kMostWaitSeconds) return Held::kNo;
  wants_room_ = true;
  if (waits_for_room()) return Held::kSoon;
  waited_seconds_ = 0;
  waits_at_ = loop_.waiting().insert(loop_.waiting().end(), this);
  owner_.try_again_soon();
  return Held::kSoon;
}

void Connection::end_waiting() {
  if (waits_for_room()) loop_.waiting().erase(*waits_at_);
  waits_at_.reset();
  waited_seconds_ = 0;
}

bool Connection::hold_what_is_there() {
  const uint64_t bytes = output_.heap_bytes() + input_.capacity();
  Held held = hold(bytes);
  if (held == Held::kSoon && loop_.service().buffers().take_last(bytes - held_bytes_)) {
    held_bytes_ = bytes;
    held = Held::kYes;
  }
  return held == Held::kYes || refuse();
}

// A client that goes for want of memory.
bool Connection::refuse() {
  loop_.counters().add(Count::kBufferKicks);
  set_close_reason("error");
  return false;
}

bool Connection::start(event_base* base) {
  NVCACHE_ASSERT(read_event_ == nullptr && watched_for_ == 0);
  read_event_ = event_new(base, fd_, EV_READ | EV_PERSIST, on_event, this);
  write_event_ = event_new(base, fd_, EV_WRITE | EV_PERSIST, on_event, this);
  if (read_event_ == nullptr || write_event_ == nullptr) return false;
  if (event_add(read_event_, nullptr) != 0) return false;
  watched_for_ = EV_READ;
  tell_watchers("conn_new");
  return true;
}

void Connection::tell_watchers(std::string_view event, std::string_view reason) const try {
  WatchLog& log = loop_.service().watch_log();
  if (!log.wants(WatchLog::kConnections)) return;
  const bool local = address_.starts_with("unix");
  const size_t host_at = address_.find(':') + 1;
  const size_t port_at = address_.rfind(':') + 1;
  const bool known = !local && host_at != 0 && port_at > host_at;
  log.add(WatchLog::kConnections,
          fmt::format("type={} rip={} rport={} transport={}{}{} cfd={}", event,
                      known ? address_.substr(host_at, port_at - host_at - 1) : "unix",
                      known ? address_.substr(port_at) : "0", local ? "local" : "tcp",
                      reason.empty() ? "" : " reason=", reason, fd_));
} catch (const std::bad_alloc&) {  // they miss a line
}

bool Connection::begin_watching() {
  NVCACHE_ASSERT(phase_ == Phase::kServing && session_.watcher() != nullptr);
  // Looks for lines at least that often; what the client sends is only read and dropped.
  if (event_add(read_event_, &kWatchTick) != 0) return false;
  watched_for_ |= EV_READ;
  phase_ = Phase::kWatching;
  return true;
}

bool Connection::pass_on_lines() {
  NVCACHE_ASSERT(session_.watcher() != nullptr);
  char ignored[1024];
  for (int round = 0; round < kRoundsPerEvent; ++round) {
    const ssize_t got = transport_->read(ignored, sizeof ignored);
    if (got == Transport::kClosed) return false;
    if (got == Transport::kWouldBlock) break;
  }
  loop_.service().tell_evictions();
  if (output_.empty()) output_.append(session_.watcher()->take());
  return flush();
}

// Without memory for what a client asked, that client goes; the others stay.
void Connection::on_event(int, short what, void* self) {
  static_cast<Connection*>(self)->handle(what);
}

void Connection::try_again() {
  NVCACHE_ASSERT_SLOW(waits_for_room());
  handle(0);
}

void Connection::handle(short what) {
  ConnectionOwner& owner = owner_;
  LoopShare& loop = loop_;
  try {
    if (serve_event(what)) return wait_for_events();
  } catch (const std::bad_alloc&) {
    loop.empty_spares();
    set_close_reason("error");
  }
  owner.remove(*this);
}

bool Connection::serve_event(short what) {
  active_s_.store(loop_.service().items().now_s(), std::memory_order_relaxed);
  state_.store("conn_parse_cmd", std::memory_order_relaxed);
  wants_room_ = false;
  Output& spare = loop_.spare_output();
  NVCACHE_ASSERT_SLOW(spare.empty());
  const bool borrowed = output_.empty();
  if (borrowed) swap(output_, spare);
  bool open = phase_ == Phase::kWatching ? pass_on_lines()
              : (what & EV_WRITE) != 0   ? writable()
                                         : (output_.empty() || flush()) && readable();
  if (output_.empty()) {
    if (borrowed) swap(output_, spare);
    output_ = Output();
  }
  open = open && hold_what_is_there();
  if (!wants_room_) end_waiting();
  state_.store(!output_.empty()  ? "conn_mwrite"
               : !input_.empty() ? "conn_nread"
                                 : "conn_read",
               std::memory_order_relaxed);
  return open;
}

bool Connection::readable() {
  if (phase_ != Phase::kServing) return true;
  Input& spare = loop_.spare_input();
  NVCACHE_ASSERT_SLOW(spare.empty());
  // A small rest moves into the larger buffer, so that one read brings many bytes. But a rest must
  // have room afterwards: where there may be none, it is taken before.
  const bool borrowed = input_.size() <= LoopShare::kSpareInputBytes / 4 &&
                        want_ <= LoopShare::kSpareInputBytes &&
                        loop_.service().buffers().has(LoopShare::kSpareInputBytes);
  if (borrowed && !input_.empty()) spare.take(input_);
  Input& input = borrowed ? spare : input_;
  bool open = true;
  for (int round = 0; open; ++round) {
    if (!borrowed) {
      const Held held = hold(output_.heap_bytes() + input.capacity_for(want_));
      if (held == Held::kSoon) break;
      if (held == Held::kNo) return refuse();
    }
    const auto [to, bytes] = input.room(want_);
    const ssize_t got = transport_->read(to, bytes);
    if (got == Transport::kWouldBlock) break;
    if (got == Transport::kClosed) {
      // The client may have closed only its sending side and still wait for answers.
      phase_ = Phase::kClosing;
      open = !output_.empty();
      break;
    }
    loop_.counters().add(Count::kBytesRead, static_cast<uint64_t>(got));
    pace_.move(static_cast<uint64_t>(got));
    input.filled(static_cast<size_t>(got));
    open = serve(input);
    if (phase_ != Phase::kServing || !transport_->buffered()) break;
    if (round + 1 == kRoundsPerEvent) {
      phase_ = Phase::kWaiting;
      break;
    }
  }
  if (borrowed && !spare.empty()) input_.take(spare);
  if (input_.empty() && input_.capacity() > 0) input_.release();
  if (spare.capacity() != LoopShare::kSpareInputBytes) {
    spare.release();
    spare.reserve(LoopShare::kSpareInputBytes);
  }
  return open;
}

bool Connection::writable() {
  // A connection that only gave way goes on serving, so that its answers leave together.
  const bool waits = phase_ == Phase::kWaiting;
  const bool goes_on = waits && output_.size() < Turn::kFullOutputBytes / 2;
  if (!goes_on && !flush()) return false;
  if (!waits || output_.size() >= Turn::kFullOutputBytes / 2) return true;
  phase_ = Phase::kServing;
  if (!serve(input_)) return false;
  if (input_.empty()) input_.release();
  // No event will come for bytes that TLS has already taken from the socket.
  if (transport_->buffered()) return readable();
  return true;
}

bool Connection::serve(Input& input) {
  NVCACHE_ASSERT_SLOW(phase_ == Phase::kServing);
  int requests_left = loop_.service().settings().requests_per_turn;
  int outputs_left = kFullOutputsPerEvent;
  for (;;) {
    if ((requests_left-- == 0 || outputs_left == 0) && !input.empty()) {
      phase_ = Phase::kWaiting;
      loop_.counters().add(Count::kConnYields);
      return true;
    }
    const Turn turn = session_.turn(input.unread(), output_);
    input.consume(turn.used);
    if (turn.next == Turn::kMore) {
      want_ = turn.want;
      break;
    }
    if (turn.next == Turn::kClose || turn.next == Turn::kQuit) {
      if (turn.next == Turn::kClose) set_close_reason("error");
      phase_ = Phase::kClosing;
      break;
    }
    if (turn.next == Turn::kWatch) {
      input.consume(input.size());
      if (!begin_watching()) return false;
      break;
    }
    if (output_.size() < Turn::kFullOutputBytes) continue;
    --outputs_left;
    if (!flush()) return false;
    if (output_.size() >= Turn::kFullOutputBytes) {
      phase_ = Phase::kWaiting;
      return true;
    }
  }
  return flush();
}

bool Connection::flush() {
  const size_t before = output_.size();
  while (!output_.empty()) {
    const ssize_t sent = transport_->write(output_);
    if (sent == Transport::kClosed) return false;
    if (sent == Transport::kWouldBlock) break;
  }
  NVCACHE_ASSERT_SLOW(output_.size() <= before);
  loop_.counters().add(Count::kBytesWritten, before - output_.size());
  written_bytes_ += before - output_.size();
  if ((!output_.empty() || held_pins_ > 0) && !keep_or_copy_pins()) return false;
  return !output_.empty() || phase_ != Phase::kClosing;
}

bool Connection::keep_or_copy_pins() {
  Budget& budget = loop_.service().pins();
  const uint64_t pins = output_.pins();
  if (pins < held_pins_) {
    budget.give(held_pins_ - pins);
    held_pins_ = pins;
  }
  if (pins > held_pins_ && !budget.take(pins - held_pins_)) return copy_pins();
  held_pins_ = pins;
  output_.compact();
  return true;
}

bool Connection::copy_pins() {
  const Held held = hold(output_.size() + input_.capacity());
  if (held == Held::kYes) copy_held_pins();
  return held != Held::kNo || refuse();
}

void Connection::copy_held_pins() {
  session_.copy_pinned(output_);
  NVCACHE_ASSERT(!output_.has_pins());
  loop_.service().pins().give(std::exchange(held_pins_, 0));
}

bool Connection::unpin_stalled() {
  if (held_pins_ == 0 || !pace_.stands_still()) return true;
  // Without hold(), which may close others: the owner goes through all of them meanwhile.
  const uint64_t bytes = output_.size() + input_.capacity();
  const uint64_t more = bytes > held_bytes_ ? bytes - held_bytes_ : 0;
  if (!loop_.service().buffers().take_of_reserve(more)) {
    loop_.counters().add(Count::kBufferKicks);
    return false;
  }
  held_bytes_ += more;
  copy_held_pins();
  return true;
}

void Connection::wait_for_events() {
  // A waiting connection wakes when its socket is writable, even if all output is sent.
  const bool waits = phase_ == Phase::kWaiting;
  const bool has_room = !waits_for_room();
  watch_for(EV_READ, read_event_,
            phase_ != Phase::kClosing && has_room && (!waits || output_.empty()));
  watch_for(EV_WRITE, write_event_, (waits && has_room) || !output_.empty());
  NVCACHE_ASSERT_SLOW(watched_for_ != 0 || !has_room);  // else it would stay for ever
}

void Connection::watch_for(short what, event* by, bool wanted) {
  if (wanted == ((watched_for_ & what) != 0)) return;
  (void)(wanted ? event_add(by, nullptr) : event_del(by));
  watched_for_ ^= what;
}

void Connection::visit(const StatVisitor& visit, uint32_t now_s) const {
  const uint32_t active = active_s();
  visit(fmt::format("{}:addr", fd_), address_);
  visit(fmt::format("{}:listen_addr", fd_), listen_address_);
  visit(fmt::format("{}:state", fd_), state_.load(std::memory_order_relaxed));
  visit(fmt::format("{}:secs_since_last_cmd", fd_),
        fmt::format("{}", now_s > active ? now_s - active : 0));
}

}  // namespace nvcache::server
