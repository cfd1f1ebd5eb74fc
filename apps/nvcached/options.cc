#include "apps/nvcached/options.h"

#include <getopt.h>

#include <cstdlib>

#include "base/text.h"
#include "base/units.h"
#include "nvcache/kv_store.h"
#include "apps/nvcached/text_protocol.h"

namespace nvcache::server {
namespace {

constexpr int kMaxThreads = 256;
constexpr char kShort[] = "+:p:U:s:a:Al:dru:m:Mc:kvhVP:f:n:LD:t:R:Cb:B:I:SFXWY:e:Zo:N:i";

// Long options that memcached has no letter for.
enum Own { kMedium = 256, kDurability, kStore, kMetrics };

constexpr option kLong[] = {
    {"port", required_argument, nullptr, 'p'},
    {"udp-port", required_argument, nullptr, 'U'},
    {"unix-socket", required_argument, nullptr, 's'},
    {"unix-mask", required_argument, nullptr, 'a'},
    {"enable-shutdown", no_argument, nullptr, 'A'},
    {"listen", required_argument, nullptr, 'l'},
    {"daemon", no_argument, nullptr, 'd'},
    {"enable-coredumps", no_argument, nullptr, 'r'},
    {"user", required_argument, nullptr, 'u'},
    {"memory-limit", required_argument, nullptr, 'm'},
    {"disable-evictions", no_argument, nullptr, 'M'},
    {"conn-limit", required_argument, nullptr, 'c'},
    {"lock-memory", no_argument, nullptr, 'k'},
    {"verbose", no_argument, nullptr, 'v'},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, 'V'},
    {"pidfile", required_argument, nullptr, 'P'},
    {"slab-growth-factor", required_argument, nullptr, 'f'},
    {"slab-min-size", required_argument, nullptr, 'n'},
    {"enable-largepages", no_argument, nullptr, 'L'},
    {"threads", required_argument, nullptr, 't'},
    {"max-reqs-per-event", required_argument, nullptr, 'R'},
    {"disable-cas", no_argument, nullptr, 'C'},
    {"listen-backlog", required_argument, nullptr, 'b'},
    {"protocol", required_argument, nullptr, 'B'},
    {"max-item-size", required_argument, nullptr, 'I'},
    {"enable-sasl", no_argument, nullptr, 'S'},
    {"disable-flush-all", no_argument, nullptr, 'F'},
    {"disable-dumping", no_argument, nullptr, 'X'},
    {"disable-watch", no_argument, nullptr, 'W'},
    {"auth-file", required_argument, nullptr, 'Y'},
    {"memory-file", required_argument, nullptr, 'e'},
    {"enable-ssl", no_argument, nullptr, 'Z'},
    {"extended", required_argument, nullptr, 'o'},
    {"napi-ids", required_argument, nullptr, 'N'},
    {"license", no_argument, nullptr, 'i'},
    {"medium", required_argument, nullptr, kMedium},
    {"durability", required_argument, nullptr, kDurability},
    {"store", required_argument, nullptr, kStore},
    {"metrics-port", required_argument, nullptr, kMetrics},
    {nullptr, 0, nullptr, 0},
};

absl::Status parse_int(std::string_view what, std::string_view text, int64_t low, int64_t high,
                       int& to) {
  int64_t number = 0;
  if (!parse_i64(text, number) || number < low || number > high) {
    return invalid_argument("{}: '{}' given; allowed: {} to {}", what, text, low, high);
  }
  to = static_cast<int>(number);
  return absl::OkStatus();
}

// -m: megabytes as memcached's, or a size with its unit.
absl::Status parse_memory(std::string_view text, uint64_t& bytes) {
  uint64_t megabytes = 0;
  if (parse_u64(text, megabytes) && megabytes > 0 && megabytes < (uint64_t{1} << 33)) {
    bytes = megabytes << 20;
    return absl::OkStatus();
  }
  const auto size = parse_size_bytes(text);
  if (!size.ok() || *size == 0) {
    return invalid_argument("-m: '{}' given; allowed: megabytes, or a size such as 10GiB", text);
  }
  bytes = *size;
  return absl::OkStatus();
}

absl::Status parse_item_size(std::string_view text, uint64_t& bytes) {
  const auto size = parse_size_bytes(text);
  if (!size.ok() || *size < 1024 || *size > kMaxKvValueBytes) {
    return invalid_argument("-I: '{}' given; allowed: 1k to {}m", text, kMaxKvValueBytes >> 20);
  }
  bytes = *size;
  return absl::OkStatus();
}

absl::Status parse_binding(std::string_view text, Settings& settings) {
  if (text == "auto") {
    settings.binding = Settings::Binding::kAuto;
  } else if (text == "ascii") {
    settings.binding = Settings::Binding::kText;
  } else if (text == "binary") {
    settings.binding = Settings::Binding::kBinary;
  } else {
    return invalid_argument("-B: '{}' given; allowed: auto, ascii, binary", text);
  }
  return absl::OkStatus();
}

absl::Status parse_unix_mask(std::string_view text, Settings& settings) {
  char* end = nullptr;
  const std::string copy(text);
  const unsigned long mask = std::strtoul(copy.c_str(), &end, 8);
  if (copy.empty() || *end != '\0' || mask > 0777) {
    return invalid_argument("-a: '{}' given; allowed: octal digits up to 777", text);
  }
  settings.unix_mask = static_cast<uint32_t>(mask);
  return absl::OkStatus();
}

bool is_tuning(std::string_view name) {
  constexpr std::string_view kKnown[] = {"maxconns_fast",      "hashpower",
                                         "tail_repair_time",   "hash_algorithm",
                                         "no_lru_crawler",     "lru_crawler",
                                         "lru_crawler_sleep",  "lru_crawler_tocrawl",
                                         "read_buf_mem_limit", "no_lru_maintainer",
                                         "lru_maintainer",     "hot_lru_pct",
                                         "warm_lru_pct",       "hot_max_factor",
                                         "warm_max_factor",    "temporary_ttl",
                                         "slab_chunk_max",     "watcher_logbuf_size",
                                         "worker_logbuf_size", "track_sizes",
                                         "no_hashexpand",      "modern",
                                         "no_modern",          "no_maxconns_fast",
                                         "slab_reassign",      "no_slab_reassign",
                                         "slab_automove",      "slab_automove_freeratio",
                                         "inline_ascii_resp",  "no_inline_ascii_resp",
                                         "ssl_wbuf_size",      "ssl_session_cache",
                                         "ssl_kernel_tls",     "ssl_keyformat"};
  for (const std::string_view known : kKnown) {
    if (known == name) return true;
  }
  return false;
}

absl::Status parse_extended(std::string_view list, Options& options) {
  Settings& settings = options.settings;
  while (!list.empty()) {
    const auto [item, rest] = split_once(list, ',');
    list = rest;
    const auto [name, value] = split_once(item, '=');
    absl::Status status;
    int number = 0;
    if (name == "idle_timeout") {
      status = parse_int("-o idle_timeout", value, 0, INT32_MAX, number);
      settings.idle_timeout_s = static_cast<uint32_t>(number);
    } else if (name == "ssl_chain_cert") {
      settings.tls_certificate = value;
    } else if (name == "ssl_key") {
      settings.tls_key = value;
    } else if (name == "ssl_ca_cert") {
      settings.tls_ca = value;
    } else if (name == "ssl_ciphers") {
      settings.tls_ciphers = value;
    } else if (name == "ssl_verify_mode") {
      status = parse_int("-o ssl_verify_mode", value, 0, 3, settings.tls_verify);
    } else if (name == "ssl_min_version") {
      status = parse_int("-o ssl_min_version", value, 0, 3, settings.tls_min_version);
    } else if (is_tuning(name)) {
      options.ignored.push_back("-o " + std::string(name));
    } else {
      return invalid_argument(
          "-o: illegal suboption '{}'; allowed: idle_timeout, ssl_chain_cert, ssl_key, "
          "ssl_ca_cert, ssl_ciphers, ssl_verify_mode, ssl_min_version, and memcached's tuning "
          "options, which do nothing here",
          name);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status apply(int letter, const std::string& value, Options& options) {
  Settings& settings = options.settings;
  switch (letter) {
    case 'p':
      return parse_int("-p", value, -1, 65535, settings.port);
    case 'U':
      return parse_int("-U", value, -1, 65535, settings.udp_port);
    case kMetrics:
      return parse_int("--metrics-port", value, -1, 65535, settings.metrics_port);
    case 's':
      settings.unix_socket = value;
      return absl::OkStatus();
    case 'a':
      return parse_unix_mask(value, settings);
    case 'A':
      settings.shutdown_command = true;
      return absl::OkStatus();
    case 'l':
      settings.listen += (settings.listen.empty() ? "" : ",") + value;
      return absl::OkStatus();
    case 'd':
      options.daemon = true;
      return absl::OkStatus();
    case 'r':
      options.core_dumps = true;
      return absl::OkStatus();
    case 'u':
      options.user = value;
      return absl::OkStatus();
    case 'm':
      return parse_memory(value, settings.memory_bytes);
    case 'c':
      return parse_int("-c", value, 1, 10'000'000, settings.max_connections);
    case 'k':
      options.lock_memory = true;
      return absl::OkStatus();
    case 'v':
      ++settings.verbosity;
      return absl::OkStatus();
    case 'h':
      options.help = true;
      return absl::OkStatus();
    case 'V':
    case 'i':
      options.version = true;
      return absl::OkStatus();
    case 'P':
      options.pid_file = value;
      return absl::OkStatus();
    case 'D':
      if (value.size() != 1) return invalid_argument("-D: '{}' given; allowed: a character", value);
      settings.prefix_delimiter = value[0];
      settings.detail = true;
      return absl::OkStatus();
    case 't':
      return parse_int("-t", value, 1, kMaxThreads, settings.threads);
    case 'R':
      return parse_int("-R", value, 1, INT32_MAX, settings.requests_per_turn);
    case 'C':
      settings.cas_enabled = false;
      return absl::OkStatus();
    case 'b':
      return parse_int("-b", value, 1, INT32_MAX, settings.backlog);
    case 'B':
      return parse_binding(value, settings);
    case 'I':
      return parse_item_size(value, settings.max_item_bytes);
    case 'F':
      settings.flush_enabled = false;
      return absl::OkStatus();
    case 'Y':
      settings.auth_file = value;
      return absl::OkStatus();
    case 'e':
      options.medium = "file:" + value;
      return absl::OkStatus();
    case 'Z':
      settings.tls = true;
      return absl::OkStatus();
    case 'o':
      return parse_extended(value, options);
    case kMedium:
      options.medium = value;
      return absl::OkStatus();
    case kDurability:
      options.durability = value;
      return absl::OkStatus();
    case kStore:
      options.store_spec = value;
      return absl::OkStatus();
    case 'S':
      return invalid_argument("-S: SASL is not built in; -Y FILE asks for user and password");
    case 'M':
      return invalid_argument("-M: the store always makes room by dropping what is least used");
    case 'X':
    case 'W':
      return absl::OkStatus();  // dumping and watching are always off
    default:
      options.ignored.push_back(fmt::format("-{}", static_cast<char>(letter)));
      return absl::OkStatus();
  }
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool special = c == '&' || c == '%' || c == '#' || c == '+' || c == '=' || c == ' ';
    encoded += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return encoded;
}

}  // namespace

absl::StatusOr<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  std::vector<std::string> words = {"nvcached"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(words.size());
  optind = 0;
  opterr = 0;
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    const int letter = getopt_long(argc, argv.data(), kShort, kLong, nullptr);
    if (letter == -1) break;
    if (letter == '?') return invalid_argument("unknown option {}; see nvcached -h", words[at]);
    if (letter == ':') return invalid_argument("option {} needs a value", words[at]);
    const absl::Status status = apply(letter, optarg == nullptr ? "" : optarg, options);
    if (!status.ok()) return status;
  }
  if (optind < argc) return invalid_argument("'{}' is not an option", words[optind]);
  Settings& settings = options.settings;
  if (settings.max_item_bytes > settings.memory_bytes / 2) {
    return invalid_argument("-I: {} given; at most half of -m ({})",
                            format_bytes(settings.max_item_bytes),
                            format_bytes(settings.memory_bytes));
  }
  if (settings.tls && settings.udp_port != 0) return invalid_argument("-U and -Z: UDP has no TLS");
  if (!settings.auth_file.empty() && settings.udp_port != 0) {
    return invalid_argument("-U and -Y: UDP has no authentication");
  }
  if (!settings.auth_file.empty() && settings.binding == Settings::Binding::kBinary) {
    return invalid_argument("-B binary and -Y: the auth file is for the text protocol");
  }
  return options;
}

absl::StatusOr<std::string> state_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/nvcached";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/nvcached";
  return invalid_argument(
      "neither XDG_STATE_HOME nor HOME says where data may lie; give --medium file:PATH");
}

std::string store_spec_of(const Options& options) {
  if (!options.store_spec.empty()) return options.store_spec;
  const Settings& settings = options.settings;
  std::string spec = fmt::format("nvkv://?size={}&medium={}&durability={}", settings.memory_bytes,
                                 percent_encoded(options.medium), options.durability);
  // An item lies in one zone; the store's own choice is a 16th, up to 4 MiB.
  const uint64_t own_zone_bytes =
      std::min<uint64_t>(std::max<uint64_t>(settings.memory_bytes / 16, 64 << 10), 4 << 20);
  const uint64_t least_bytes = settings.max_item_bytes + settings.max_item_bytes / 8;
  if (least_bytes > own_zone_bytes) {
    uint64_t zone_bytes = own_zone_bytes;
    while (zone_bytes < least_bytes) zone_bytes *= 2;
    spec += fmt::format("&zone={}", zone_bytes);
  }
  return spec;
}

std::string help_text() {
  return R"(usage: nvcached [options]
A memcached whose items survive a crash. Options mean what they mean to memcached:
-p, --port=NUM           TCP port (11211; 0: none; -1: any free one)
-U, --udp-port=NUM       UDP port (0: off)
-s, --unix-socket=FILE   unix socket, in place of TCP
-a, --unix-mask=MASK     its permissions, octal (700)
-l, --listen=ADDR        interfaces, separated by commas: host, host:port, [v6]:port
-m, --memory-limit=NUM   size of the store in megabytes, or e.g. 10GiB (64)
-I, --max-item-size=SIZE largest item (1m; 1k to 128m)
-c, --conn-limit=NUM     connections at the same time (1024)
-t, --threads=NUM        threads (4)
-b, --listen-backlog=NUM backlog of connections (1024)
-B, --protocol=NAME      auto, ascii, binary (auto)
-R, --max-reqs-per-event=NUM   requests before other connections have their turn (20)
-C, --disable-cas        gets answers 0
-D CHAR                  delimiter of key prefixes for `stats detail`; turns them on
-F, --disable-flush-all  refuse flush_all
-A, --enable-shutdown    allow the command shutdown
-Y, --auth-file=FILE     text clients say user and password first; lines of user:password
-Z, --enable-ssl         TLS, with -o ssl_chain_cert=FILE,ssl_key=FILE
-o, --extended=LIST      idle_timeout=SECONDS, ssl_chain_cert, ssl_key, ssl_ca_cert,
                         ssl_ciphers, ssl_verify_mode (0-2), ssl_min_version (0-3)
-u, --user=NAME          become this user (when started by root)
-d, --daemon             run in the background
-P, --pidfile=FILE       write the process id
-r, --enable-coredumps   no limit on core files
-k, --lock-memory        keep all pages in memory
-v, -vv                  say more; -vv: every command
-h, --help               this
-V, --version            version
nvcached's own:
--medium=MEDIUM          dram, file:PATH, dax:PATH ... (a file in $XDG_STATE_HOME/nvcached
                         or ~/.local/state/nvcached); -e FILE is file:FILE
--durability=NAME        cache, volatile, each, each_lru (cache)
--store=SPEC             the whole specification: nvkv://?size=...&medium=...
--metrics-port=NUM       Prometheus metrics over HTTP, on -l or else 127.0.0.1 (off)
)";
}

}  // namespace nvcache::server
