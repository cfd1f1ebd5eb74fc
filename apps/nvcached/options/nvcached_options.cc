#include "apps/nvcached/options/nvcached_options.h"

#include <getopt.h>

#include <algorithm>
#include <cstdlib>

#include "apps/nvcached/options/option_table.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache::server {
namespace {

constexpr size_t kHelpColumns = 100;
constexpr size_t kUsageColumns = 32;
// Options without a letter have numbers from here on, behind every letter.
constexpr int kWordOnly = 256;
// An item takes at most half of a zone, and a store has three zones beside its table.
constexpr uint64_t kItemsPerStore = 8;

// getopt's two tables, made from the rows.
struct GetoptTables {
  // '+': stop at the first word that is no option. ':': tell a missing value apart.
  std::string letters = "+:";
  std::vector<option> words;
};

int number_of(size_t row) {
  const char letter = option_rows()[row].letter;
  return letter != 0 ? letter : kWordOnly + static_cast<int>(row);
}

const OptionRow* row_of(int number) {
  for (size_t i = 0; i < option_rows().size(); ++i) {
    if (number_of(i) == number) return &option_rows()[i];
  }
  return nullptr;
}

GetoptTables getopt_tables() {
  GetoptTables tables;
  for (size_t i = 0; i < option_rows().size(); ++i) {
    const OptionRow& row = option_rows()[i];
    const bool takes_value = row.argument != nullptr;
    if (row.letter != 0) tables.letters += row.letter;
    if (row.letter != 0 && takes_value) tables.letters += ':';
    if (row.word == nullptr) continue;
    tables.words.push_back(
        {row.word, takes_value ? required_argument : no_argument, nullptr, number_of(i)});
  }
  tables.words.push_back({});
  return tables;
}

Status check_together(const Settings& settings) {
  if (settings.max_item_bytes > settings.memory_bytes / kItemsPerStore) {
    return invalid_argument(
        "-I: {} given; allowed: at most an eighth of -m ({}); give -m {} for it",
        format_bytes(settings.max_item_bytes), format_bytes(settings.memory_bytes),
        (settings.max_item_bytes * kItemsPerStore + (1 << 20) - 1) >> 20);
  }
  if (settings.buffer_bytes < 2 * settings.max_item_bytes) {
    return invalid_argument("--buffer-memory: {} given; allowed: at least twice -I ({})",
                            format_bytes(settings.buffer_bytes),
                            format_bytes(settings.max_item_bytes));
  }
  if (!settings.auth_file.empty() && settings.udp_port != 0) {
    return invalid_argument("-U and -Y: UDP has no authentication; allowed: one of the two");
  }
  const bool binary = settings.binding == Settings::Binding::kBinary;
  if (!settings.auth_file.empty() && binary && !settings.sasl) {
    return invalid_argument("-B binary and -Y: binary clients authenticate only with -S");
  }
  if (settings.sasl && settings.auth_file.empty()) {
    return invalid_argument(
        "-S: no users given; allowed: -Y FILE, or $MEMCACHED_SASL_PWDB, a file of user:password");
  }
  if (settings.sasl && settings.binding == Settings::Binding::kText) {
    return invalid_argument("-S and -B ascii: SASL is for the binary protocol; allowed: -Y alone");
  }
  return ok_status();
}

// "-p, --port=NUM", "-D CHAR", "--medium=MEDIUM".
std::string usage_of(const OptionRow& row) {
  std::string usage;
  if (row.letter != 0) usage += fmt::format("-{}", row.letter);
  if (row.letter != 0 && row.word != nullptr) usage += ", ";
  if (row.word != nullptr) usage += fmt::format("--{}", row.word);
  if (row.argument != nullptr)
    usage += (row.word != nullptr ? "=" : " ") + std::string(row.argument);
  return usage;
}

void append_row(std::string& text, std::string_view usage, std::string_view help) {
  text += fmt::format("{:<{}}", usage, kUsageColumns);
  while (!help.empty()) {
    const auto [line, rest] = split_once(help, '\n');
    text += fmt::format("{}\n", line);
    if (!rest.empty()) text += std::string(kUsageColumns, ' ');
    help = rest;
  }
}

void append_kind(std::string& text, OptionKind kind) {
  for (const OptionRow& row : option_rows()) {
    if (row.kind == kind) append_row(text, usage_of(row), row.help);
  }
}

// Words separated by blanks, in lines of at most kHelpColumns.
void append_wrapped(std::string& text, const std::vector<std::string_view>& words) {
  size_t columns = 0;
  for (const std::string_view word : words) {
    if (columns > 0 && columns + 1 + word.size() > kHelpColumns) {
      text += '\n';
      columns = 0;
    }
    text += columns == 0 ? "  " : " ";
    text += word;
    columns += word.size() + (columns == 0 ? 2 : 1);
  }
  text += '\n';
}

}  // namespace

StatusOr<Options> parse_options(const std::vector<std::string>& arguments) {
  const GetoptTables tables = getopt_tables();
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
    const int number =
        getopt_long(argc, argv.data(), tables.letters.c_str(), tables.words.data(), nullptr);
    if (number == -1) break;
    if (number == ':') return invalid_argument("option {} needs a value", words[at]);
    const OptionRow* row = row_of(number);
    if (row == nullptr) return invalid_argument("unknown option {}; see nvcached -h", words[at]);
    Status status = row->set(row->name(), optarg == nullptr ? "" : optarg, options);
    if (!status.ok()) return status;
  }
  if (optind < argc) return invalid_argument("'{}' is not an option", words[optind]);
  Settings& settings = options.settings;
  if (settings.udp_port != 0 && !options.tcp_port_given) settings.port = settings.udp_port;
  if (!options.item_size_given && options.store_spec.empty()) {
    settings.max_item_bytes =
        std::min(settings.max_item_bytes, settings.memory_bytes / kItemsPerStore);
  }
  if (settings.sasl && !options.protocol_given) settings.binding = Settings::Binding::kBinary;
  const char* users = std::getenv("MEMCACHED_SASL_PWDB");
  if (settings.sasl && settings.auth_file.empty() && users != nullptr) settings.auth_file = users;
  if (Status status = check_together(settings); !status.ok()) return status;
  return options;
}

std::string help_text() {
  std::string text =
      "usage: nvcached [options]\n"
      "A memcached whose items survive a crash. (Defaults are in parentheses.)\n\n"
      "Options of memcached, with the same meaning:\n";
  append_kind(text, OptionKind::kMemcached);
  text += "\nOptions of nvcached alone:\n";
  append_kind(text, OptionKind::kOwn);
  text += "\nItems of -o:\n";
  std::vector<std::string_view> tuning;
  for (const ExtendedRow& row : extended_rows()) {
    if (row.help == nullptr) {
      tuning.emplace_back(row.word);
    } else {
      append_row(text, fmt::format("{}={}", row.word, row.argument), row.help);
    }
  }
  text += "\nItems of -o that tune memcached and have no effect here:\n";
  append_wrapped(text, tuning);
  text += "\nOptions of memcached that have no effect here, or that nvcached refuses:\n";
  append_kind(text, OptionKind::kIgnored);
  return text;
}

}  // namespace nvcache::server
