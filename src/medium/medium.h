// The memory or device that cached blocks lie on: a flat range of bytes.
//
// Implementations and decorators: the rows of table.h.
// All methods are thread-safe as long as concurrent accesses touch disjoint
// extents; keeping them disjoint is the cache's work (pins and reservations).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "medium/read_queue.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct Extent {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

// How a reader gets at the bytes of a medium, the easiest way first. All that depends on it follows
// from this one answer.
enum class Reads : uint8_t {
  kInPlace,         // direct(): the bytes are as they were stored; not checked by default
  kInPlaceChecked,  // direct(); checksums are compared
  kInPlaceAsked,    // direct(), once on_direct_read() agreed: it charges, or may fail; the same
  kByCopy,          // read(), into memory of the reader's own: direct() is empty; the same
};

// How a medium on a device reads side by side.
enum class AsyncReads : uint8_t {
  kOff,      // it does not
  kThreads,  // by a few threads of its own
  kRing,     // by io_uring
  kModel,    // an emulated one on memory: as its model has it
};

struct Traits {
  std::string name;  // for statistics and messages: "dram", "numa:1", "file"
  Reads reads = Reads::kByCopy;
  bool persistent = false;  // bytes may outlive the process: verify them
  bool emulated = false;    // costs are emulated, not the hardware's own
  bool is_device = false;   // slow to write: a cache queues its writes
  uint32_t io_granularity_bytes =
      1;  // offsets, sizes and buffers of read/write are multiples of this
  uint32_t flush_granularity_bytes = 1;
  AsyncReads async = AsyncReads::kOff;
  std::string no_ring = {};  // why `async` is not io_uring, though that was asked for
};

class Medium {
 public:
  virtual ~Medium() = default;

  virtual uint64_t size_bytes() const = 0;
  virtual const Traits& traits() const = 0;

  // Copies into.size() bytes at `offset` out of the medium.
  // OUT_OF_RANGE past the end; DATA_LOSS or UNAVAILABLE when the device fails.
  [[nodiscard]] virtual Status read(uint64_t offset, MutableBytes into) = 0;

  // A queue of reads for the caller alone, until it is destroyed; it must not outlive the medium.
  // Null where reads go on one after the other, or without memory.
  virtual TakenReadQueue take_read_queue() noexcept { return nullptr; }

  // Copies `from` to `offset`. May become durable before flush().
  // RESOURCE_EXHAUSTED when the device is full, else as read().
  [[nodiscard]] virtual Status write(uint64_t offset, ByteView from) = 0;

  // Starts making an extent durable; after drain() all earlier flushes are.
  [[nodiscard]] virtual Status flush(Extent) { return ok_status(); }
  [[nodiscard]] virtual Status drain() { return ok_status(); }

  // All bytes in place up to the largest size, valid until the medium is destroyed
  // (resize() included); empty where reads are by copy. Bytes past
  // size_bytes() must not be touched.
  virtual ByteView direct() const { return {}; }

  // Called before an extent of direct() is read in place: a decorator charges what
  // the access costs, and a mapped file checks that the bytes can still be read
  // (DATA_LOSS or UNAVAILABLE: do not touch them). A no-op where neither is needed.
  [[nodiscard]] virtual Status on_direct_read(Extent) { return ok_status(); }

  // Called after bytes of direct() were stored in place that no flush will follow: a
  // decorator charges what their way to the medium costs. A no-op elsewhere.
  virtual void on_direct_write(Extent) {}

  // The bytes of an extent are not needed: the medium may give their space back. Until they are
  // written again a read may return anything there, also what was discarded, and also after a
  // crash; a write may find no space. UNIMPLEMENTED if the medium cannot do that.
  [[nodiscard]] virtual Status discard(Extent) {
    return unimplemented_error("this medium cannot give space back while it is open");
  }

  // Gives space back to, or takes it from, the system; bytes below the smaller
  // of the two sizes keep their contents. At most the `max_size_bytes` given at
  // open (OUT_OF_RANGE); RESOURCE_EXHAUSTED when the system has no more.
  [[nodiscard]] virtual Status resize(uint64_t size_bytes) = 0;
};

struct MediumOptions {
  uint64_t size_bytes = 0;
  uint64_t max_size_bytes = 0;           // how far resize() may grow it; address space only
  bool keep_file = false;                // a file that the medium creates stays when it is closed
  AsyncReads async = AsyncReads::kRing;  // of a device; threads where the system has no io_uring
};

// Opens the medium that `spec` names, such as "dram" or "file:PATH,io=direct": see the rows of
// medium/table.h.
// INVALID_ARGUMENT names what was wrong in `spec` and what is allowed;
// RESOURCE_EXHAUSTED (ENOSPC, no memory) and other failures name path and cause.
// `clock` is charged by emulated media and must outlive the medium.
[[nodiscard]] StatusOr<std::unique_ptr<Medium>> open_medium(std::string_view spec,
                                                            const MediumOptions& options,
                                                            Clock& clock);

// Whether `spec` names an emulated medium, by either word. It need not be a right one.
bool names_emulated_medium(std::string_view spec);

// Whether `spec` names a medium at all, without opening it; INVALID_ARGUMENT as above.
[[nodiscard]] Status check_medium(std::string_view spec);

}  // namespace nvcache
