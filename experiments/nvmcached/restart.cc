#include "experiments/nvmcached/restart.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "apps/command/interrupt.h"
#include "base/errno_status.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/nvmcached/system.h"
#include "experiments/workload/kv_trace.h"
#include "kv_store/format/layout.h"
#include "medium/check.h"
#include "nvcache/kv_store.h"

namespace nvcache::nvmcached {
namespace {

constexpr uint32_t kKeyBytes = 16;
constexpr double kRoom = 1.15;  // zones that are open, and a margin
constexpr uint64_t kReportEvery = 1 << 16;
constexpr char kDone = 'd';

std::string_view key_text(uint64_t key, char (&buffer)[kKeyBytes]) {
  write_key(key, kKeyBytes, buffer);
  return {buffer, kKeyBytes};
}

std::string spec_of(const RestartPlan& plan, const std::string& path) {
  const uint64_t item_bytes = kv_item_bytes(kKeyBytes, plan.value_bytes);
  const double each = static_cast<double>(item_bytes + kTableBytesPerItem) + 2;
  const auto size_bytes =
      static_cast<uint64_t>(static_cast<double>(plan.items) * each * kRoom) + (16 << 20);
  std::string encoded;
  for (const char c : path) {
    encoded +=
        c == '%' || c == '&' ? fmt::format("%{:02X}", static_cast<int>(c)) : std::string(1, c);
  }
  return fmt::format("nvkv://?size={}&item={}&survives=process&medium=file:{}",
                     size_bytes / 4096 * 4096, item_bytes, encoded);
}

// Runs in the child. Writes its progress to the pipe, says at the end that it is done, and waits
// to be killed with everything open.
[[noreturn]] void build(const RestartPlan& plan, const std::string& path, int pipe) {
  auto store = open_kv_store(spec_of(plan, path));
  if (!store.ok()) {
    print_to(stderr, "{}\n", store.status().message());
    _exit(1);
  }
  Values values(plan.value_bytes);
  char key[kKeyBytes];
  for (uint64_t i = 0; i < plan.items; ++i) {
    const KvResult done = (*store)->put(key_text(i, key), values.make(i, 0, plan.value_bytes), {});
    if (done.outcome != KvOutcome::kDone) _exit(2);
    if (i % kReportEvery == 0 && ::write(pipe, ".", 1) != 1) _exit(3);
  }
  if (::write(pipe, &kDone, 1) != 1) _exit(3);
  for (;;) pause();
}

class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Follows the child until it is done, and kills it in any case.
Status fill(const RestartPlan& plan, const std::string& path, Progress& progress) {
  int ends[2];
  if (pipe(ends) != 0) return errno_status("making", "a pipe", errno);
  const pid_t child = fork();
  if (child < 0) return errno_status("starting", "a process", errno);
  if (child == 0) {
    close(ends[0]);
    build(plan, path, ends[1]);
  }
  close(ends[1]);
  bool done = false;
  uint64_t reports = 0;
  for (char c = 0; !done && !interrupted();) {
    const ssize_t got = ::read(ends[0], &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done = c == kDone;
    progress.update(fmt::format("restart: {} of {} items", ++reports * kReportEvery, plan.items));
  }
  close(ends[0]);
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (Status cancelled = check_not_interrupted(); !cancelled.ok()) return cancelled;
  return done ? ok_status()
              : internal_error("restart: the process that fills the store ended too soon");
}

}  // namespace

StatusOr<RestartResult> run_restart(const RestartPlan& plan, const Clock& clock,
                                    Progress& progress) {
  std::string folder = plan.folder + "/nvcache-restart-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return errno_status("making folder", folder, errno);
  RestartResult result;
  Status status;
  {
    const File file(folder + "/store");
    const uint64_t start_ns = clock.now_ns();
    status = fill(plan, file.path(), progress);
    result.build_seconds = seconds_between(start_ns, clock.now_ns());
    if (status.ok()) {
      const uint64_t killed_ns = clock.now_ns();
      auto store = open_kv_store(spec_of(plan, file.path()));
      result.open_seconds = seconds_between(killed_ns, clock.now_ns());
      status = store.status();
      char key[kKeyBytes];
      Prng prng(plan.seed);
      for (uint64_t i = 0; status.ok() && i < plan.checks; ++i) {
        const uint64_t number = prng.below(plan.items);
        const KvItem item = (*store)->get(key_text(number, key));
        ++result.checked;
        result.found += static_cast<bool>(item);
        result.wrong += item && !Values::is(item.value(), number, 0);
        if (i == 0) result.first_get_seconds = seconds_between(killed_ns, clock.now_ns());
      }
      if (status.ok()) {
        const KvStats stats = (*store)->stats();
        result.recovered_items = stats.recovered_items;
        result.file_bytes = stats.size_bytes;
      }
    }
  }
  std::error_code ignored;
  std::filesystem::remove(folder, ignored);
  if (!status.ok()) return status;
  return result;
}

}  // namespace nvcache::nvmcached
