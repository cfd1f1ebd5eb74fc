#include "apps/nvcached/options/option_table.h"

#include <climits>
#include <type_traits>

#include "apps/nvcached/options/option_values.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache::server {
namespace {

constexpr int kMaxThreads = 256;

// What a field of the settings, or of the options around them, is in `options`.
template <typename T>
T& of(Options& options, T Settings::*field) {
  return options.settings.*field;
}
template <typename T>
T& of(Options& options, T Options::*field) {
  return options.*field;
}

template <auto kField, int64_t kLow, int64_t kHigh>
Status set_int(std::string_view name, const std::string& value, Options& options) {
  int number = 0;
  Status status = parse_int(name, value, kLow, kHigh, number);
  auto& field = of(options, kField);
  if (status.ok()) field = static_cast<std::remove_reference_t<decltype(field)>>(number);
  return status;
}

template <auto kField>
Status set_text(std::string_view, const std::string& value, Options& options) {
  of(options, kField) = value;
  return ok_status();
}

template <auto kField, bool kValue = true>
Status set_flag(std::string_view, const std::string&, Options& options) {
  of(options, kField) = kValue;
  return ok_status();
}

// By one of option_values.h.
template <auto kField, auto kParse>
Status set_parsed(std::string_view name, const std::string& value, Options& options) {
  return kParse(name, value, of(options, kField));
}

// Notes in a flag that the option was given.
template <auto kFlag, SetOption kSet>
Status noted(std::string_view name, const std::string& value, Options& options) {
  of(options, kFlag) = true;
  return kSet(name, value, options);
}

Status ignore(std::string_view name, const std::string&, Options& options) {
  options.ignored.emplace_back(name);
  return ok_status();
}

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

constexpr OptionRow kOptionRows[] = {
    {kMemcached, 'p', "port", "NUM", "TCP port (11211, or that of -U; 0: none; -1: any free port)",
     noted<&Options::tcp_port_given, set_int<&Settings::port, -1, 65535>>},
    {kMemcached, 'U', "udp-port", "NUM", "UDP port (0: off; -1: any free port)",
     set_int<&Settings::udp_port, -1, 65535>},
    {kMemcached, 's', "unix-socket", "FILE", "unix socket instead of TCP",
     set_text<&Settings::unix_socket>},
    {kMemcached, 'a', "unix-mask", "MASK", "permissions of the unix socket, octal (700)",
     set_parsed<&Settings::unix_mask, parse_mask>},
    {kMemcached, 'l', "listen", "ADDR",
     "addresses to listen on, separated by commas:\nhost, host:port, [v6]:port (all); with -Z, "
     "those with notls:\nbefore them have no TLS",
     add_listen},
    {kMemcached, 'm', "memory-limit", "SIZE",
     "size of the store in megabytes, or with a unit: 10GiB (64)",
     set_parsed<&Settings::memory_bytes, parse_memory>},
    {kMemcached, 'I', "max-item-size", "SIZE",
     "largest item: 1k to 128m, at most an eighth of -m (1m)",
     noted<&Options::item_size_given, set_parsed<&Settings::max_item_bytes, parse_item_size>>},
    {kMemcached, 'c', "conn-limit", "NUM", "most connections at one time (1024)",
     set_int<&Settings::max_connections, 1, 10'000'000>},
    {kMemcached, 't', "threads", "NUM", "worker threads (4)",
     set_int<&Settings::threads, 1, kMaxThreads>},
    {kMemcached, 'b', "listen-backlog", "NUM", "backlog of connections (1024)",
     set_int<&Settings::backlog, 1, INT32_MAX>},
    {kMemcached, 'B', "protocol", "PROTOCOL", "auto, ascii or binary (auto)",
     noted<&Options::protocol_given, set_parsed<&Settings::binding, parse_protocol>>},
    {kMemcached, 'R', "max-reqs-per-event", "NUM",
     "requests of one connection before the others have their turn (20)",
     set_int<&Settings::requests_per_turn, 1, INT32_MAX>},
    {kMemcached, 'C', "disable-cas", nullptr, "the text command gets answers a cas of 0",
     set_flag<&Settings::cas_enabled, false>},
    {kMemcached, 'D', nullptr, "CHAR", "delimiter of key prefixes (:); turns on `stats detail`",
     noted<&Settings::detail, set_parsed<&Settings::prefix_delimiter, parse_character>>},
    {kMemcached, 'F', "disable-flush-all", nullptr, "refuse the command flush_all",
     set_flag<&Settings::flush_enabled, false>},
    {kMemcached, 'X', "disable-dumping", nullptr, "refuse stats cachedump and lru_crawler metadump",
     set_flag<&Settings::dump_enabled, false>},
    {kMemcached, 'W', "disable-watch", nullptr, "refuse the command watch",
     set_flag<&Settings::watch_enabled, false>},
    {kMemcached, 'A', "enable-shutdown", nullptr, "allow the command shutdown",
     set_flag<&Settings::shutdown_command>},
    {kMemcached, 'Y', "auth-file", "FILE",
     "text clients must first send a user and password of this\nfile, which holds lines of "
     "user:password",
     set_text<&Settings::auth_file>},
    {kMemcached, 'S', "enable-sasl", nullptr,
     "binary clients, too, must send a user and password (SASL PLAIN),\nof the file of -Y or "
     "$MEMCACHED_SASL_PWDB; without -B, only\nbinary clients are served",
     set_flag<&Settings::sasl>},
    {kMemcached, 'Z', "enable-ssl", nullptr, "TLS; needs -o ssl_chain_cert=FILE,ssl_key=FILE",
     set_flag<&Settings::tls>},
    {kMemcached, 'o', "extended", "LIST", "further options, separated by commas; see below",
     set_extended},
    {kMemcached, 'u', "user", "USER", "run as this user (only when started by root)",
     set_text<&Options::user>},
    {kMemcached, 'd', "daemon", nullptr, "run in the background", set_flag<&Options::daemon>},
    {kMemcached, 'P', "pidfile", "FILE", "write the process id to this file",
     set_text<&Options::pid_file>},
    {kMemcached, 'r', "enable-coredumps", nullptr, "lift the limit on core files",
     set_flag<&Options::core_dumps>},
    {kMemcached, 'k', "lock-memory", nullptr, "lock all pages in memory",
     set_flag<&Options::lock_memory>},
    {kMemcached, 'e', "memory-file", "FILE", "the same as --medium=file:FILE", set_memory_file},
    {kMemcached, 'v', "verbose", nullptr, "print more; -vv prints every command", add_verbosity},
    {kMemcached, 'h', "help", nullptr, "print this help and exit", set_flag<&Options::help>},
    {kMemcached, 'V', "version", nullptr, "print the version and exit",
     set_flag<&Options::version>},
    {kMemcached, 'i', "license", nullptr, "the same as --version", set_flag<&Options::version>},

    {kOwn, 0, "medium", "MEDIUM",
     "where the items lie: dram; file:PATH; emulated:PROFILE, which\nslows memory down to the "
     "speed of PROFILE, such as optane (a\nfile in $XDG_STATE_HOME/nvcached or "
     "~/.local/state/nvcached; if the\nuser of -u has no home, in /var/lib/nvcached)",
     set_text<&Options::medium>},
    {kOwn, 0, "durability", "NAME", "cache, volatile, each or each_lru (cache)",
     set_text<&Options::durability>},
    {kOwn, 0, "store", "SPEC",
     "the whole specification of the store, instead of -m, --medium,\n--durability and "
     "--max-absence: "
     "nvkv://?size=...&medium=...",
     set_text<&Options::store_spec>},
    {kOwn, 0, "buffer-memory", "SIZE",
     "most DRAM for requests and answers in flight; clients that read\ntoo slowly are closed, the "
     "slowest first (256MiB)",
     set_parsed<&Settings::buffer_bytes, parse_memory>},
    {kOwn, 0, "max-absence", "SECONDS[,empty]",
     "what was stored before the server was down for longer is a miss,\nand stale to meta "
     "commands; or the store starts empty (no limit)",
     set_max_absence},
    {kOwn, 0, "metrics-port", "NUM",
     "port for Prometheus metrics over HTTP, on the addresses of -l\nor else on 127.0.0.1 (0: "
     "none; -1: any free port)",
     set_int<&Settings::metrics_port, -1, 65535>},

    {kIgnored, 'f', "slab-growth-factor", "NUM", "the store has no slab classes", ignore},
    {kIgnored, 'n', "slab-min-size", "NUM", "the store has no slab classes", ignore},
    {kIgnored, 'L', "enable-largepages", nullptr, "the medium decides on its pages", ignore},
    {kIgnored, 'N', "napi-ids", "NUM", "connections go to the workers in turn", ignore},
    {kIgnored, 'M', "disable-evictions", nullptr, "refused: the store always evicts to make room",
     refuse_no_eviction},
};

constexpr ExtendedRow tuning(const char* word) { return {word, nullptr, nullptr, ignore}; }

constexpr ExtendedRow kExtendedRows[] = {
    {"idle_timeout", "NUM", "close connections that are idle for that many seconds (0: none)",
     set_int<&Settings::idle_timeout_s, 0, INT_MAX>},
    {"watcher_logbuf_size", "NUM", "KiB of lines that wait for one client of watch (256)",
     set_int<&Settings::watcher_buffer_kib, 1, 1 << 20>},
    {"ssl_chain_cert", "FILE", "certificate chain, PEM", set_text<&Settings::tls_certificate>},
    {"ssl_key", "FILE", "private key, PEM (the file of ssl_chain_cert)",
     set_text<&Settings::tls_key>},
    {"ssl_ca_cert", "FILE", "certificates that clients' certificates are checked against",
     set_text<&Settings::tls_ca>},
    {"ssl_ciphers", "NAMES", "OpenSSL's list of ciphers (OpenSSL's default)",
     set_text<&Settings::tls_ciphers>},
    {"ssl_verify_mode", "NUM", "clients' certificates: 0 none, 1 asked for, 2 or 3 required (0)",
     set_int<&Settings::tls_verify, 0, 3>},
    {"ssl_min_version", "NUM", "0 to 3: TLS 1.0, 1.1, 1.2, 1.3 (2)",
     set_int<&Settings::tls_min_version, 0, 3>},
    tuning("maxconns_fast"),
    tuning("no_maxconns_fast"),
    tuning("hashpower"),
    tuning("no_hashexpand"),
    tuning("hash_algorithm"),
    tuning("tail_repair_time"),
    tuning("lru_crawler"),
    tuning("no_lru_crawler"),
    tuning("lru_crawler_sleep"),
    tuning("lru_crawler_tocrawl"),
    tuning("lru_maintainer"),
    tuning("no_lru_maintainer"),
    tuning("hot_lru_pct"),
    tuning("warm_lru_pct"),
    tuning("hot_max_factor"),
    tuning("warm_max_factor"),
    tuning("temporary_ttl"),
    tuning("read_buf_mem_limit"),
    tuning("worker_logbuf_size"),
    tuning("track_sizes"),
    tuning("modern"),
    tuning("no_modern"),
    tuning("slab_chunk_max"),
    tuning("slab_reassign"),
    tuning("no_slab_reassign"),
    tuning("slab_automove"),
    tuning("slab_automove_window"),
    tuning("slab_automove_ratio"),
    tuning("no_slab_automove"),
    tuning("slab_sizes"),
    tuning("no_chunked_items"),
    tuning("drop_privileges"),
    tuning("no_drop_privileges"),
    tuning("relaxed_privileges"),
    tuning("resp_obj_mem_limit"),
    tuning("slab_automove_freeratio"),
    tuning("inline_ascii_resp"),
    tuning("no_inline_ascii_resp"),
    tuning("ssl_wbuf_size"),
    tuning("ssl_session_cache"),
    tuning("ssl_kernel_tls"),
    tuning("ssl_keyformat"),
};

}  // namespace

std::string OptionRow::name() const {
  return letter != 0 ? std::string{'-', letter} : "--" + std::string(word);
}

std::span<const OptionRow> option_rows() { return kOptionRows; }

std::span<const ExtendedRow> extended_rows() { return kExtendedRows; }

}  // namespace nvcache::server
