#include "experiments/simulate/keys.h"

#include <algorithm>

#include "base/exact_math.h"
#include "experiments/workload/key_chooser.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kScrambledItems = 10'000'000'000;  // YCSB's ScrambledZipfianGenerator
constexpr double kScrambledZeta = 26.46902820178302;

constexpr uint32_t kMostScanRows = 100;  // YCSB's maxscanlength
constexpr double kTheta = 0.99;          // YCSB's ZIPFIAN_CONSTANT

double sum_of_zeta(uint64_t items) {
  double sum = 0;
  for (uint64_t i = 1; i <= items; ++i) sum += exact_pow(static_cast<double>(i), -kTheta);
  return sum;
}

Ranks ranks_of(const WorkloadRow& workload, uint64_t whole_records) {
  if (workload.popularity != Popularity::kLatest) return {kScrambledItems + 1, kScrambledZeta};
  return {whole_records, zeta_of(whole_records)};
}

uint64_t share_of_range(uint64_t hash, uint64_t range) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * range) >> 64);
}

}  // namespace

// Of so many items that summing them takes too long the first are summed; the
// rest is Euler and Maclaurin's.
double zeta_of(uint64_t items) {
  constexpr uint64_t kSummed = 10'000;
  if (items <= kSummed) return sum_of_zeta(items);
  const auto from = static_cast<double>(kSummed);
  const auto to = static_cast<double>(items);
  const double power = 1 - kTheta;
  const double integral = (exact_pow(to, power) - exact_pow(from, power)) / power;
  return sum_of_zeta(kSummed) + integral + (exact_pow(to, -kTheta) - exact_pow(from, -kTheta)) / 2;
}

Ranks::Ranks(uint64_t items, double zeta_of_items)
    : items_(static_cast<double>(items)), zeta_(zeta_of_items) {
  const double both = sum_of_zeta(2);
  eta_ = (1 - exact_pow(2 / items_, 1 - kTheta)) / (1 - both / zeta_);
  second_ = both;
}

uint64_t Ranks::next(Prng& prng) const {
  const double u = prng.unit();
  if (u * zeta_ < 1) return 0;
  if (u * zeta_ < second_) return 1;
  const double rank = items_ * exact_pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta));
  // Rounding can reach `items` itself when u is next to 1.
  return static_cast<uint64_t>(std::min(rank, items_ - 1));
}

Keys::Keys(const WorkloadRow& workload, uint32_t pages, uint32_t scale)
    : workload_(workload),
      scale_(scale),
      loaded_pages_(pages),
      asked_pages_(pages - static_cast<uint32_t>(workload.scanned.share * pages)),
      loaded_records_(uint64_t{asked_pages_} * workload.records_per_page),
      grows_(workload.insert > 0 || workload.throttled.inserting > 0),
      ranks_(ranks_of(workload, loaded_records_ * scale)),
      records_(loaded_records_) {}

PageOperation Keys::next(Prng& prng) { return next(next_type(prng), prng); }

PageOperation Keys::next(OpType type, Prng& prng) {
  PageOperation op;
  op.type = type;
  if (op.type == OpType::kInsert) {
    if (workload_.appends) {
      append(&op);
    } else {
      insert(&op);
    }
    return op;
  }
  place(existing(prng), &op);
  if (op.type == OpType::kScan) {
    op.rows = 1 + static_cast<uint32_t>(prng.below(kMostScanRows));
    const uint32_t rows = workload_.records_per_page;
    op.pages = (op.part * rows / kRecordParts + op.rows + rows - 1) / rows;
    op.row_parts = std::min(op.rows / op.pages * kRecordParts / rows + 1, kRecordParts);
  }
  return op;
}

PageOperation Keys::scanned(uint64_t number) const {
  const uint64_t rows = scanned_rows();
  const uint64_t apart = workload_.scanned.rows_apart;
  // Of `apart` passes, the first rows % apart have one row more.
  const uint64_t longer = rows % apart;
  const uint64_t shorter_rows = rows / apart;
  const uint64_t in_longer = longer * (shorter_rows + 1);
  const bool is_in_longer = number < in_longer;
  const uint64_t pass_rows = shorter_rows + (is_in_longer ? 1 : 0);
  const uint64_t from = is_in_longer ? number : number - in_longer;
  const uint64_t pass = from / pass_rows + (is_in_longer ? 0 : longer);
  const uint64_t row = from % pass_rows * apart + pass;
  PageOperation op;
  op.page = asked_pages_ + static_cast<uint32_t>(row / workload_.records_per_page);
  op.part = static_cast<uint32_t>(row % workload_.records_per_page) * kRecordParts /
            workload_.records_per_page;
  return op;
}

OpType Keys::next_type(Prng& prng) const {
  const double draw = prng.unit();
  if (draw < workload_.read) return OpType::kRead;
  if (draw < workload_.read + workload_.update) return OpType::kUpdate;
  if (draw < workload_.read + workload_.update + workload_.insert) return OpType::kInsert;
  return workload_.scan > 0 ? OpType::kScan : OpType::kRead;
}

uint64_t Keys::existing(Prng& prng) const {
  switch (workload_.popularity) {
    case Popularity::kZipfian:
      return ycsb_hash(ranks_.next(prng) / scale_) % loaded_records_;
    case Popularity::kLatest:
      return records_ - 1 - std::min(ranks_.next(prng) / scale_, records_ - 1);
    case Popularity::kPareto:
      return pareto(prng);
    case Popularity::kUniform:
      break;
  }
  return prng.below(records_);
}

// wtperf's pareto() at 20%: shape 1.5; what lies beyond the end is the first record.
uint64_t Keys::pareto(Prng& prng) const {
  constexpr double kShape = 1.5;
  const double scale = static_cast<double>(loaded_records_) * 0.2 * (kShape - 1);
  const double record = (exact_pow(1 - prng.unit(), -1 / kShape) - 1) * scale;
  return record < static_cast<double>(loaded_records_) ? static_cast<uint64_t>(record) : 0;
}

void Keys::place(uint64_t record, PageOperation* op) const {
  const uint64_t hash = mix64(record);
  op->part = static_cast<uint32_t>((hash >> 1) % kRecordParts);
  if (workload_.popularity == Popularity::kPareto) {
    op->page = static_cast<uint32_t>(record / workload_.records_per_page);
    return;
  }
  if (workload_.appends && record >= loaded_records_) {
    const uint64_t page = (record - loaded_records_) / workload_.records_per_page;
    op->page = loaded_pages_ + static_cast<uint32_t>(std::min<uint64_t>(page, splits_ - 1));
    return;
  }
  op->page = static_cast<uint32_t>(share_of_range(hash, asked_pages_));
  // Half of a page's records moved when it split.
  if (!workload_.appends && op->page < splits_ && (hash & 1) != 0) op->page += loaded_pages_;
}

void Keys::insert(PageOperation* op) {
  const uint64_t record = records_++;
  if ((records_ - loaded_records_) % workload_.records_per_page != 0 || splits_ == loaded_pages_) {
    place(record, op);
    return;
  }
  op->splits = true;
  op->page = splits_;
  op->new_page = loaded_pages_ + splits_;
  ++splits_;
}

// Behind the last record; on a new page once the last one is full, as long as there may be more.
void Keys::append(PageOperation* op) {
  const uint64_t number = records_++ - loaded_records_;
  if (number % workload_.records_per_page == 0 && splits_ < loaded_pages_) {
    op->splits = true;
    op->new_page = loaded_pages_ + splits_++;
  }
  place(records_ - 1, op);
}

}  // namespace nvcache::simulate
