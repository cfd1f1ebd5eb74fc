// The command `nvcached`: a memcached whose items survive a crash.
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "apps/manual/render.h"
#include "apps/nvcached/background.h"
#include "apps/nvcached/long_start.h"
#include "apps/nvcached/net/metrics_server.h"
#include "apps/nvcached/net/server.h"
#include "apps/nvcached/options/nvcached_options.h"
#include "apps/nvcached/options/nvcached_page.h"
#include "apps/nvcached/options/store_specification.h"
#include "apps/nvcached/systemd.h"
#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "kv_store/open_config.h"
#include "nvcache/kv_store.h"

namespace nvcache {
namespace {

using server::Options;

constexpr int kOkCode = 0;
constexpr int kFailedCode = 1;
// The version that clients see. They deduce from it what the server understands.
constexpr char kProtocolVersion[] = "1.6.18-nvcached-" NVCACHE_VERSION;
constexpr int kUsageCode = 64;                // EX_USAGE, as memcached's
constexpr char kServiceState[] = "/var/lib";  // as systemd's StateDirectory=

void say(std::string_view text) {
  std::fflush(stdout);
  print_to(stderr, "nvcached: {}\n", text);
}

bool needs_state_directory(const Options& options) {
  return options.store_spec.empty() && options.medium.empty();
}

Status prepare_medium(Options& options) {
  if (!needs_state_directory(options)) return ok_status();
  const auto directory = server::state_directory();
  if (!directory.ok()) return directory.status();
  std::error_code error;
  std::filesystem::create_directories(*directory, error);
  if (error) {
    return invalid_argument("no place for the data: {}: {}; give --medium file:PATH", *directory,
                            error.message());
  }
  std::filesystem::permissions(*directory, std::filesystem::perms::owner_all, error);
  options.medium = "file:" + *directory + "/data";
  return ok_status();
}

void raise_limits(const Options& options) {
  rlimit files = {};
  const rlim_t wanted = static_cast<rlim_t>(options.settings.max_connections) + 64;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < wanted) {
    files.rlim_cur = wanted;
    files.rlim_max = std::max(files.rlim_max, wanted);
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
      files.rlim_cur = files.rlim_max = std::min(files.rlim_max, wanted);
      getrlimit(RLIMIT_NOFILE, &files);
      files.rlim_cur = files.rlim_max;
      (void)setrlimit(RLIMIT_NOFILE, &files);
      if (files.rlim_cur < wanted) {
        say(fmt::format("only {} files may be open; -c {} needs {}", files.rlim_cur,
                        options.settings.max_connections, wanted));
      }
    }
  }
  if (options.core_dumps) {
    const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &all) != 0) say("-r: cannot lift the limit on core files");
  }
}

// After the server went to the background, because a child does not inherit locks, and after a
// resize, which maps two files.
void lock_memory(const Options& options) {
  if (options.lock_memory && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    say(fmt::format("-k: cannot lock memory: {}", std::strerror(errno)));
  }
}

// A load or store that the medium fails comes as SIGBUS. The store was not closed in order, so that
// the next start trusts only what its durability promises.
void on_bus_error(int) {
  constexpr char kMessage[] =
      "nvcached: the medium failed: a page of the data file cannot be read or written (a disk "
      "error, or the file was cut short). Ended without closing the store.\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kFailedCode);
}

// Prints the notes of openings of the store, each once: a resize opens it, too.
void tell(const std::vector<std::string>& notes) {
  static std::vector<std::string> told;
  for (const std::string& note : notes) {
    if (std::find(told.begin(), told.end(), note) != told.end()) continue;
    say(note);
    told.push_back(note);
  }
}

// `metrics` may be null.
Status resize(const KvConfig& config, server::MetricsServer* metrics) {
  auto last = std::chrono::steady_clock::now();
  server::LongStart start;
  if (Status status = start.begin(); !status.ok()) return status;
  const auto resized = resize_kv_store(config, [&](uint64_t done, uint64_t all) {
    const auto now = std::chrono::steady_clock::now();
    std::string status = fmt::format("resizing the store: {} of {} zones copied", done, all);
    if (metrics != nullptr) metrics->tell({"Resizing the store", "zones", done, all});
    if (now - last >= std::chrono::seconds(5)) {
      last = now;
      say(status);
    }
    start.tell(std::move(status));
    return !start.must_end();
  });
  if (!resized.ok()) return resized.status();
  tell(resized->notes);
  if (resized->after_bytes != 0) {
    const std::string what =
        resized->before_bytes == resized->after_bytes
            ? std::string("copied the store")
            : fmt::format("resized the store from {} to {}", format_bytes(resized->before_bytes),
                          format_bytes(resized->after_bytes));
    say(fmt::format("{}: {} of {} items kept", what, resized->items_kept, resized->items_found));
  }
  return ok_status();
}

