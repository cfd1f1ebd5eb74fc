#include "apps/nvcached/options/nvcached_page.h"

#include "apps/nvcached/options/option_table.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

using manual::Entry;
using manual::Section;

constexpr char kDescription[] =
    R"(nvcached is a memcached whose items survive a crash. Clients, options and messages are
those of memcached 1.6, on TCP, a unix socket, UDP and TLS: text, meta commands and the binary
protocol. The items lie in a file by default, and are there again after a restart or a kill.

An item has a key of at most 250 bytes, a value, 32 bits of client flags and an expiry time. A
full store evicts items that were not used lately.

At the start nvcached says on standard error how many items it recovered, or that the store is
new, and then serves until a signal ends it. Nothing that goes wrong with a client ends it.

The options of memcached have the same letters, words and meaning. Those that tune its slabs,
lists and hash table are taken, and have no effect.
)";

constexpr char kExamples[] = R"(A user tries it, on port 11211, with 64 MB:

  nvcached

As root, for programs of this machine alone:

  nvcached -u nobody -m 1024 -l 127.0.0.1

In the background, with 10 GiB on an NVMe drive:

  nvcached -d -u memcache -m 10GiB --medium=file:/mnt/nvme/items

As volatile as memcached, in memory alone:

  nvcached -m 1024 --medium=dram

Every acknowledged item survives a kill; metrics for Prometheus:

  nvcached -m 4096 --medium=file:/mnt/pmem/items --durability=each \
    --metrics-port=9150

With TLS and passwords; on this machine also without TLS, by another port:

  nvcached -Z -o ssl_chain_cert=cert.pem,ssl_key=key.pem -Y users \
    -l 0.0.0.0,notls:127.0.0.1:11212

What was stored before a pause of more than a minute may be old elsewhere:

  nvcached -m 1024 --max-absence=60

Is it there, and how warm did it start?

  printf 'stats\r\nquit\r\n' | nc localhost 11211 | grep store_recovered
)";

constexpr char kData[] =
    R"(A store that was closed in order, by SIGTERM or SIGINT, keeps all items, but for those
of --durability=volatile and of --medium=dram. With --durability=cache, a kill takes at most what
was set in the last ten seconds; with each and each_lru nothing that was acknowledged. An old
value never comes back. The expiry of items goes on while the server is down.

What a loss of power takes depends on the medium, too. A file on persistent memory (DAX) keeps
what --durability promises. A file elsewhere starts empty after a loss of power under the running
server, unless --store says survives=power.

Another -m, or a larger -I, copies the items at the next start to a new file beside the old one:
that needs the room of both.
)";

const std::vector<Entry>& exit_codes() {
  static const std::vector<Entry> entries = {
      {"0",
       "A signal or the command shutdown ended it, and the items are kept. With -d: it serves."},
      {"1",
       "A failure: the medium cannot be opened, written or read, its file was removed, a port "
       "is taken, or the system refuses what is needed. Standard error names it."},
      {"64", "The command line is wrong. Standard error says what is allowed."}};
  return entries;
}

const std::vector<Entry>& signals() {
  static const std::vector<Entry> entries = {
      {"SIGTERM, SIGINT",
       "End in order: the store is synced while it still serves, connections are closed, the store "
       "is synced again, and the exit code is 0. A start that takes long ends within a second."},
      {"SIGHUP",
       "Reads the passwords of -Y and the certificates of -Z again. If that fails, the old ones "
       "stay in use. The command refresh_certs does the same for certificates."},
      {"SIGPIPE", "Ignored."},
      {"SIGBUS",
       "The medium failed under a load or a store: ends at once with exit code 1, without closing "
       "the store. The next start trusts what --durability promises."},
      {"others",
       "As the system has them. SIGUSR1 and SIGKILL end nvcached as a crash does: see DATA. "
       "(memcached ends in order on SIGUSR1.)"}};
  return entries;
}

const std::vector<Entry>& files() {
  static const std::vector<Entry> entries = {
      {"$XDG_STATE_HOME/nvcached/data", "The items, where --medium, -e and --store are not given."},
      {"~/.local/state/nvcached/data", "The same, where XDG_STATE_HOME is not set."},
      {"/var/lib/nvcached/data",
       "The same for a user of -u that has no home directory, and under systemd."},
      {"PREFIX/share/nvcache/nvcached.service",
       "A unit for systemd; see SYSTEMD. PREFIX is where nvcache was installed."},
      {"/etc/default/nvcached", "Options for that unit: NVCACHED_OPTIONS=\"-m 1024\"."}};
  return entries;
}

