#include "block_cache/region/inspect.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "block_cache/region/region_head.h"
#include "block_cache/region/removal_list.h"
#include "nvcache/status.h"

namespace nvcache {
namespace {

constexpr uint64_t kKeySeed = 0x5bd1e9955bd1e995ull;  // of the hashes that tell keys apart
constexpr uint64_t kAll = ~uint64_t{0};
constexpr int kMostFailures = 16;  // one after the other: the medium is gone

using FooterBytes = std::array<std::byte, RegionFooter::kBytes>;

class Inspector {
 public:
  Inspector(const ReadMedium& read, uint64_t medium_bytes, const InspectOptions& options)
      : read_(read), options_(options) {
    found_.medium_bytes = medium_bytes;
    found_.blocks_read = options.read_blocks;
  }

  StatusOr<Inspection> run() {
    if (Status status = read_superblock(); !status.ok()) return status;
    read_list();
    if (Status status = read_footers(); !status.ok()) return status;
    for (size_t done = 0; done < footers_.size(); ++done) {
      if (Status status = tell("index", done, footers_.size()); !status.ok()) return status;
      if (Status status = read_region(footers_[done]); !status.ok()) return status;
    }
    finish();
    return std::move(found_);
  }

 private:
  const Geometry& geometry() const { return found_.superblock.geometry; }

  Status tell(std::string_view step, uint64_t done, uint64_t of) const {
    return options_.progress ? options_.progress(step, done, of) : ok_status();
  }

  // Not OK: the medium fails again and again. `good` says whether the bytes are there.
  Status read(uint64_t offset, MutableBytes into, bool* good) {
    const Status status = into.empty() ? ok_status() : read_(offset, into);
    *good = status.ok();
    failures_ = status.ok() ? 0 : failures_ + 1;
    return failures_ < kMostFailures ? ok_status() : status;
  }

  Status read_superblock() {
    std::optional<Superblock> newest;
    Status problem = not_found_error("no superblock of a cache in regions");
    for (size_t copy = 0; copy < found_.copies.size(); ++copy) {
      std::array<std::byte, Superblock::kBytes> bytes{};
      const uint64_t at = copy * Geometry::kCopyBytes;
      StatusOr<std::optional<Superblock>> decoded = std::optional<Superblock>();
      if (at + bytes.size() <= found_.medium_bytes) {
        const Status status = read_(at, bytes);
        decoded = status.ok() ? Superblock::decode(bytes) : status;
      }
      if (!decoded.ok()) {
        found_.copies[copy] = decoded.status().message();
        found_.copy_damaged = true;
        problem = decoded.status();
        if (is_failed_precondition(problem)) return problem;  // the other one is out of date
        continue;
      }
      const std::optional<Superblock>& whole = *decoded;
      found_.copies[copy] = whole ? fmt::format("whole, opening {}", whole->opening) : "none";
      if (whole && (!newest || newest->opening < whole->opening)) newest = whole;
    }
    if (!newest) return problem;
    found_.superblock = *newest;
    // An opening writes both.
    const bool one_is_none = std::ranges::count(found_.copies, "none") != 0;
    found_.copy_damaged = found_.copy_damaged || (one_is_none && newest->opening > 1);
    return ok_status();
  }

  // Reads the list in the way of RegionHead.
  void read_list() {
    const ReadMedium within = [this](uint64_t offset, MutableBytes into) -> Status {
      const uint64_t end = found_.medium_bytes;
      if (offset > end || end - offset < into.size()) return out_of_range_error("");
      return read_(offset, into);
    };
    list_ = read_removals(found_.superblock, kAll, within);
    found_.removed_list_damaged = list_.all_until() == kAll;
    for (const RemovalList::Place& each : list_.places()) {
      removed_.insert(removal(each.region, each.offset_grains));
    }
  }

  static uint64_t removal(uint32_t region, uint32_t offset_grains) {
    return uint64_t{region} << 32 | offset_grains;
  }
  bool is_outdated(uint32_t region) const {
    return std::ranges::any_of(list_.outdated(), [region](const RemovalList::Run& run) {
      return region >= run.first && region - run.first < run.count;
    });
  }
  bool is_removed(const BlockRecord& record, const InspectedRegion& region) const {
    return is_outdated_ || removed_.contains(removal(region.region, record.offset_grains)) ||
           list_.covers(record.key, region.sequence);
  }

  // Immutable keys bring back also what lies behind the regions of the last opening.
  Status read_footers() {
    const uint32_t there = geometry().regions_in(found_.medium_bytes);
    const uint32_t said = found_.superblock.regions;
    found_.region_count = said != 0 ? said : there;
    found_.missing_regions = found_.region_count - std::min(there, found_.region_count);
    const uint32_t known = std::min(there, found_.region_count);
    const uint32_t end = found_.superblock.immutable_keys ? there : known;
    for (uint32_t region = 0; region < end; ++region) {
      if (Status status = tell("footer", region, end); !status.ok()) return status;
      if (Status status = read_footer(region, region < known); !status.ok()) return status;
    }
    // The newest first, as a restart reads them.
    std::ranges::sort(footers_, std::greater<>(), &RegionFooter::sequence);
    return ok_status();
  }

