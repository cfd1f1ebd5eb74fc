#include "apps/nvcached/options/option_table.h"

#include <algorithm>

#include "apps/manual/render.h"
#include "apps/nvcached/options/option_setters.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/table.h"

namespace nvcache::server {
namespace {

constexpr int kMaxThreads = 256;

Status set_max_absence(std::string_view name, const std::string& value, Options& options) {
  constexpr std::string_view kEmpty = ",empty";
  std::string_view seconds = value;
  options.empty_after_absence = seconds.ends_with(kEmpty);
  if (options.empty_after_absence) seconds.remove_suffix(kEmpty.size());
  const auto number = parse_number(name, seconds, 1, 1 << 30);
  if (!number.ok()) {
    return invalid_argument("{}: '{}' given; allowed: 1 to 1073741824 seconds, and ,empty behind",
                            name, value);
  }
  options.max_absence_s = static_cast<uint32_t>(*number);
  return ok_status();
}

// Several -l add up.
Status add_listen(std::string_view, const std::string& value, Options& options) {
  std::string& listen = options.settings.listen;
  listen += (listen.empty() ? "" : ",") + value;
  return ok_status();
}

Status add_verbosity(std::string_view, const std::string&, Options& options) {
  ++options.settings.verbosity;
  return ok_status();
}

Status set_memory_file(std::string_view, const std::string& value, Options& options) {
  options.medium = "file:" + value;
  return ok_status();
}

Status set_form(std::string_view name, const std::string& value, Options& options) {
  const auto forms = manual::forms();
  if (std::find(forms.begin(), forms.end(), value) == forms.end()) {
    return invalid_argument("{}: '{}' given; allowed: {}", name, value, fmt::join(forms, ", "));
  }
  options.generate = value;
  return ok_status();
}

Status refuse_no_eviction(std::string_view name, const std::string&, Options&) {
  return invalid_argument("{}: the store always evicts to make room; leave the option out", name);
}

Status set_extended(std::string_view name, const std::string& list, Options& options) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto [item, behind] = split_once(rest, ',');
    rest = behind;
    const auto [word, value] = split_once(item, '=');
    const ExtendedRow* known = nullptr;
    std::string allowed;
    for (const ExtendedRow& row : extended_rows()) {
      if (row.word == word) known = &row;
      if (row.help != nullptr) allowed += std::string(row.word) + ", ";
    }
    if (known == nullptr) {
      return invalid_argument(
          "{}: illegal suboption '{}'; allowed: {}and memcached's tuning options, which have no "
          "effect here",
          name, word, allowed);
    }
    Status status = known->set(fmt::format("{} {}", name, word), std::string(value), options);
    if (!status.ok()) return status;
  }
  return ok_status();
}

constexpr OptionKind kMemcached = OptionKind::kMemcached;
constexpr OptionKind kIgnored = OptionKind::kIgnored;
constexpr OptionKind kOwn = OptionKind::kOwn;
using enum OptionTopic;

// The sentences of the manual page behind the help.
constexpr OptionPage more(const char* sentences) { return {sentences, nullptr, false}; }
constexpr OptionPage allows(const char* values, const char* sentences = nullptr) {
  return {sentences, values, false};
}
constexpr OptionPage repeats(const char* sentences = nullptr) { return {sentences, nullptr, true}; }

constexpr MediaText kMediumValues = store_media(" ");
constexpr MediaText kMediumHelp =
    store_media("; ", "where the items lie: ",
                "\n(a file in $XDG_STATE_HOME/nvcached or ~/.local/state/nvcached; if\nthe user of "
                "-u has no home, in /var/lib/nvcached)");