const std::vector<Entry>& environment() {
  static const std::vector<Entry> entries = {
      {"XDG_STATE_HOME, HOME", "Where the data lies: see FILES."},
      {"MEMCACHED_SASL_PWDB", "The file of users for -S, where -Y is not given."},
      {"MEMCACHED_PORT_FILENAME",
       "nvcached writes its ports to this file once it serves: for -p -1 and tests."},
      {"NOTIFY_SOCKET", "systemd hears when nvcached serves, and how far a long start is."}};
  return entries;
}

constexpr char kSystemd[] =
    R"(The unit has Type=notify: it is started when nvcached serves. It runs as a user of its
own, with the items in /var/lib/nvcached. To start it with the machine:

  cp PREFIX/share/nvcache/nvcached.service /etc/systemd/system/
  echo 'NVCACHED_OPTIONS="-m 1024 -l 0.0.0.0"' > /etc/default/nvcached
  systemctl enable --now nvcached
)";

constexpr char kBugs[] =
    R"(Differences from memcached that were made on purpose are listed in
docs/guide/nvcached.md of the source. Without -l, nvcached listens on all addresses, as memcached
does.
)";

constexpr char kLicense[] =
    R"(Apache License 2.0: PREFIX/share/doc/nvcache/LICENSE.
)";

const char* group_of(OptionTopic topic) {
  switch (topic) {
    case OptionTopic::kNetwork:
      return "Network";
    case OptionTopic::kStore:
      return "Store";
    case OptionTopic::kRequests:
      return "Protocol and commands";
    case OptionTopic::kSecurity:
      return "Passwords and TLS";
    case OptionTopic::kProcess:
      return "Process";
    case OptionTopic::kWithoutEffect:
      break;
  }
  return "Options of memcached that have no effect, or that nvcached refuses";
}

std::vector<std::string> words_in(const char* text) {
  std::vector<std::string> words;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const auto [word, behind] = split_once(rest, ' ');
    words.emplace_back(word);
    rest = behind;
  }
  return words;
}

manual::Option option_of(const OptionRow& row) {
  manual::Option option;
  option.letter = row.letter;
  if (row.word != nullptr) option.word = row.word;
  if (row.argument != nullptr) option.argument = row.argument;
  option.help = row.help;
  if (row.page.more != nullptr) option.more = row.page.more;
  option.values = words_in(row.page.values);
  option.repeats = row.page.repeats;
  option.group = group_of(row.topic);
  option.is_hidden = row.kind == OptionKind::kIgnored;
  if (row.kind == OptionKind::kOwn) {
    option.more += option.more.empty() ? "" : " ";
    option.more += "memcached does not have this option.";
  }
  return option;
}

std::vector<manual::Item> items() {
  std::vector<manual::Item> all;
  for (const ExtendedRow& row : extended_rows()) {
    all.push_back({row.word, row.argument == nullptr ? "" : row.argument,
                   row.help == nullptr ? "" : row.help});
  }
  return all;
}

}  // namespace

manual::Page nvcached_page() {
  manual::Page page;
  page.program.name = "nvcached";
  page.program.summary = "a memcached whose items survive a crash";
  page.program.text = kDescription;
  page.synopsis = {"nvcached [OPTION]..."};
  page.joins_values = true;
  for (const OptionTopic topic :
       {OptionTopic::kNetwork, OptionTopic::kStore, OptionTopic::kRequests, OptionTopic::kSecurity,
        OptionTopic::kProcess, OptionTopic::kWithoutEffect}) {
    for (const OptionRow& row : option_rows()) {
      if (row.topic != topic) continue;
      page.program.options.push_back(option_of(row));
      if (row.letter == 'o') page.program.options.back().items = items();
    }
  }
  page.sections = {
      {"EXAMPLES", kExamples, {}},       {"DATA", kData, {}},    {"SIGNALS", "", signals()},
      {"EXIT STATUS", "", exit_codes()}, {"FILES", "", files()}, {"ENVIRONMENT", "", environment()},
      {"SYSTEMD", kSystemd, {}},         {"NOTES", kBugs, {}},   {"LICENSE", kLicense, {}}};
  page.see_also = {"nvcache(1)", "memcached(1)", "systemctl(1)"};
  return page;
}

}  // namespace nvcache::server
