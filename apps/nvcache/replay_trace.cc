#include "apps/nvcache/replay_trace.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <new>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include "apps/command/interrupt.h"
#include "apps/trace/trace_reader.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

constexpr size_t kBatchLookups = 1 << 16;

Status no_memory() {
  return resource_exhausted_error(
      "no memory for the blocks; leave --spec optimal out, or take smaller tiers");
}

// Calls run(i) for each i below `count`, on so many threads, or fewer if there are no more. The
// first error that it returns.
template <typename Run>
Status in_parallel(unsigned threads, size_t count, Run run) {
  std::atomic<size_t> next{0};
  std::vector<Status> results(count);
  const auto work = [&] {
    for (size_t i = 0; (i = next.fetch_add(1)) < count;) {
      try {
        results[i] = run(i);
      } catch (const std::bad_alloc&) {
        results[i] = no_memory();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned i = 1; i < std::min<size_t>(threads, count); ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // this thread does the rest
    }
    work();
  }
  for (Status& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return ok_status();
}

// One cache of the table.
struct Cell {
  size_t row = 0;
  size_t column = 0;
  std::unique_ptr<TierReplay> cache;  // null: the optimum
};

class Replay {
 public:
  Replay(const std::string& path, const ReplayPlan& plan, const ReplayProgress& progress)
      : path_(path), plan_(plan), progress_(progress) {
    table_.trace = path.substr(path.rfind('/') + 1);
  }

  StatusOr<ReplayTable> run() {
    const uint64_t start_ns = system_clock().now_ns();
    const std::clock_t start_cpu = std::clock();
    if (Status status = count_blocks(); !status.ok()) return status;
    if (Status status = open_caches(); !status.ok()) return status;
    if (Status status = replay_all(); !status.ok()) return status;
    if (Status status = find_optimum(); !status.ok()) return status;
    for (const Cell& cell : cells_) {
      if (cell.cache) table_.rows[cell.row][cell.column] = cell.cache->result();
    }
    table_.seconds = static_cast<double>(system_clock().now_ns() - start_ns) * 1e-9;
    table_.cpu_seconds = static_cast<double>(std::clock() - start_cpu) / CLOCKS_PER_SEC;
    return std::move(table_);
  }

 private:
  // Calls visit(accesses) for each part of the trace.
  template <typename Visit>
  Status read_trace(std::string_view what, Visit visit) {
    auto trace = TraceReader::open(path_, plan_.trace);
    if (!trace.ok()) return trace.status();
    table_.format = (*trace)->format();
    std::vector<Access> accesses;
    for (bool more = true; more;) {
      if (Status status = check_not_interrupted(); !status.ok()) return status;
      accesses.clear();
      const StatusOr<bool> read = (*trace)->read(&accesses);
      if (!read.ok()) return read.status();
      more = *read;
      if (Status status = visit(accesses); !status.ok()) return status;
      progress_(what, (*trace)->share_read());
    }
    table_.cut_short = (*trace)->cut_short();
    Decoder::Skipped skipped = (*trace)->skipped();
    table_.skipped_lines = skipped.lines;
    table_.first_skipped = std::move(skipped.first);
    return ok_status();
  }

  Status count_blocks() {
    const auto is_share = [](const ReplaySize& size) { return size.percent > 0; };
    const bool counts = is_share(plan_.dram) || std::ranges::any_of(plan_.tiers, is_share);
    if (counts && path_ == "-") {
      return invalid_argument(
          "standard input is read once; allowed: --dram and --tier in blocks, not in percent");
    }
    if (counts) {
      std::unordered_set<uint64_t> distinct;
      Status status = read_trace("counting blocks", [&](const std::vector<Access>& accesses) {
        for (const Access& access : accesses) distinct.insert(access.key);
        return ok_status();
      });
      if (!status.ok()) return status;
      table_.distinct = distinct.size();
      if (distinct.empty()) return invalid_argument("{}: holds no access", path_);
    }
    table_.dram_blocks = plan_.dram.blocks_of(table_.distinct);
    for (const ReplaySize& size : plan_.tiers) {
      const uint64_t blocks = size.blocks_of(table_.distinct);
      if (blocks < TierReplay::kLeastBlocks) {
        return invalid_argument(
            "--tier {}: {} blocks of {}{}; allowed: at least {}", size.text, blocks, table_.trace,
            counts ? fmt::format(", which has {}", table_.distinct) : "", TierReplay::kLeastBlocks);
      }
      table_.tier_blocks.push_back(blocks);
    }
    return ok_status();
  }

  Status open_caches() {
    table_.rows.assign(plan_.specs.size(), std::vector<ReplayResult>(plan_.tiers.size()));
    for (size_t row = 0; row < plan_.specs.size(); ++row) {
      for (size_t column = 0; column < plan_.tiers.size(); ++column) {
        Cell cell{.row = row, .column = column, .cache = nullptr};
        if (plan_.specs[row] == kOptimal) {
          keeps_lookups_ = true;
        } else {
          auto cache =
              TierReplay::open(plan_.specs[row], table_.tier_blocks[column], plan_.block_bytes);
          if (!cache.ok()) return cache.status();
          cell.cache = *std::move(cache);
        }
        cells_.push_back(std::move(cell));
      }
    }
    return ok_status();
  }

  Status replay_all() {
    LruKeys dram(table_.dram_blocks);
    Status status = read_trace("replaying", [&](const std::vector<Access>& accesses) {
      table_.accesses += accesses.size();
      for (const Access& access : accesses) {
        if (!dram.lookup(access.key)) batch_.push_back(access);
      }
      return batch_.size() < kBatchLookups ? ok_status() : replay_batch();
    });
    return status.ok() ? replay_batch() : status;
  }

  Status replay_batch() {
    table_.lookups += batch_.size();
    if (keeps_lookups_) lookups_.insert(lookups_.end(), batch_.begin(), batch_.end());
    Status status = in_parallel(plan_.threads, cells_.size(), [&](size_t i) {
      if (interrupted() || !cells_[i].cache) return check_not_interrupted();
      return cells_[i].cache->run(batch_);
    });
    batch_.clear();
    return status;
  }

  Status find_optimum() {
    if (!keeps_lookups_) return ok_status();
    progress_("the optimum", 0);
    return in_parallel(plan_.threads, cells_.size(), [&](size_t i) -> Status {
      const Cell& cell = cells_[i];
      if (interrupted() || cell.cache) return check_not_interrupted();
      const uint64_t blocks = table_.tier_blocks[cell.column];
      table_.rows[cell.row][cell.column] = replay_optimal(lookups_, blocks);
      return ok_status();
    });
  }

  const std::string& path_;
  const ReplayPlan& plan_;
  const ReplayProgress& progress_;
  ReplayTable table_;
  std::vector<Cell> cells_;
  std::vector<Access> batch_;
  bool keeps_lookups_ = false;
  std::vector<Access> lookups_;  // of the whole trace, for the optimum
};

}  // namespace

uint64_t ReplaySize::blocks_of(uint64_t distinct) const {
  if (percent == 0) return blocks;
  return static_cast<uint64_t>(std::llround(percent / 100 * static_cast<double>(distinct)));
}

StatusOr<ReplaySize> parse_replay_size(std::string_view option, std::string_view text) {
  ReplaySize size{.text = std::string(text)};
  const bool is_share = text.ends_with('%');
  if (is_share) text.remove_suffix(1);
  const double most = is_share ? 100 : 1e12;
  const StatusOr<double> number = parse_number(option, text, 0, most);
  if (!number.ok() || (!is_share && *number != std::floor(*number))) {
    return invalid_argument(
        "{} '{}'; allowed: a share of the trace's distinct blocks, such as 5%, or a number of "
        "blocks",
        option, shown(size.text));
  }
  if (is_share) {
    size.percent = *number;
  } else {
    size.blocks = static_cast<uint64_t>(*number);
  }
  return size;
}

StatusOr<ReplayTable> replay_trace(const std::string& path, const ReplayPlan& plan,
                                   const ReplayProgress& progress) try {
  return Replay(path, plan, progress).run();
} catch (const std::bad_alloc&) {
  return no_memory();
}

}  // namespace nvcache