constexpr OptionRow kOptionRows[] = {
    {kMemcached, kNetwork, 'p', "port", "NUM",
     "TCP port (11211, or that of -U; 0: none; -1: any free port)",
     noted<&Options::tcp_port_given, set_int<&Settings::port, -1, 65535>>},
    {kMemcached, kNetwork, 'U', "udp-port", "NUM", "UDP port (0: off; -1: any free port)",
     set_int<&Settings::udp_port, -1, 65535>},
    {kMemcached, kNetwork, 's', "unix-socket", "FILE", "unix socket instead of TCP",
     set_text<&Settings::unix_socket>},
    {kMemcached, kNetwork, 'a', "unix-mask", "MASK", "permissions of the unix socket, octal (700)",
     set_parsed<&Settings::unix_mask, parse_mask>},
    {kMemcached, kNetwork, 'l', "listen", "ADDR",
     "addresses to listen on, separated by commas:\nhost, host:port, [v6]:port (all); with -Z, "
     "those with notls:\nbefore them have no TLS",
     add_listen,
     repeats("Several -l add up. An address without a port has that of -p, or of -U. Without -Y "
             "all who reach an address may read and change all items: name 127.0.0.1, or an "
             "address behind a firewall.")},
    {kMemcached, kStore, 'm', "memory-limit", "SIZE",
     "size of the store in megabytes, or with a unit: 10GiB (64)",
     set_parsed<&Settings::memory_bytes, parse_memory>,
     more("Keys, values and their overhead, on the medium: with a file, disk space that is "
          "taken at the start. After a restart with another size the items are copied.")},
    {kMemcached, kStore, 'I', "max-item-size", "SIZE",
     "largest item: 1k to 128m, at most an eighth of -m (1m)",
     noted<&Options::item_size_given, set_parsed<&Settings::max_item_bytes, parse_item_size>>,
     more("Without it, a store of less than 8 MB takes items of an eighth of its size.")},
    {kMemcached, kNetwork, 'c', "conn-limit", "NUM", "most connections at one time (1024)",
     set_int<&Settings::max_connections, 1, 10'000'000>,
     more("nvcached raises the limit of open files to that, where it may.")},
    {kMemcached, kNetwork, 't', "threads", "NUM", "worker threads (4)",
     set_int<&Settings::threads, 1, kMaxThreads>,
     more("At most 256; more than there are processors bring nothing.")},
    {kMemcached, kNetwork, 'b', "listen-backlog", "NUM",
     "connections that wait to be accepted, at most (1024)",
     set_int<&Settings::backlog, 1, INT32_MAX>},
    {kMemcached, kRequests, 'B', "protocol", "PROTOCOL",
     "protocol of clients: auto, ascii or binary (auto)",
     noted<&Options::protocol_given, set_parsed<&Settings::binding, parse_protocol>>,
     allows("auto ascii binary", "With auto, the first byte of a connection tells.")},
    {kMemcached, kNetwork, 'R', "max-reqs-per-event", "NUM",
     "requests of one connection before the others have their turn (20)",
     set_int<&Settings::requests_per_turn, 1, INT32_MAX>,
     more("A client with many requests does not starve the others of its thread.")},
    {kMemcached, kRequests, 'C', "disable-cas", nullptr, "`gets` answers a cas of 0",
     set_flag<&Settings::cas_enabled, false>},
    {kMemcached, kRequests, 'D', nullptr, "CHAR",
     "delimiter of key prefixes (:); turns on `stats detail`",
     noted<&Settings::detail, set_parsed<&Settings::prefix_delimiter, parse_character>>,
     more("Without it, `stats detail on` turns on statistics by prefix.")},
    {kMemcached, kRequests, 'F', "disable-flush-all", nullptr, "refuse the command flush_all",
     set_flag<&Settings::flush_enabled, false>},
    {kMemcached, kRequests, 'X', "disable-dumping", nullptr,
     "refuse stats cachedump and lru_crawler metadump", set_flag<&Settings::dump_enabled, false>},
    {kMemcached, kRequests, 'W', "disable-watch", nullptr, "refuse the command watch",
     set_flag<&Settings::watch_enabled, false>},
    {kMemcached, kRequests, 'A', "enable-shutdown", nullptr, "allow the command shutdown",
     set_flag<&Settings::shutdown_command>},
    {kMemcached, kSecurity, 'Y', "auth-file", "FILE",
     "text clients must first send a user and password of this\nfile, which holds lines of "
     "user:password",
     set_text<&Settings::auth_file>,
     more("The first command is `set any 0 0 LENGTH`, its value \"user password\". UDP and the "
          "binary protocol are off then, unless -S is given. Without -Z passwords cross the "
          "network as they are.")},
    {kMemcached, kSecurity, 'S', "enable-sasl", nullptr,
     "binary clients, too, must send a user and password (SASL PLAIN),\nof the file of -Y or "
     "$MEMCACHED_SASL_PWDB; without -B, only\nbinary clients are served",
     set_flag<&Settings::sasl>},
    {kMemcached, kSecurity, 'Z', "enable-ssl", nullptr,
     "TLS; needs -o ssl_chain_cert=FILE,ssl_key=FILE", set_flag<&Settings::tls>},
    {kMemcached, kProcess, 'o', "extended", "LIST",
     "further options, separated by commas; see below", set_extended, repeats()},
    {kMemcached, kProcess, 'u', "user", "USER", "run as this user (only when started by root)",
     set_text<&Options::user>,
     more("Root must give it. A user without a home directory, such as nobody, has its data in "
          "/var/lib/nvcached.")},
    {kMemcached, kProcess, 'd', "daemon", nullptr, "run in the background",
     set_flag<&Options::daemon>,
     more("The command returns when the server serves, with 0; or when it cannot, with its "
          "exit code and what it said.")},
    {kMemcached, kProcess, 'P', "pidfile", "FILE", "write the process id to this file",
     set_text<&Options::pid_file>},
    {kMemcached, kProcess, 'r', "enable-coredumps", nullptr, "lift the limit on core files",
     set_flag<&Options::core_dumps>},
    {kMemcached, kProcess, 'k', "lock-memory", nullptr, "lock all pages in memory",
     set_flag<&Options::lock_memory>,
     more("The pages of the data file count, too: `ulimit -l` must allow more than -m.")},
    {kMemcached, kStore, 'e', "memory-file", "FILE", "the same as --medium=file:FILE",
     set_memory_file},
    {kMemcached, kProcess, 'v', "verbose", nullptr, "print more; -vv prints every command",
     add_verbosity, repeats()},
    {kMemcached, kProcess, 'h', "help", nullptr, "print this help and exit",
     set_flag<&Options::help>},
    {kMemcached, kProcess, 'V', "version", nullptr, "print the version and exit",
     set_flag<&Options::version>},
    {kMemcached, kProcess, 'i', "license", nullptr, "the same as --version",
     set_flag<&Options::version>},

    {kOwn, kStore, 0, "medium", "MEDIUM", kMediumHelp.data(), set_text<&Options::medium>,
     allows(kMediumValues.data(),
            "The folder of PATH must be there. The file must be the server's own, and no "
            "symbolic link. emulated:PROFILE slows memory down to the speed of PROFILE, such as "
            "optane.")},
    {kOwn, kStore, 0, "durability", "NAME",
     "what a crash may take: cache, volatile, each or each_lru (cache)",
     set_text<&Options::durability>,
     allows("cache volatile each each_lru",
            "cache: at most what was set in the last ten seconds. volatile: all. each: nothing "
            "that was acknowledged. each_lru: likewise, and the order of use stays, too.")},
    {kOwn, kStore, 0, "store", "SPEC",
     "the whole specification of the store, instead of -m, --medium,\n--durability and "
     "--max-absence: "
     "nvkv://?size=...&medium=...",
     set_text<&Options::store_spec>},
    {kOwn, kNetwork, 0, "buffer-memory", "SIZE",
     "most DRAM for requests and answers in flight; clients that read\ntoo slowly are closed, the "
     "slowest first (256MiB)",
     set_parsed<&Settings::buffer_bytes, parse_memory>},
    {kOwn, kStore, 0, "max-absence", "SECONDS[,empty]",
     "what was stored before the server was down for longer is a miss,\nand stale to meta "
     "commands; or the store starts empty (no limit)",
     set_max_absence},
    {kOwn, kNetwork, 0, "metrics-port", "NUM",
     "port for Prometheus metrics over HTTP, on the addresses of -l\nor else on 127.0.0.1 (0: "
     "none; -1: any free port)",
     set_int<&Settings::metrics_port, -1, 65535>},
    {kOwn, kProcess, 0, manual::kGenerate, "FORM", manual::kGenerateHelp, set_form,
     allows("man bash zsh fish")},

    {kIgnored, kWithoutEffect, 'f', "slab-growth-factor", "NUM", "the store has no slab classes",
     ignore},
    {kIgnored, kWithoutEffect, 'n', "slab-min-size", "NUM", "the store has no slab classes",
     ignore},
    {kIgnored, kWithoutEffect, 'L', "enable-largepages", nullptr, "the medium decides on its pages",
     ignore},
    {kIgnored, kWithoutEffect, 'N', "napi-ids", "NUM", "connections go to the workers in turn",
     ignore},
    {kIgnored, kWithoutEffect, 'M', "disable-evictions", nullptr,
     "refused: the store always evicts to make room", refuse_no_eviction},
};

}  // namespace

std::string OptionRow::name() const {
  return letter != 0 ? std::string{'-', letter} : "--" + std::string(word);
}

std::span<const OptionRow> option_rows() { return kOptionRows; }

}  // namespace nvcache::server