// Call it as root. A system user such as nobody has no home of its own: its data goes where those
// of system services lie. A folder that is there already stays as it is.
Status prepare_service_state(const passwd& user) {
  struct stat home = {};
  if (stat(user.pw_dir, &home) == 0 && home.st_uid == user.pw_uid) return ok_status();
  const std::string folder = std::string(kServiceState) + "/nvcached";
  if (mkdir(folder.c_str(), 0700) == 0) {
    if (lchown(folder.c_str(), user.pw_uid, user.pw_gid) != 0) {
      return errno_status(errno, folder);
    }
  } else if (errno != EEXIST) {
    return errno_status(errno, folder);
  }
  setenv("XDG_STATE_HOME", kServiceState, 1);
  return ok_status();
}

Status become_user(const Options& options) {
  if (geteuid() != 0) return ok_status();
  if (options.user.empty()) {
    return invalid_argument(
        "root must name the user that nvcached runs as, e.g. -u nobody (-u root also works)");
  }
  const passwd* user = getpwnam(options.user.c_str());
  if (user == nullptr) return invalid_argument("-u: no user '{}'", options.user);
  if (user->pw_uid == 0) return ok_status();
  if (needs_state_directory(options) && std::getenv("XDG_STATE_HOME") == nullptr) {
    if (Status status = prepare_service_state(*user); !status.ok()) return status;
  }
  if (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) {
    return errno_status(errno, "cannot become the user of -u");
  }
  setenv("HOME", user->pw_dir, 1);
  return ok_status();
}

// Tells scripts and tests which port a server got when any free one was asked for.
void write_port_file(const server::Server& server) {
  const char* name = std::getenv("MEMCACHED_PORT_FILENAME");
  if (name == nullptr) return;
  const std::string unfinished = std::string(name) + ".lck";
  {
    std::ofstream file(unfinished);
    if (server.tcp_port() != 0) file << "TCP INET: " << server.tcp_port() << "\n";
    if (server.udp_port() != 0) file << "UDP INET: " << server.udp_port() << "\n";
    if (server.metrics_port() != 0) file << "METRICS: " << server.metrics_port() << "\n";
  }
  std::rename(unfinished.c_str(), name);
}

void report_recovery(const KvStats& stats) {
  tell(stats.notes);
  if (!stats.recovered) {
    say(fmt::format("a new store of {} on {}, durability {}", format_bytes(stats.size_bytes),
                    stats.medium, stats.durability));
    return;
  }
  const char* const finished =
      stats.finished_cleanings > 0 ? "; finished a cleaning that was cut short" : "";
  say(fmt::format(
      "recovered {} items in {:.3f} s ({} on {}, durability {}); {} dropped as damaged{}",
      stats.recovered_items, stats.recovery_seconds, format_bytes(stats.size_bytes), stats.medium,
      stats.durability, stats.damaged, finished));
}

Status report_end(const KvStats& stats) {
  if (stats.file_lost) {
    return data_loss_error(
        fmt::format("the data file {} is not there any more: {} items end with this process",
                    stats.file, stats.items));
  }
  say(fmt::format("{} items kept", stats.items));
  return ok_status();
}

// Reads passwords and certificates again. If one cannot be read, the old ones stay in use.
void reload(server::Service& service) {
  Status status = service.load_auth_file();
  if (status.ok() && service.on_refresh_certs) status = service.on_refresh_certs();
  say(status.ok() ? "passwords and certificates read again" : std::string(status.message()));
}

// Waits for SIGINT or SIGTERM, which all threads block.
void wait_for_end(const sigset_t& ends, server::Service& service) {
  for (int signal = 0;;) {
    if (sigwait(&ends, &signal) != 0) continue;
    if (signal != SIGHUP) return;
    reload(service);
  }
}

