#include "apps/nvcache/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "base/prng.h"
#include "base/start_thread.h"
#include "base/text.h"
#include "base/virtual_clock.h"

namespace nvcache {
namespace {

constexpr uint64_t kMillisecond_ns = 1'000'000;
constexpr uint64_t kSecond_ns = 1000 * kMillisecond_ns;
constexpr uint64_t kProbeReads = 16;
constexpr uint64_t kReadsPerPoint = 2000;  // of a reader that runs alone
constexpr uint32_t kBufferAlignment = 4096;
constexpr uint64_t kWarmUpParts = 4;  // the warm-up of a point is a quarter of its length

struct FreeBuffer {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<std::byte[], FreeBuffer>;

Buffer make_buffer(uint32_t block_bytes) {
  const size_t size_bytes =
      (size_t{block_bytes} + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, size_bytes));
  std::fill(bytes, bytes + size_bytes, std::byte{0x5a});
  return Buffer(bytes);
}

// One thread's work, and its measurements.
struct Worker {
  bool writes = false;
  uint64_t first_block = 0;
  uint64_t blocks = 0;
  uint64_t seed = 0;

  uint64_t accesses = 0;
  uint64_t latency_sum_ns = 0;
  Status status;
};

struct Window {
  uint64_t begin_ns;
  uint64_t end_ns;
};

class MediumBench {
 public:
  MediumBench(Medium& medium, Clock& clock, const CalibrationOptions& options)
      : medium_(medium),
        clock_(clock),
        virtual_clock_(dynamic_cast<VirtualClock*>(&clock)),
        options_(options),
        blocks_per_thread_(medium.size_bytes() / options.block_bytes /
                           (options.readers + options.max_writers)) {}

  bool virtual_time() const { return virtual_clock_ != nullptr; }

  Status fill();
  StatusOr<uint64_t> point_ns();
  StatusOr<CalibrationPoint> measure(uint32_t writers, uint64_t point_ns);

 private:
  std::vector<Worker> make_workers(uint32_t writers) const;
  void run(Worker& worker, const Window& window);
  Status access(const Worker& worker, uint64_t block, std::byte* buffer);

