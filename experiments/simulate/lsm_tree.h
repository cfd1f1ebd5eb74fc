// How much RocksDB's leveled compaction reads and writes in one database, and which blocks get new
// names by it. RocksDB's defaults:
//
//   memtable     64 MiB; a full one is flushed to level 0. Two at most: while both are full, puts
//                wait
//   level 0      4 flushed files are merged with all of level 1; from 36 on puts wait
//   level i      of 256 MiB * 10^(i-1); what is beyond that moves on, in files of 64 MiB, each
//                merged with the files below that it overlaps: as many as that level is larger
//   the last     is as large as the data, and stays so: what comes replaces what was there
//
// In the beginning all levels are full, and of what moves on next a share is there: the phase, by
// which several databases are not in step. Pairs are read from where they lie on the last level,
// wherever their newest version is: the levels above hold a tenth of the data. Each merge into the
// last level replaces the files of a range of keys, one range after the other: blocks of the range
// get a new version, and cached ones of the old are of no use.
//
// Sizes are scaled. Amounts alone: when they are read and written is the caller's. Caller-locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvcache::simulate {

struct MergeJob {
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint32_t level0_files = 0;  // that it takes
};

class LsmTree {
 public:
  // `phase` in [0, 1).
  LsmTree(uint64_t data_bytes, uint64_t blocks, uint32_t scale, double phase = 0);

  uint64_t memtable_bytes() const { return memtable_bytes_; }
  // Enters a flushed memtable.
  void flushed() { ++level0_files_; }
  bool must_stop() const { return level0_files_ >= kLevel0Stop; }

  bool has_job() const;
  // One that has_job() saw: the lowest level's first. Others may be taken while it is under way.
  MergeJob take_job();
  // Of one that was taken, when it is done.
  void finish(const MergeJob& job);

  uint32_t version_of(uint64_t block) const { return versions_[block]; }
  uint32_t levels() const { return static_cast<uint32_t>(sizes_.size()); }  // without level 0

 private:
  static constexpr uint32_t kLevel0Trigger = 4;
  static constexpr uint32_t kLevel0Stop = 36;

  MergeJob merge_level0();
  MergeJob merge_level(size_t level);
  void replace_blocks(uint64_t merged_bytes);

  const uint64_t memtable_bytes_;
  const uint64_t file_bytes_;
  std::vector<uint64_t> sizes_;   // of level 1 and those below, full
  std::vector<uint64_t> beyond_;  // what each has beyond its size
  uint32_t level0_files_ = 0;
  bool level0_merging_ = false;
  std::vector<uint32_t> versions_;  // by block
  double next_block_ = 0;           // of the last level: where the next merge begins
};

}  // namespace nvcache::simulate
