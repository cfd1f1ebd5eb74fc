#include "block_cache/region/region_writer.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "base/assert.h"

namespace nvcache {
namespace {
constexpr uint32_t kKeptRegions = 1;
}  // namespace

RegionWriter::RegionWriter(const Options& options, Medium& medium, RegionTable& table,
                           Events events)
    : geometry_(options.geometry),
      nonce_(options.nonce),
      spare_regions_(options.spare_regions),
      clock_(*options.clock),
      medium_(medium),
      table_(table),
      events_(std::move(events)),
      memory_(options.buffers * geometry_.region_bytes + kHugePageBytes, Pages::kHuge) {
  MutexLock lock(mutex_);
  free_.reserve(options.buffers);
  queue_.reserve(options.buffers);
  begun_.reserve(options.buffers);
  const auto start = reinterpret_cast<uintptr_t>(&memory_[0]);
  std::byte* const first = &memory_[kHugePageBytes - start % kHugePageBytes];
  for (uint32_t i = 0; i < options.buffers; ++i) {
    buffers_.push_back(std::make_unique<Buffer>());
    buffers_[i]->number = i;
    buffers_[i]->bytes = first + i * geometry_.region_bytes;
    free_.push_back(i);
  }
  free_count_ = options.buffers;
  for (uint32_t i = 0; i < options.threads; ++i) {
    threads_.push_back(std::make_unique<BackgroundThread>(
        BackgroundThread::Work{.name = "nvcache-write", .round = [this] { return write_next(); }}));
  }
}

RegionWriter::~RegionWriter() {
  for (const auto& thread : threads_) thread->stop();
}

bool RegionWriter::start() {
  return std::ranges::all_of(threads_, [](const auto& thread) { return thread->start(); });
}

// ---- appending

bool RegionWriter::fits(uint64_t cursor, uint32_t grains) const {
  const uint64_t data_bytes =
      (uint64_t{grains_of(cursor)} + grains) * uint64_t{geometry_.grain_bytes};
  return data_bytes + RegionFooter::tail_bytes(blocks_of(cursor) + 1) <= geometry_.region_bytes;
}

Reason RegionWriter::append(uint32_t size_bytes, Spot* spot, For use) {
  const uint32_t grains = geometry_.grains_of(size_bytes);
  if (!fits(0, grains)) return Reason::kNoSpace;
  for (;;) {
    const uint32_t open = open_[static_cast<size_t>(use)].load(std::memory_order_acquire);
    if (open != kNone && append_to(open, use, grains, spot)) return Reason::kAdmitted;
    if (const Reason opened = open_next(open, use); opened != Reason::kAdmitted) return opened;
  }
}

// False if the buffer's region is full, and closed by now, or was opened for the other kind.
bool RegionWriter::append_to(uint32_t number, For use, uint32_t grains, Spot* spot) {
  Buffer& buffer = *buffers_[number];
  uint64_t cursor = buffer.cursor.load(std::memory_order_acquire);
  while ((cursor & kClosed) == 0) {
    if (open_[static_cast<size_t>(use)].load(std::memory_order_relaxed) != number) return false;
    if (!fits(cursor, grains)) {
      if (close(buffer, &cursor)) return false;
      continue;
    }
    // The buffer may have been written and opened again since: then the block goes to its new
    // region, of the same kind, which cannot be written before this block is finished.
    if (!buffer.cursor.compare_exchange_weak(cursor, cursor + kOneBlock + grains,
                                             std::memory_order_acq_rel)) {
      continue;
    }
    const uint32_t offset_grains = grains_of(cursor);
    table_.add(buffer.region, grains);
    *spot = {.place = geometry_.place_of(buffer.region, offset_grains),
             .buffer = number,
             .bytes = buffer.bytes + uint64_t{offset_grains} * geometry_.grain_bytes,
             .record = record_at(buffer, blocks_of(cursor))};
    *spot->record = {.offset_grains = offset_grains};
    return true;
  }
  return false;
}

void RegionWriter::finish(const Spot& spot) {
  Buffer& buffer = *buffers_[spot.buffer];
  const uint64_t before = buffer.cursor.fetch_add(kOneFinished, std::memory_order_acq_rel);
  NVCACHE_ASSERT_SLOW(finished_of(before) < blocks_of(before));
  if (complete(before + kOneFinished)) queue(buffer);
}

// Closes the region if its cursor is what the caller saw; false: it is not, and *cursor is the new
// one.
bool RegionWriter::close(Buffer& buffer, uint64_t* cursor) {
  if (!buffer.cursor.compare_exchange_strong(*cursor, *cursor | kClosed,
                                             std::memory_order_acq_rel)) {
    return false;
  }
  if (complete(*cursor | kClosed)) queue(buffer);
  return true;
}

void RegionWriter::queue(Buffer& buffer) {
  {
    MutexLock lock(mutex_);
    NVCACHE_ASSERT(buffer.in_use && queue_.size() < buffers_.size());
    queue_.push_back(buffer.number);  // it has room for all buffers
  }
  wake_threads();
}

void RegionWriter::wake_threads() {
  for (const auto& thread : threads_) thread->wake();
}

// Opens a buffer after `seen`, unless another thread has.
Reason RegionWriter::open_next(uint32_t seen, For use) {
  if (free_count_.load(std::memory_order_relaxed) == 0) return Reason::kWriteQueueFull;
  const uint32_t kept_back = use == For::kNewBlock ? kKeptRegions : 0;
  if (table_.free_regions() <= kept_back) {
    events_.wants_room();
    return Reason::kNoSpace;
  }
  {
    MutexLock lock(mutex_);
    // Again: a kept block may have taken a region since, and needs the next one, too.
    if (table_.free_regions() <= kept_back) return Reason::kNoSpace;
    std::atomic<uint32_t>& open = open_[static_cast<size_t>(use)];
    if (open.load(std::memory_order_relaxed) != seen) return Reason::kAdmitted;
    if (seen != kNone && (buffers_[seen]->cursor.load() & kClosed) == 0) return Reason::kAdmitted;
    if (free_.empty()) return Reason::kWriteQueueFull;
    const std::optional<uint32_t> region = table_.take_free();
    if (!region) return Reason::kNoSpace;
    const uint32_t number = free_.back();
    free_.pop_back();
    free_count_.fetch_sub(1, std::memory_order_relaxed);
    Buffer& buffer = *buffers_[number];
    NVCACHE_ASSERT(!buffer.in_use && (buffer.cursor.load() & kClosed) != 0);
    buffer.region = *region;
    buffer.in_use = true;
    table_.buffer(*region).store(number + 1);
    // The other kind of blocks may have had this buffer last: new blocks would fill a region that
    // was kept back for blocks in use. It hears of that before the cursor is open.
    for (std::atomic<uint32_t>& each : open_) {
      if (each.load(std::memory_order_relaxed) == number) {
        each.store(kNone, std::memory_order_relaxed);
      }
    }
    buffer.cursor.store(0, std::memory_order_release);
    open.store(number, std::memory_order_release);
  }
  if (table_.free_regions() < spare_regions_) events_.wants_room();
  return Reason::kAdmitted;
}

// ---- reading

bool RegionWriter::copy(uint64_t offset_bytes, MutableBytes into) {
  const uint64_t in_regions = offset_bytes - Geometry::kHeadBytes;
  const auto region = static_cast<uint32_t>(in_regions / geometry_.region_bytes);
  std::atomic<uint32_t>& where = table_.buffer(region);
  const uint32_t number = where.load();
  if (number == 0) return false;
  // Sequentially consistent, as in unmap(): either the reader is seen, or it sees that the buffer
  // is gone.
  Buffer& buffer = *buffers_[number - 1];
  buffer.readers.fetch_add(1);
  const bool still_there = where.load() == number;
  if (still_there) {
    std::memcpy(into.data(), buffer.bytes + in_regions % geometry_.region_bytes, into.size());
  }
  buffer.readers.fetch_sub(1);
  return still_there;
}

uint64_t RegionWriter::pending_bytes() const {
  uint64_t grains = 0;
  for (const auto& buffer : buffers_) grains += grains_of(buffer->cursor.load());
  return grains * geometry_.grain_bytes;
}

// ---- writing

void RegionWriter::drain(Close which) {
  const uint32_t least_blocks = which == Close::kEmptyToo ? 0 : 1;
  { MutexLock lock(mutex_); }  // a region that was taken before the call is open from here on
  for (const auto& buffer : buffers_) {
    uint64_t cursor = buffer->cursor.load(std::memory_order_acquire);
    while ((cursor & kClosed) == 0 && blocks_of(cursor) >= least_blocks &&
           !close(*buffer, &cursor)) {
    }
  }
  MutexLock lock(mutex_);
  for (const auto& buffer : buffers_) {
    if (!buffer->in_use || (buffer->cursor.load() & kClosed) == 0) continue;
    const uint64_t releases = buffer->releases;
    while (buffer->releases == releases) written_.wait(mutex_);
  }
}

void RegionWriter::wait_for_buffer() {
  MutexLock lock(mutex_);
  while (free_.empty()) written_.wait(mutex_);
}

bool RegionWriter::write_next() {
  const Work work = next_work();
  if (work.what == Work::What::kNothing) return false;
  Status status;
  if (work.what == Work::What::kBegin) {
    status = write_zeros(*work.buffer);
    if (status.ok()) begin(*work.buffer);
  } else {
    status = write_one(*work.buffer, work.at, work.bytes);
  }
  wrote(*work.buffer, extent_of(work), status);
  return true;
}

Extent RegionWriter::extent_of(const Work& work) const {
  const uint64_t region_at = geometry_.region_at(work.buffer->region);
  if (work.what == Work::What::kPiece) return {region_at + work.at, work.bytes};
  return {region_at + geometry_.region_bytes - geometry_.unit_bytes, geometry_.unit_bytes};
}

RegionWriter::Work RegionWriter::next_work() {
  MutexLock lock(mutex_);
  if (!begun_.empty()) {
    Buffer& buffer = *buffers_[begun_.front()];
    NVCACHE_ASSERT(buffer.next_at < buffer.pieces_end);
    const Work piece = {.what = Work::What::kPiece,
                        .buffer = &buffer,
                        .at = buffer.next_at,
                        .bytes = std::min(kPieceBytes, buffer.pieces_end - buffer.next_at)};
    buffer.next_at += piece.bytes;
    ++buffer.in_flight;
    if (buffer.next_at == buffer.pieces_end) begun_.erase(begun_.begin());
    return piece;
  }
  if (queue_.empty()) return {};
  Buffer& buffer = *buffers_[queue_.front()];
  queue_.erase(queue_.begin());
  buffer.in_flight = 1;
  buffer.next_at = 0;
  buffer.pieces_end = 0;
  buffer.status = ok_status();
  return {.what = Work::What::kBegin, .buffer = &buffer};
}

BlockRecord* RegionWriter::record_at(const Buffer& buffer, uint32_t index) const {
  std::byte* const end = buffer.bytes + geometry_.region_bytes - RegionFooter::kBytes;
  return reinterpret_cast<BlockRecord*>(end) - (index + 1);
}

// In the order in which they lie: the last one first.
std::span<const BlockRecord> RegionWriter::records_of(const Buffer& buffer) const {
  const uint32_t count = blocks_of(buffer.cursor.load(std::memory_order_acquire));
  return {count == 0 ? nullptr : record_at(buffer, count - 1), count};
}

// The footer that an earlier region left here goes first: its blocks are overwritten from here on.
Status RegionWriter::write_zeros(Buffer& buffer) {
  const uint64_t region_bytes = geometry_.region_bytes;
  const std::span<const BlockRecord> records = records_of(buffer);
  buffer.footer = {.region = buffer.region,
                   .count = static_cast<uint32_t>(records.size()),
                   .sequence = table_.next_sequence(),
                   .checksum = checksum_records(nonce_, records)};
  std::fill_n(buffer.bytes + region_bytes - RegionFooter::kBytes, RegionFooter::kBytes,
              std::byte{0});
  return write_one(buffer, region_bytes - geometry_.unit_bytes, geometry_.unit_bytes);
}

// Gives all threads the pieces. The tail of a full region begins with blocks.
void RegionWriter::begin(Buffer& buffer) {
  const uint64_t data_bytes = uint64_t{grains_of(buffer.cursor.load())} * geometry_.grain_bytes;
  const uint64_t data_end = geometry_.round_up(data_bytes);
  NVCACHE_ASSERT(data_bytes + RegionFooter::tail_bytes(buffer.footer.count) <=
                 geometry_.region_bytes);
  buffer.tail_at =
      geometry_.round_down(geometry_.region_bytes - RegionFooter::tail_bytes(buffer.footer.count));
  const bool full = buffer.tail_at <= data_end;
  if (full) buffer.tail_at -= buffer.tail_at % kPieceBytes;
  const uint64_t pieces_end = full ? buffer.tail_at : data_end;
  if (pieces_end == 0) return;
  {
    MutexLock lock(mutex_);
    buffer.pieces_end = pieces_end;
    begun_.push_back(buffer.number);  // it has room for all buffers
  }
  wake_threads();
}

// A write is over. After the last one, or after a failure the last one in flight, the region ends.
void RegionWriter::wrote(Buffer& buffer, Extent extent, const Status& status) {
  {
    MutexLock lock(mutex_);
    NVCACHE_ASSERT(buffer.in_use && buffer.in_flight > 0);
    if (!status.ok() && buffer.status.ok()) {
      buffer.status = status;
      buffer.failed = extent;
      buffer.next_at = buffer.pieces_end;  // the other pieces are of no use
      std::erase(begun_, buffer.number);
    }
    if (--buffer.in_flight != 0 || buffer.next_at != buffer.pieces_end) return;
  }
  end(buffer);
}

void RegionWriter::end(Buffer& buffer) {
  Status status;
  Extent failed;
  {
    MutexLock lock(mutex_);
    status = buffer.status;
    failed = buffer.failed;
  }
  if (status.ok()) status = write_tail(buffer, &failed);
  const uint32_t region = buffer.region;
  if (status.ok()) {
    // In this order: a sealed region may be emptied and opened again, in another buffer.
    unmap(buffer);
    table_.seal(region);
    release(buffer);
    // Who was asked for room before may have found no region that was sealed.
    if (table_.free_regions() < spare_regions_) events_.wants_room();
    return;
  }
  table_.give_up(region, failed, clock_.now_ns());
  try {
    events_.lost(region, records_of(buffer));
  } catch (const std::exception&) {  // what stays fails its checksum, and keeps the region
  }
  unmap(buffer);
  release(buffer);
  table_.let_go(region);
}

Status RegionWriter::write_tail(Buffer& buffer, Extent* failed) {
  const uint64_t region_bytes = geometry_.region_bytes;
  buffer.footer.encode(nonce_,
                       {buffer.bytes + region_bytes - RegionFooter::kBytes, RegionFooter::kBytes});
  for (uint64_t at = buffer.tail_at; at < region_bytes; at += kPieceBytes) {
    const uint64_t bytes = std::min(kPieceBytes, region_bytes - at);
    *failed = {geometry_.region_at(buffer.region) + at, bytes};
    if (Status status = write_one(buffer, at, bytes); !status.ok()) return status;
  }
  return ok_status();
}

// An exception is a failure: the buffer must not stay in use.
Status RegionWriter::write_one(const Buffer& buffer, uint64_t at, uint64_t bytes) {
  Status status(StatusCode::kInternal, "");
  try {
    status = medium_.write(geometry_.region_at(buffer.region) + at, {buffer.bytes + at, bytes});
  } catch (const std::exception&) {
  }
  events_.wrote(bytes, status);
  return status;
}

void RegionWriter::unmap(Buffer& buffer) {
  NVCACHE_ASSERT(table_.buffer(buffer.region).load() == buffer.number + 1);
  table_.buffer(buffer.region).store(0);
  // A reader copies one block, and nothing else.
  while (buffer.readers.load() != 0) std::this_thread::yield();
}

void RegionWriter::release(Buffer& buffer) {
  MutexLock lock(mutex_);
  NVCACHE_ASSERT(buffer.in_use && complete(buffer.cursor.load()));
  buffer.cursor.store(kClosed);
  buffer.in_use = false;
  ++buffer.releases;
  free_.push_back(buffer.number);
  free_count_.fetch_add(1, std::memory_order_relaxed);
  written_.notify_all();
}

}  // namespace nvcache