  Medium& medium_;
  Clock& clock_;
  VirtualClock* const virtual_clock_;
  const CalibrationOptions options_;
  const uint64_t blocks_per_thread_;
  std::atomic<bool> failed_{false};
};

// Writes every block once. Reading a page or an extent that was never written may not touch the
// medium at all.
Status MediumBench::fill() {
  const Buffer buffer = make_buffer(options_.block_bytes);
  const uint64_t blocks = blocks_per_thread_ * (options_.readers + options_.max_writers);
  for (uint64_t block = 0; block < blocks; ++block) {
    Status status =
        medium_.write(block * options_.block_bytes, ByteView(buffer.get(), options_.block_bytes));
    if (!status.ok()) return status;
  }
  if (Status status = medium_.drain(); !status.ok()) return status;
  // The emulated medium forgets these writes before the first point.
  if (virtual_time()) clock_.wait_until_ns(clock_.now_ns() + kSecond_ns);
  return ok_status();
}

StatusOr<uint64_t> MediumBench::point_ns() {
  if (options_.point_ns > 0) return options_.point_ns;
  if (!virtual_time()) return kSecond_ns;
  const Buffer buffer = make_buffer(options_.block_bytes);
  const uint64_t start_ns = clock_.now_ns();
  for (uint64_t i = 0; i < kProbeReads; ++i) {
    const uint64_t block = i % blocks_per_thread_;
    Status status = medium_.read(block * options_.block_bytes,
                                 MutableBytes(buffer.get(), options_.block_bytes));
    if (!status.ok()) return status;
  }
  const uint64_t read_ns = (clock_.now_ns() - start_ns) / kProbeReads;
  return std::clamp(kReadsPerPoint * read_ns, 10 * kMillisecond_ns, kSecond_ns);
}

std::vector<Worker> MediumBench::make_workers(uint32_t writers) const {
  std::vector<Worker> workers(options_.readers + writers);
  for (size_t i = 0; i < workers.size(); ++i) {
    workers[i].writes = i >= options_.readers;
    workers[i].first_block = i * blocks_per_thread_;
    workers[i].blocks = blocks_per_thread_;
    workers[i].seed = mix64(options_.seed + i);
  }
  return workers;
}

StatusOr<CalibrationPoint> MediumBench::measure(uint32_t writers, uint64_t point_ns) {
  std::vector<Worker> workers = make_workers(writers);
  const uint64_t begin_ns = clock_.now_ns() + point_ns / kWarmUpParts;
  const Window window{begin_ns, begin_ns + point_ns};
  enum class Begin : uint8_t { kWait, kRun, kEnd };
  std::atomic<Begin> begin{Begin::kWait};  // all of them run, or none
  std::vector<std::thread> threads(workers.size());
  Status started;
  for (size_t i = 0; i < workers.size() && started.ok(); ++i) {
    started = start_thread(&threads[i], [this, &workers, &window, &begin, i] {
      begin.wait(Begin::kWait);
      if (begin == Begin::kEnd) return;
      std::optional<VirtualClock::Participant> seat;
      if (virtual_time()) seat.emplace(*virtual_clock_, i);
      run(workers[i], window);
    });
  }
  if (started.ok() && virtual_time()) virtual_clock_->expect(workers.size());
  begin = started.ok() ? Begin::kRun : Begin::kEnd;
  begin.notify_all();
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  if (!started.ok()) return started;

  CalibrationPoint point{.writers = writers};
  uint64_t latency_sum_ns = 0;
  for (const Worker& worker : workers) {
    if (!worker.status.ok()) return worker.status;
    (worker.writes ? point.writes : point.reads) += worker.accesses;
    if (!worker.writes) latency_sum_ns += worker.latency_sum_ns;
  }
  const double block_per_ns =
      static_cast<double>(options_.block_bytes) / static_cast<double>(point_ns);
  point.read_gb_s = static_cast<double>(point.reads) * block_per_ns;
  point.write_gb_s = static_cast<double>(point.writes) * block_per_ns;
  if (point.reads > 0) {
    point.read_latency_ns = static_cast<double>(latency_sum_ns) / static_cast<double>(point.reads);
  }
  return point;
}

void MediumBench::run(Worker& worker, const Window& window) {
  const Buffer buffer = make_buffer(options_.block_bytes);
  Prng random(worker.seed);
  uint64_t now_ns = clock_.now_ns();
  while (now_ns < window.end_ns && !failed_.load(std::memory_order_relaxed)) {
    const uint64_t started_ns = now_ns;
    worker.status = access(worker, worker.first_block + random.below(worker.blocks), buffer.get());
    if (!worker.status.ok()) {
      failed_.store(true, std::memory_order_relaxed);
      return;
    }
    now_ns = clock_.now_ns();
    if (now_ns < window.begin_ns || now_ns >= window.end_ns) continue;
    ++worker.accesses;
    worker.latency_sum_ns += now_ns - started_ns;
  }
}

Status MediumBench::access(const Worker& worker, uint64_t block, std::byte* buffer) {
  const uint64_t offset = block * options_.block_bytes;
  if (worker.writes) return medium_.write(offset, ByteView(buffer, options_.block_bytes));
  return medium_.read(offset, MutableBytes(buffer, options_.block_bytes));
}

Status check_options(const Medium& medium, const Clock& clock, const CalibrationOptions& options) {
  const Traits& traits = medium.traits();
  if (options.readers == 0 || options.max_writers == 0) {
    return invalid_argument("calibrate: {} readers and {} writers; allowed: at least 1 of each",
                            options.readers, options.max_writers);
  }
  if (options.block_bytes == 0 || options.block_bytes % traits.io_granularity_bytes != 0) {
    return invalid_argument("calibrate: block of {} bytes; allowed on {}: multiples of {}",
                            options.block_bytes, traits.name, traits.io_granularity_bytes);
  }
  const uint64_t needed_bytes =
      uint64_t{options.readers + options.max_writers} * options.block_bytes;
  if (medium.size_bytes() < needed_bytes) {
    return invalid_argument(
        "calibrate: size {}; allowed: at least {} bytes, a block for each of {} threads",
        medium.size_bytes(), needed_bytes, options.readers + options.max_writers);
  }
  if (dynamic_cast<const VirtualClock*>(&clock) != nullptr && !traits.emulated) {
    return invalid_argument("calibrate: virtual time on {}; allowed: emulated media only",
                            traits.name);
  }
  return ok_status();
}

std::vector<uint32_t> writer_counts(uint32_t max_writers) {
  std::vector<uint32_t> counts{0};
  for (uint32_t writers = 1; writers < max_writers; writers *= 2) counts.push_back(writers);
  counts.push_back(max_writers);
  return counts;
}

std::vector<std::string> make_notes(const Traits& traits, bool virtual_time,
                                    const CalibrationOptions& options) {
  std::vector<std::string> notes;
  if (traits.emulated)
    notes.emplace_back("emulated: costs are those of docs/design/model.md, not measured");
  if (virtual_time) {
    notes.emplace_back("virtual time: deterministic, independent of this machine");
    return notes;
  }
  const uint32_t threads = options.readers + options.max_writers;
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (threads > cores && (!traits.is_device || traits.emulated)) {
    notes.push_back(fmt::format(
        "up to {} threads share {} cores: readers also lose core time to writers", threads, cores));
  }
  if (!traits.emulated && traits.persistent && !traits.is_device) {
    notes.emplace_back("through the page cache (except on DAX): io=direct measures the device");
  }
  return notes;
}

Status report(const CalibrationOptions& options, const std::string& step) {
  return options.progress ? options.progress(step) : ok_status();
}

}  // namespace

StatusOr<CalibrationResult> calibrate(Medium& medium, Clock& clock,
                                      const CalibrationOptions& options) {
  if (Status status = check_options(medium, clock, options); !status.ok()) return status;
  MediumBench bench(medium, clock, options);
  const Traits& traits = medium.traits();
  CalibrationResult result{.medium = traits.name,
                           .emulated = traits.emulated,
                           .virtual_time = bench.virtual_time(),
                           .readers = options.readers,
                           .block_bytes = options.block_bytes,
                           .points = {},
                           .notes = make_notes(traits, bench.virtual_time(), options)};
  if (Status status = report(options, "filling the medium"); !status.ok()) return status;
  if (Status status = bench.fill(); !status.ok()) return status;
  const StatusOr<uint64_t> point_ns = bench.point_ns();
  if (!point_ns.ok()) return point_ns.status();
  for (const uint32_t writers : writer_counts(options.max_writers)) {
    const std::string step = fmt::format("{} readers, {} writers", options.readers, writers);
    if (Status status = report(options, step); !status.ok()) return status;
    const auto point = bench.measure(writers, *point_ns);
    if (!point.ok()) return point.status();
    result.points.push_back(*point);
  }
  result.suggested_obp_target = suggest_obp_target(result.points);
  return result;
}

double suggest_obp_target(const std::vector<CalibrationPoint>& points) {
  if (points.empty() || points.front().read_gb_s <= 0) return kLowestObpTarget;
  const double kept_gb_s = kKeptReadShare * points.front().read_gb_s;
  for (size_t i = 1; i < points.size(); ++i) {
    const CalibrationPoint& before = points[i - 1];
    const CalibrationPoint& after = points[i];
    if (after.read_gb_s >= kept_gb_s) continue;
    if (after.read_gb_s <= 0) return kLowestObpTarget;
    const double share =
        std::log(before.read_gb_s / kept_gb_s) / std::log(before.read_gb_s / after.read_gb_s);
    const double written_gb_s = before.write_gb_s + share * (after.write_gb_s - before.write_gb_s);
    return std::clamp(written_gb_s / kept_gb_s, kLowestObpTarget, kHighestObpTarget);
  }
  return kHighestObpTarget;
}

}  // namespace nvcache