  Status read_footer(uint32_t region, bool is_known) {
    FooterBytes bytes;
    bool good = false;
    if (Status status = read(footer_at(region), bytes, &good); !status.ok()) return status;
    const auto footer =
        good ? RegionFooter::decode_of(geometry(), found_.superblock.nonce, region, bytes)
             : std::nullopt;
    if (footer) {
      footers_.push_back(*footer);
      found_.region_count += is_known ? 0 : 1;
    } else if (is_known && !good) {
      add_damaged({.region = region});
    } else if (is_known) {
      add_free();
      found_.strange_footers += RegionFooter::resembles_one(bytes) ? 1 : 0;
    }
    return ok_status();
  }

  uint64_t footer_at(uint32_t region) const {
    return geometry().end_of(region) - RegionFooter::kBytes;
  }

  // Whether the footer is as it was: what was read before belongs to it.
  bool is_still(const RegionFooter& footer) {
    FooterBytes bytes;
    if (!read_(footer_at(footer.region), bytes).ok()) return true;
    const auto now =
        RegionFooter::decode_of(geometry(), found_.superblock.nonce, footer.region, bytes);
    return now && now->sequence == footer.sequence;
  }

  Status read_region(const RegionFooter& footer) {
    records_.resize(footer.count);
    const MutableBytes into(reinterpret_cast<std::byte*>(records_.data()),
                            records_.size() * sizeof(BlockRecord));
    const uint64_t at = geometry().end_of(footer.region) - RegionFooter::tail_bytes(footer.count);
    InspectedRegion region{.region = footer.region, .sequence = footer.sequence};
    is_outdated_ = is_outdated(footer.region);
    bool good = false;
    if (Status status = read(at, into, &good); !status.ok()) return status;
    if (!good || !is_whole(geometry(), found_.superblock.nonce, footer, records_)) {
      is_still(footer) ? add_damaged(region) : add_free();
      return ok_status();
    }
    if (options_.read_blocks) {
      if (Status status = check_blocks(&region); !status.ok()) return status;
    }
    if (region.damaged_blocks != 0 && !is_still(footer)) {
      add_free();
      return ok_status();
    }
    for (const BlockRecord& record : records_) {
      if (record.size_bytes != 0) count(record, &region);
    }
    found_.damaged_blocks += region.damaged_blocks;
    found_.regions.push_back(region);
    return ok_status();
  }

  // Checks the blocks that are neither listed as removed nor replaced in a newer region.
  Status check_blocks(InspectedRegion* region) {
    for (const BlockRecord& record : records_) {
      if (record.size_bytes == 0 || is_removed(record, *region) ||
          seen_.contains(hash_key(record.key, kKeySeed))) {
        continue;
      }
      block_.resize(record.size_bytes);
      const uint64_t at = geometry().region_at(region->region) +
                          uint64_t{record.offset_grains} * geometry().grain_bytes;
      bool good = false;
      if (Status status = read(at, block_, &good); !status.ok()) return status;
      if (!good || checksum_block(record.key, block_) != record.checksum) ++region->damaged_blocks;
    }
    return ok_status();
  }

  void count(const BlockRecord& record, InspectedRegion* region) {
    if (is_removed(record, *region) || !seen_.insert(hash_key(record.key, kKeySeed)).second) {
      region->outdated.add(record.size_bytes);
      found_.outdated.add(record.size_bytes);
      return;
    }
    region->live.add(record.size_bytes);
    found_.live.add(record.size_bytes);
    InspectedFile& file = files_[record.key.file];
    const bool first = file.live.blocks == 0;
    file.first_offset = std::min(first ? ~uint64_t{0} : file.first_offset, record.key.offset);
    file.last_offset = std::max(file.last_offset, record.key.offset);
    file.live.add(record.size_bytes);
  }

  void add_free() { ++found_.free_regions; }
  void add_damaged(InspectedRegion region) {
    region.damaged = true;
    ++found_.damaged_regions;
    found_.regions.push_back(region);
  }

  void finish() {
    std::ranges::sort(found_.regions, {}, &InspectedRegion::region);
    found_.files.reserve(files_.size());
    for (auto& [number, file] : files_) {
      file.file = number;
      found_.files.push_back(file);
    }
    std::ranges::sort(found_.files, [](const InspectedFile& a, const InspectedFile& b) {
      return a.live.bytes != b.live.bytes ? a.live.bytes > b.live.bytes : a.file < b.file;
    });
  }

  const ReadMedium& read_;
  const InspectOptions& options_;
  Inspection found_;
  int failures_ = 0;
  std::unordered_set<uint64_t> removed_;
  RemovalList list_;
  bool is_outdated_ = false;  // the region that is read
  std::unordered_set<uint64_t> seen_;
  std::unordered_map<uint64_t, InspectedFile> files_;
  std::vector<RegionFooter> footers_;
  std::vector<BlockRecord> records_;
  std::vector<std::byte> block_;
};

}  // namespace

StatusOr<Inspection> inspect_regions(const ReadMedium& read, uint64_t medium_bytes,
                                     const InspectOptions& options) try {
  return Inspector(read, medium_bytes, options).run();
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to inspect the medium");
}

}  // namespace nvcache
