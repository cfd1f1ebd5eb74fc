#include "experiments/engines/emulated_storage.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/never_destroyed.h"
#include "base/text.h"
#include "medium/profiles.h"
#include "rocksdb/version.h"

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::FSRandomAccessFile;
using ::rocksdb::FSReadRequest;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;

#if ROCKSDB_MAJOR >= 8
using AsyncDone = std::function<void(FSReadRequest&, void*)>;
#else
using AsyncDone = std::function<void(const FSReadRequest&, void*)>;
#endif

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMaxLeadNs = 60'000;
constexpr uint64_t kLeadStepNs = 500;

// By how much a thread asks to be woken before its time: follows the median of how
// late the kernel is, step by step.
class Lead {
 public:
  Lead() {
    // The kernel may else put timers off by 50 us to handle several at once.
    ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  }
  uint64_t ns() const { return lead_ns_; }
  void learn(bool was_late) {
    if (was_late) {
      lead_ns_ = std::min(lead_ns_ + kLeadStepNs, kMaxLeadNs);
    } else {
      lead_ns_ -= std::min(lead_ns_, kLeadStepNs);
    }
  }

 private:
  uint64_t lead_ns_ = 0;
};

class SleepingClock final : public Clock {
 public:
  uint64_t now_ns() const override { return system_clock().now_ns(); }

  void wait_until_ns(uint64_t when_ns) override {
    thread_local Lead lead;
    if (now_ns() >= when_ns) return;
    const uint64_t wake_ns = when_ns - std::min(when_ns, lead.ns());
    if (now_ns() < wake_ns) {
      sleep_until(wake_ns);
      lead.learn(now_ns() > when_ns);
    }
    while (now_ns() < when_ns) ::sched_yield();
  }

 private:
  // now_ns() is CLOCK_MONOTONIC's.
  static void sleep_until(uint64_t when_ns) {
    const timespec when = {static_cast<time_t>(when_ns / kSecondNs),
                           static_cast<long>(when_ns % kSecondNs)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
    }
  }
};

class EmulatedFile final : public ::rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  EmulatedFile(std::unique_ptr<FSRandomAccessFile>&& inner, EmulatedStorage& storage)
      : FSRandomAccessFileOwnerWrapper(std::move(inner)), storage_(storage) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions& options, ::rocksdb::Slice* result,
                char* scratch, IODebugContext* debug) const override {
    const uint64_t start_ns = storage_.now_ns();
    const uint64_t done_ns = storage_.start_read(start_ns, size);
    IOStatus status = target()->Read(offset, size, options, result, scratch, debug);
    storage_.finish_read(start_ns, done_ns, status.ok() ? result->size() : 0);
    return status;
  }

  // All requests are under way at once.
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    const uint64_t start_ns = storage_.now_ns();
    uint64_t done_ns = start_ns;
    for (size_t i = 0; i < count; ++i) {
      done_ns = std::max(done_ns, storage_.start_read(start_ns, requests[i].len));
    }
    IOStatus status = target()->MultiRead(requests, count, options, debug);
    for (size_t i = 0; i < count; ++i) {
      const bool read = status.ok() && requests[i].status.ok();
      storage_.finish_read(start_ns, done_ns, read ? requests[i].result.size() : 0);
    }
    return status;
  }

  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("emulated storage: Prefetch");
  }

  // By Read() in the calling thread, not as the file below does it.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options, AsyncDone done,
                     void* argument, void** /*handle*/, ::rocksdb::IOHandleDeleter* /*deleter*/,
                     IODebugContext* debug) override {
    request.status =
        Read(request.offset, request.len, options, &request.result, request.scratch, debug);
    done(request, argument);
    return IOStatus::OK();
  }
#if ROCKSDB_MAJOR >= 11
  // False: it is done already.
  bool SubmitReadAsync(FSReadRequest& request, const IOOptions& options,
                       std::function<void(FSReadRequest&)> done, IODebugContext* debug) override {
    request.status =
        Read(request.offset, request.len, options, &request.result, request.scratch, debug);
    done(request);
    return false;
  }
#endif

 private:
  EmulatedStorage& storage_;
};

// Direct and mapped reads are for storage that is not emulated.
::rocksdb::FileOptions buffered(::rocksdb::FileOptions options) {
  options.use_direct_reads = false;
  options.use_mmap_reads = false;
  return options;
}

size_t stripe_of_thread(size_t stripes) {
  thread_local const size_t hash = std::hash<std::thread::id>()(std::this_thread::get_id());
  return (hash ^ (hash >> 12)) % stripes;
}

}  // namespace

Clock& sleeping_clock() {
  static NeverDestroyed<SleepingClock> clock;
  return *clock;
}

EmulatedStorage::EmulatedStorage(std::optional<Profile> profile,
                                 const std::shared_ptr<::rocksdb::FileSystem>& base, Clock& clock,
                                 double load)
    : FileSystemWrapper(base),
      name_(profile ? fmt::format("nvcache.emulated:{}{}", profile->name,
                                  load > 1 ? fmt::format(",load={:g}", load) : "")
                    : "nvcache.counted"),
      clock_(clock),
      emulated_(profile.has_value()) {
  MutexLock lock(mutex_);
  if (!profile) return;
  device_.emplace(Device{CostModel(*profile), OtherClients(load, profile->curve[0].read_gb_s)});
}

EmulatedStorage::~EmulatedStorage() = default;

IOStatus EmulatedStorage::NewRandomAccessFile(const std::string& name,
                                              const ::rocksdb::FileOptions& options,
                                              std::unique_ptr<FSRandomAccessFile>* file,
                                              IODebugContext* debug) {
  if (!std::string_view(name).ends_with(".sst")) {
    return target()->NewRandomAccessFile(name, options, file, debug);
  }
  std::unique_ptr<FSRandomAccessFile> inner;
  IOStatus status =
      target()->NewRandomAccessFile(name, emulated_ ? buffered(options) : options, &inner, debug);
  if (status.ok()) *file = std::make_unique<EmulatedFile>(std::move(inner), *this);
  return status;
}

uint64_t EmulatedStorage::start_read(uint64_t now_ns, uint64_t size_bytes) {
  if (!emulated_) return now_ns;
  MutexLock lock(mutex_);
  if (!device_) return now_ns;
  OtherClients& others = device_->others;
  const uint64_t start_ns = size_bytes <= kMaxLoadedBytes ? others.start_read(now_ns, size_bytes)
                                                          : others.free_at(now_ns);
  return device_->model.start_read(start_ns, size_bytes);
}

void EmulatedStorage::finish_read(uint64_t start_ns, uint64_t done_ns, uint64_t size_bytes) {
  if (emulated_) clock_.wait_until_ns(done_ns);
  const uint64_t end_ns = clock_.now_ns();
  Stripe& stripe = stripes_[stripe_of_thread(stripes_.size())];
  MutexLock lock(stripe.mutex);
  ++stripe.stats.reads;
  stripe.stats.read_bytes += size_bytes;
  stripe.stats.latency_ns.record(end_ns - start_ns);
}

StorageStats EmulatedStorage::take_stats() {
  StorageStats sum;
  for (Stripe& stripe : stripes_) {
    MutexLock lock(stripe.mutex);
    sum.reads += stripe.stats.reads;
    sum.read_bytes += stripe.stats.read_bytes;
    sum.latency_ns.merge(stripe.stats.latency_ns);
    stripe.stats = StorageStats();
  }
  return sum;
}

}  // namespace nvcache::rocksdb
