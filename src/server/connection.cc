#include "server/connection.h"

#include "base/text.h"
#include "server/worker.h"

namespace nvcache::server {
namespace {

constexpr int kRoundsPerEvent = 8;

}  // namespace

Connection::Connection(Worker& worker, int fd, std::unique_ptr<Transport> transport,
                       std::string address)
    : worker_(worker),
      fd_(fd),
      transport_(std::move(transport)),
      address_(std::move(address)),
      session_(worker.service(), worker.counters(), fd),
      active_s_(worker.service().items().now_s()) {}

Connection::~Connection() {
  if (read_event_ != nullptr) event_free(read_event_);
  if (write_event_ != nullptr) event_free(write_event_);
}

bool Connection::start() {
  read_event_ = event_new(worker_.base(), fd_, EV_READ | EV_PERSIST, on_event, this);
  write_event_ = event_new(worker_.base(), fd_, EV_WRITE | EV_PERSIST, on_event, this);
  if (read_event_ == nullptr || write_event_ == nullptr) return false;
  reading_ = event_add(read_event_, nullptr) == 0;
  return reading_;
}

void Connection::on_event(int, short what, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  const bool open = (what & EV_WRITE) != 0 ? connection.writable() : connection.readable();
  if (open) {
    connection.watch();
  } else {
    connection.worker_.remove(connection);
  }
}

bool Connection::readable() {
  if (blocked_ || closing_) return true;
  active_s_.store(worker_.service().items().now_s(), std::memory_order_relaxed);
  Input& spare = worker_.spare_input();
  // A small rest goes along into the larger buffer, so that a read brings much.
  const bool borrowed =
      input_.size() <= Worker::kSpareInputBytes / 4 && want_ <= Worker::kSpareInputBytes;
  if (borrowed && !input_.empty()) spare.take(input_);
  Input& input = borrowed ? spare : input_;
  if (output_.empty()) swap(output_, worker_.spare_output());
  bool open = true;
  for (int round = 0; open && round < kRoundsPerEvent; ++round) {
    const auto [to, bytes] = input.room(want_);
    const ssize_t got = transport_->read(to, bytes);
    if (got == Transport::kWouldBlock) break;
    open = got != Transport::kClosed;
    if (!open) break;
    worker_.counters().add(Count::kBytesRead, static_cast<uint64_t>(got));
    input.filled(static_cast<size_t>(got));
    open = serve(input);
    if (blocked_ || closing_ || !transport_->buffered()) break;
    if (round + 1 == kRoundsPerEvent) event_active(read_event_, EV_READ, 0);
  }
  if (borrowed && !spare.empty()) input_.take(spare);
  if (input_.empty() && input_.capacity() > 0) input_.release();
  if (spare.capacity() != Worker::kSpareInputBytes) {
    spare.release();
    spare.reserve(Worker::kSpareInputBytes);
  }
  if (output_.empty()) swap(output_, worker_.spare_output());
  return open;
}

bool Connection::writable() {
  active_s_.store(worker_.service().items().now_s(), std::memory_order_relaxed);
  if (!flush()) return false;
  if (!blocked_ || output_.size() >= Session::kFullOutputBytes / 2) return true;
  blocked_ = false;
  if (!serve(input_)) return false;
  if (input_.empty()) input_.release();
  // What TLS has taken from the socket already, nobody will tell of again.
  if (!blocked_ && transport_->buffered()) return readable();
  return true;
}

bool Connection::serve(Input& input) {
  for (;;) {
    const Turn turn = session_.turn(input.unread(), output_);
    input.consume(turn.used);
    if (turn.next == Turn::kMore) {
      want_ = turn.want;
      break;
    }
    if (turn.next == Turn::kClose) {
      closing_ = true;
      break;
    }
    if (output_.size() < Session::kFullOutputBytes) continue;
    if (!flush()) return false;
    if (output_.size() >= Session::kFullOutputBytes) {
      blocked_ = true;
      worker_.counters().add(Count::kConnYields);
      break;
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
  worker_.counters().add(Count::kBytesWritten, before - output_.size());
  if (output_.empty()) return !closing_;
  output_.settle();
  return true;
}

void Connection::watch() {
  const bool wants_read = !blocked_ && !closing_;
  if (wants_read != reading_) {
    (void)(wants_read ? event_add(read_event_, nullptr) : event_del(read_event_));
    reading_ = wants_read;
  }
  const bool wants_write = !output_.empty();
  if (wants_write != writing_) {
    (void)(wants_write ? event_add(write_event_, nullptr) : event_del(write_event_));
    writing_ = wants_write;
  }
}

void Connection::visit(const StatVisitor& visit, uint32_t now_s) const {
  const uint32_t active = active_s();
  visit(fmt::format("{}:addr", fd_), address_);
  visit(fmt::format("{}:state", fd_), "conn_read");
  visit(fmt::format("{}:secs_since_last_cmd", fd_),
        fmt::format("{}", now_s > active ? now_s - active : 0));
}

}  // namespace nvcache::server
