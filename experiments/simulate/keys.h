// Operations of a workload on a scaled dataset, page by page.
//
// Records lie on pages by a hash of their number, as YCSB's hashed keys scatter them over a B-tree.
// (With wtperf's pareto they lie in order, so that hot ones share pages.)
//
// Scale S: there is 1/S of the records. YCSB's zipfian draws a rank out of 10^10, whatever the
// number of records is, and hashes it onto a record (workload/key_chooser.cc). Fewer records alone
// would make the cached share of the accesses smaller. So S ranks in a row go to one record:
//
//   record = hash(rank / S) % records
//
// A record then has the accesses of S records, and among 1/S of them the same rank: the hottest x%
// have the share that they have in the whole dataset, and LRU finds as many of them. YCSB's latest
// draws an age out of the whole number of records, and is divided alike.
//
// Records that are inserted make pages split, one by one, until there are twice as many pages.
// Zipfian's ranks stay on the records that were loaded. (With wtperf, whose keys grow, they fill
// new pages behind the loaded ones instead. Its 100 tables are one here: what they fill at a time
// are few pages of many.) Pages of scanned tables are the last of the loaded ones; no other
// operation names them.
//
// The same seed, the same operations. Caller-locked.
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "experiments/simulate/tables.h"
#include "experiments/workload/ycsb.h"

namespace nvcache::simulate {

// A page's records lie on that many KiB, behind the first one, which has what finds them.
inline constexpr uint32_t kRecordParts = 27;

struct PageOperation {
  OpType type = OpType::kRead;
  uint32_t page = 0;       // the first
  uint32_t part = 0;       // where the record lies in it, below kRecordParts
  uint32_t pages = 1;      // one after the other, for scans
  uint32_t row_parts = 1;  // that the rows of one page take, for scans
  uint32_t rows = 1;
  bool splits = false;  // an insert that makes a page: `page` and `new_page` change
  uint32_t new_page = 0;
};

// The sum of 1 / i^0.99 for i from 1 to `items`.
double zeta_of(uint64_t items);

// workload/zipfian.h with exact_math.h: the same numbers on every machine.
class Ranks {
 public:
  Ranks(uint64_t items, double zeta_of_items);
  uint64_t next(Prng& prng) const;  // in [0, items)

 private:
  double items_;
  double zeta_;
  double eta_;
  double second_;  // where the second item ends
};

class Keys {
 public:
  // `pages`: of the scaled dataset. `workload` outlives this.
  Keys(const WorkloadRow& workload, uint32_t pages, uint32_t scale);

  PageOperation next(Prng& prng);  // of the workload's mix
  PageOperation next(OpType type, Prng& prng);
  // Of a scan of the scanned tables the row with that number, from 0 to scanned_rows() - 1.
  PageOperation scanned(uint64_t number) const;

  uint32_t pages() const { return loaded_pages_ + splits_; }
  uint64_t scanned_rows() const {
    return uint64_t{loaded_pages_ - asked_pages_} * workload_.records_per_page;
  }
  // That there can be in the end.
  uint32_t most_pages() const { return grows_ ? 2 * loaded_pages_ : loaded_pages_; }

 private:
  OpType next_type(Prng& prng) const;
  uint64_t existing(Prng& prng) const;
  uint64_t pareto(Prng& prng) const;
  void place(uint64_t record, PageOperation* op) const;
  void insert(PageOperation* op);
  void append(PageOperation* op);

  const WorkloadRow& workload_;
  const uint32_t scale_;
  const uint32_t loaded_pages_;
  const uint32_t asked_pages_;  // of the loaded ones, those before the scanned tables
  const uint64_t loaded_records_;
  const bool grows_;
  const Ranks ranks_;
  uint64_t records_;
  uint32_t splits_ = 0;
};

}  // namespace nvcache::simulate