Status run(Options options) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  raise_limits(options);
  if (Status status = become_user(options); !status.ok()) return status;
  if (Status status = prepare_medium(options); !status.ok()) return status;
  std::optional<server::Background> background;
  if (options.daemon) {
    auto begun = server::Background::begin();
    if (!begun.ok()) return begun.status();
    background = *begun;
  }
  std::signal(SIGBUS, on_bus_error);
  for (const std::string& name : options.ignored) {
    say(name + " has no effect here: it tunes memcached's own memory");
  }

  const auto specification = server::store_specification_of(options);
  if (!specification.ok()) return specification.status();
  options.settings.store = specification->text;
  auto sockets = server::bind_sockets(options.settings);
  if (!sockets.ok()) return sockets.status();
  auto metrics =
      server::MetricsServer::start(options.settings, std::exchange(sockets->metrics, {}));
  if (!metrics.ok()) return metrics.status();
  if (Status status = resize(specification->config, metrics->get()); !status.ok()) {
    if (!is_aborted(status)) return status;
    say(status.message());
    return ok_status();
  }
  if (*metrics != nullptr) (*metrics)->tell({"Opening the store, and recovering its items", ""});
  lock_memory(options);
  const auto evictions = std::make_shared<KvEvictions>();
  auto store = open_kv_store(specification->config, evictions);
  if (!store.ok()) return store.status();
  report_recovery((*store)->stats());
  options.settings.memory_bytes = (*store)->stats().size_bytes;

  server::Service service(**store, options.settings, steady_unix_s, wall_unix_s, evictions);
  if (Status status = service.load_auth_file(); !status.ok()) return status;
  service.on_shutdown_command = [] { kill(getpid(), SIGINT); };
  auto server = server::Server::start(service, *std::move(sockets), *std::move(metrics));
  if (!server.ok()) return server.status();
  write_port_file(**server);
  if (!options.pid_file.empty()) {
    std::ofstream file(options.pid_file);
    file << getpid() << "\n";
    if (!file.flush()) say(fmt::format("-P: cannot write {}", options.pid_file));
  }
  for (const std::string& address : (*server)->addresses()) say("listening on " + address);

  if (background) background->serve(/*quiet=*/options.settings.verbosity == 0);
  server::notify_systemd("READY=1\nSTATUS=serving");
  wait_for_end(ends, service);
  say("shutting down");
  server::notify_systemd("STOPPING=1\nSTATUS=writing what is left to the store");
  // Serves on while most of it is written: what is left for the second sync is little.
  Status synced = (*store)->sync();
  (*server)->stop();
  if (synced.ok()) synced = (*store)->sync();
  if (!options.pid_file.empty()) unlink(options.pid_file.c_str());
  return synced.ok() ? report_end((*store)->stats()) : synced;
}

// --generate. The installation keeps what is printed: a full disk must not pass for a page.
int generate(const std::string& form) {
  const auto text = manual::render(server::nvcached_page(), form);
  if (!text.ok()) {
    say(text.status().message());
    return kUsageCode;
  }
  print_to(stdout, "{}", *text);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kOkCode;
  say(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return kFailedCode;
}

}  // namespace
}  // namespace nvcache

int main(int argc, char** argv) {
  if (!nvcache::fill_standard_streams()) return nvcache::kFailedCode;
  auto options = nvcache::server::parse_options({argv + 1, argv + argc});
  if (!options.ok()) {
    nvcache::say(options.status().message());
    return nvcache::kUsageCode;
  }
  options->settings.version = nvcache::kProtocolVersion;
  if (options->help) {
    nvcache::print_to(stdout, "nvcached {}\n{}", NVCACHE_VERSION, nvcache::server::help_text());
    return nvcache::kOkCode;
  }
  if (options->version) {
    nvcache::print_to(stdout, "nvcached {}\n", NVCACHE_VERSION);
    return nvcache::kOkCode;
  }
  if (!options->generate.empty()) return nvcache::generate(options->generate);
  const nvcache::Status status = nvcache::run(*std::move(options));
  if (status.ok()) return nvcache::kOkCode;
  nvcache::say(status.message());
  return nvcache::is_invalid_argument(status) ? nvcache::kUsageCode : nvcache::kFailedCode;
}
