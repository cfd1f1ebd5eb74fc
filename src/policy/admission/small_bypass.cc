// small_bypass(DRAM_SIZE[,DIRECTORY]): refuses blocks while the dataset is no larger than the
// machine's DRAM, which can cache all of it (*Writes Hurt*, section 3.2.3, lesson 1: "abstain from
// admitting any blocks until the dataset size outgrows the available DRAM").
//
// The engine's adapter tells the size of the dataset (Traffic::dataset_size_bytes; 0: not known).
// With a DIRECTORY the size is the sum of the regular files below it; links are not followed, and
// files that vanish during the scan are left out. While the size is unknown blocks are admitted: an
// adapter that does not tell it must not switch the cache off silently. The policy has no latch:
// when the dataset shrinks below DRAM_SIZE, it refuses again.
//
// Thread-safe. One thread scans the directory and does not hold up the others, at most once a
// second and once per 100 us for each file found. So a scan takes a small part of one thread's
// time.
#include <atomic>
#include <filesystem>
#include <system_error>

#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kScanIntervalNs = 1'000'000'000;
constexpr uint64_t kScanIntervalPerFileNs = 100'000;
constexpr uint64_t kUnknown = ~uint64_t{0};

struct DirectorySize {
  uint64_t size_bytes = 0;
  uint64_t files = 0;
  bool readable = false;
};

DirectorySize measure(const fs::path& directory) {
  DirectorySize found;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         error);
  if (error) return found;
  found.readable = true;
  for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    std::error_code gone;
    if (!fs::is_regular_file(entry->symlink_status(gone)) || gone) continue;
    const uintmax_t size_bytes = entry->file_size(gone);
    if (gone) continue;
    found.size_bytes += size_bytes;
    ++found.files;
  }
  return found;
}

class SmallBypass final : public AdmissionPolicy {
 public:
  SmallBypass(uint64_t dram_size_bytes, fs::path directory)
      : dram_size_bytes_(dram_size_bytes), directory_(std::move(directory)) {}

  Verdict admit(const Candidate&, const Traffic& traffic) override {
    const uint64_t size_bytes = dataset_size(traffic);
    if (size_bytes == kUnknown || size_bytes > dram_size_bytes_) return Verdict::admit();
    return Verdict::refuse(Reason::kSmallDataset);
  }

  uint64_t metadata_bytes() const override { return directory_.native().capacity(); }

  std::string describe() const override {
    const std::string size = exact_size(dram_size_bytes_);
    if (directory_.empty()) return fmt::format("small_bypass({})", size);
    return fmt::format("small_bypass({},{})", size, directory_.native());
  }

 private:
  uint64_t dataset_size(const Traffic& traffic) {
    if (directory_.empty()) {
      return traffic.dataset_size_bytes == 0 ? kUnknown : traffic.dataset_size_bytes;
    }
    if (traffic.now_ns >= next_scan_ns_.load(std::memory_order_relaxed) && scan_mutex_.try_lock()) {
      if (traffic.now_ns >= next_scan_ns_.load(std::memory_order_relaxed)) scan(traffic.now_ns);
      scan_mutex_.unlock();
    }
    return directory_size_bytes_.load(std::memory_order_relaxed);
  }

  // If the directory cannot be read, the last known size stays in force.
  void scan(uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(scan_mutex_) {
    const DirectorySize found = measure(directory_);
    if (found.readable) directory_size_bytes_.store(found.size_bytes, std::memory_order_relaxed);
    next_scan_ns_.store(now_ns + kScanIntervalNs + kScanIntervalPerFileNs * found.files,
                        std::memory_order_relaxed);
  }

  const uint64_t dram_size_bytes_;
  const fs::path directory_;
  std::atomic<uint64_t> directory_size_bytes_{kUnknown};
  std::atomic<uint64_t> next_scan_ns_{0};
  Mutex scan_mutex_;
};

}  // namespace

AdmissionOr make_small_bypass(const SpecMember& member, const AdmissionContext&) {
  constexpr std::string_view kAllowed =
      "small_bypass(DRAM_SIZE) or small_bypass(DRAM_SIZE,DIRECTORY)";
  if (member.arguments.empty()) {
    return bad_member(kAdmission, member, fmt::format("no DRAM_SIZE given; allowed: {}", kAllowed));
  }
  const absl::StatusOr<uint64_t> size = parse_size_bytes(shown(member.arguments[0]));
  if (!size.ok()) {
    return bad_member(kAdmission, member, fmt::format("DRAM_SIZE: {}", message_of(size.status())));
  }
  if (member.arguments.size() == 1) return std::make_unique<SmallBypass>(*size, fs::path());
  // All that follows the first comma: a directory may have commas in its name.
  const std::string_view directory = strip(member.inside.substr(member.inside.find(',') + 1));
  std::error_code error;
  if (directory.find('\0') != std::string_view::npos || !fs::is_directory(directory, error)) {
    return bad_member(
        kAdmission, member,
        fmt::format("DIRECTORY: '{}' given; allowed: a directory that exists", shown(directory)));
  }
  return std::make_unique<SmallBypass>(*size, fs::path(directory));
}

}  // namespace nvcache
