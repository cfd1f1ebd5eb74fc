// small_bypass(DRAM_SIZE[,DIRECTORY]): refuses blocks while the dataset is no larger than the
// machine's DRAM, which can cache all of it (*Writes Hurt*, section 3.2.3, lesson 1: "abstain from
// admitting any blocks until the dataset size outgrows the available DRAM").
//
// The engine's adapter tells the size of the dataset (Traffic::dataset_size_bytes; 0: not known).
// With a DIRECTORY the size is the sum of the regular files below it; links are not followed, and
// files that vanish during the scan are left out, as are the files of this process's caches. While
// the size is unknown blocks are admitted: an adapter that does not tell it must not switch the
// cache off silently. The policy has no latch: when the dataset shrinks below DRAM_SIZE, it refuses
// again.
//
// Thread-safe. A thread of the policy scans the directory when a block is offered, at most once a
// second and once per 100 us for each file found. So a scan takes a small part of one thread's
// time, and no put waits for it.
#include <sys/stat.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/background_thread.h"
#include "base/cache_files.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kScanIntervalNs = 1'000'000'000;
constexpr uint64_t kScanIntervalPerFileNs = 100'000;
constexpr uint64_t kUnknown = ~uint64_t{0};
constexpr uint64_t kScanning = ~uint64_t{0};

struct DirectorySize {
  uint64_t size_bytes = 0;
  uint64_t files = 0;
  bool readable = false;
};

DirectorySize measure(const fs::path& directory) {
  DirectorySize found;
  for (std::vector<std::string> left = {directory.native()}; !left.empty();) {
    const std::string folder = std::move(left.back());
    left.pop_back();
    const auto names = names_in_folder(folder);
    if (!names && !found.readable) return found;
    found.readable = true;
    if (!names) continue;  // it has vanished, or is another user's
    for (const std::string& name : *names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      struct stat file {};
      if (lstat(path.c_str(), &file) != 0) continue;
      if (S_ISDIR(file.st_mode)) left.push_back(path);
      if (!S_ISREG(file.st_mode)) continue;
      if (!is_cache_file(file)) found.size_bytes += static_cast<uint64_t>(file.st_size);
      ++found.files;
    }
  }
  return found;
}

class SmallBypass final : public AdmissionPolicy {
 public:
  SmallBypass(uint64_t dram_size_bytes, fs::path directory)
      : dram_size_bytes_(dram_size_bytes),
        directory_(std::move(directory)),
        scanner_({.name = "nvcache-scan", .round = [this] {
                    scan();
                    return false;
                  }}) {}

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
    // Before a scan starts, which may be over at once: a block is judged by what was known when it
    // was offered.
    const uint64_t known_bytes = directory_size_bytes_.load(std::memory_order_relaxed);
    uint64_t due_ns = next_scan_ns_.load(std::memory_order_relaxed);
    if (traffic.now_ns >= due_ns && next_scan_ns_.compare_exchange_strong(due_ns, kScanning)) {
      start_scan(traffic.now_ns);
    }
    return known_bytes;
  }

  // Without a thread the size stays what it is, and the next block tries again.
  void start_scan(uint64_t now_ns) {
    scanned_at_ns_.store(now_ns, std::memory_order_relaxed);
    if (scanner_.start()) {
      scanner_.wake();
    } else {
      next_scan_ns_.store(now_ns + kScanIntervalNs);
    }
  }

  // If the directory cannot be read, the last known size stays in force.
  void scan() {
    NVCACHE_ASSERT(next_scan_ns_.load() == kScanning);
    DirectorySize found;
    try {
      found = measure(directory_);
    } catch (const std::exception&) {  // no memory
    }
    if (found.readable) directory_size_bytes_.store(found.size_bytes, std::memory_order_relaxed);
    next_scan_ns_.store(scanned_at_ns_.load(std::memory_order_relaxed) + kScanIntervalNs +
                        kScanIntervalPerFileNs * found.files);
  }

  const uint64_t dram_size_bytes_;
  const fs::path directory_;
  std::atomic<uint64_t> directory_size_bytes_{kUnknown};
  std::atomic<uint64_t> next_scan_ns_{0};   // kScanning while one is under way
  std::atomic<uint64_t> scanned_at_ns_{0};  // when it was asked for
  BackgroundThread scanner_;                // last: it ends before what it uses
};

}  // namespace

AdmissionOr make_small_bypass(const SpecMember& member, const AdmissionContext&) {
  constexpr std::string_view kAllowed =
      "small_bypass(DRAM_SIZE) or small_bypass(DRAM_SIZE,DIRECTORY)";
  if (member.arguments.empty()) {
    return bad_member(kAdmission, member, fmt::format("no DRAM_SIZE given; allowed: {}", kAllowed));
  }
  const StatusOr<uint64_t> size = parse_size_bytes(shown(member.arguments[0]));
  if (!size.ok()) {
    return bad_member(kAdmission, member, fmt::format("DRAM_SIZE: {}", size.status().message()));
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
