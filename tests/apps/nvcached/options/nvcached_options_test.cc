// nvcached's command line: what options mean, and that help, parsing and error texts agree.
#include "apps/nvcached/options/nvcached_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "apps/nvcached/options/option_table.h"
#include "apps/nvcached/options/store_specification.h"
#include "base/text.h"
#include "kv_store/api/config.h"
#include "kv_store/format/superblock.h"
#include "kv_store/open_config.h"
#include "medium/table.h"
#include "nvcache/kv_store.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

using testing::HasSubstr;

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A value that an option with this argument takes.
std::string sample(const std::string& argument) {
  static const std::map<std::string, std::string> kSamples = {
      {"NUM", "3"},
      {"FILE", "/tmp/x"},
      {"MASK", "660"},
      {"ADDR", "127.0.0.1"},
      {"SIZE", "2m"},
      {"PROTOCOL", "ascii"},
      {"CHAR", "/"},
      {"USER", "nobody"},
      {"MEDIUM", "dram"},
      {"NAME", "each"},
      {"LIST", "hashpower=3"},
      {"NAMES", "HIGH"},
      {"SECONDS[,empty]", "60,empty"},
      {"FORM", "zsh"},
      {"SPEC", "nvkv://?size=64MiB&medium=dram"}};
  const auto found = kSamples.find(argument);
  EXPECT_NE(found, kSamples.end()) << "no sample for " << argument;
  return found == kSamples.end() ? "" : found->second;
}

StoreSpecification store_of(const Options& options) {
  return store_specification_of(options).value();
}

TEST(Options, MaxAbsenceIsPartOfTheStore) {
  const auto stale = parse_options(words("-m 64 --medium=dram --max-absence 60"));
  ASSERT_TRUE(stale.ok()) << stale.status();
  EXPECT_THAT(store_of(*stale).text, HasSubstr("&max_absence=60&after_absence=stale"));
  const auto empty = parse_options(words("-m 64 --medium=dram --max-absence=3600,empty"));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(store_of(*empty).text, HasSubstr("&max_absence=3600&after_absence=empty"));
  EXPECT_EQ(store_of(*empty).config.max_absence_s, 3600u);
  EXPECT_TRUE(store_of(*empty).config.empty_after_absence);
  for (const char* wrong : {"0", "-1", "60,full", "1h", ",empty"}) {
    const auto refused = parse_options({"--max-absence", wrong});
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("1 to 1073741824 seconds"));
  }
}

TEST(Options, AUdpPortAloneIsThatOfTcpToo) {
  EXPECT_EQ(parse_options(words("-U 11222"))->settings.port, 11222);
  EXPECT_EQ(parse_options(words("-U 11222 -p 4"))->settings.port, 4);
  EXPECT_EQ(parse_options(words("-p 0 -U 11222"))->settings.port, 0);
  EXPECT_EQ(parse_options(words("-U 0"))->settings.port, 11211);
}

TEST(Options, MeanWhatTheyMeanToMemcached) {
  const auto options =
      parse_options(words("-p 1234 -m 128 -I 2m -c 77 -t2 -vv -s /tmp/x -a 770 -F -A --listen=::1 "
                          "-o idle_timeout=9,hashpower=20 --durability each"));
  ASSERT_TRUE(options.ok()) << options.status();
  const Settings& settings = options->settings;
  EXPECT_EQ(settings.port, 1234);
  EXPECT_EQ(settings.memory_bytes, 128u << 20);
  EXPECT_EQ(settings.max_item_bytes, 2u << 20);
  EXPECT_EQ(settings.max_connections, 77);
  EXPECT_EQ(settings.threads, 2);
  EXPECT_EQ(settings.verbosity, 2);
  EXPECT_EQ(settings.unix_mask, 0770u);
  EXPECT_FALSE(settings.flush_enabled);
  EXPECT_TRUE(settings.shutdown_command);
  EXPECT_EQ(settings.listen, "::1");
  EXPECT_EQ(settings.idle_timeout_s, 9u);
  EXPECT_THAT(options->ignored, testing::ElementsAre("-o hashpower"));
}

TEST(Options, NameWhatIsWrongAndWhatIsAllowed) {
  const auto message = [](std::vector<std::string> arguments) {
    const auto options = parse_options(arguments);
    return options.ok() ? std::string("taken") : std::string(options.status().message());
  };
  EXPECT_THAT(message({"-p", "x"}), HasSubstr("-p: 'x' given; allowed: -1 to 65535"));
  EXPECT_THAT(message({"--metrics-port", "x"}), HasSubstr("--metrics-port: 'x' given"));
  EXPECT_THAT(message({"-o", "nonsense"}), HasSubstr("-o: illegal suboption 'nonsense'"));
  EXPECT_THAT(message({"-o", "ssl_verify_mode=4"}),
              HasSubstr("-o ssl_verify_mode: '4' given; allowed: 0 to 3"));
  EXPECT_THAT(message({"-B", "telnet"}), HasSubstr("allowed: auto, ascii, binary"));
  EXPECT_THAT(message({"-a", "8"}), HasSubstr("-a: '8' given"));
  EXPECT_THAT(message({"-S"}), HasSubstr("-S: no users given"));
  EXPECT_THAT(message({"-S", "-Y", "f", "-B", "ascii"}), HasSubstr("-S and -B ascii"));
  EXPECT_THAT(message({"-Y", "f", "-B", "binary"}), HasSubstr("only with -S"));
  EXPECT_THAT(message({"-I", "1g"}), HasSubstr("128m"));
  EXPECT_THAT(message({"-I", "40m"}), HasSubstr("an eighth of -m (64.0 MiB); give -m 320"));
  EXPECT_THAT(message({"--buffer-memory", "1m"}), HasSubstr("at least twice -I (1.00 MiB)"));
  EXPECT_THAT(message({"--what"}), HasSubstr("--what"));
  EXPECT_THAT(message({"-p"}), HasSubstr("needs a value"));
}

// memcached takes these; an item is as large as the store allows.
TEST(Options, SmallStoresHaveSmallItems) {
  for (int megabytes = 1; megabytes <= 10; ++megabytes) {
    const auto options = parse_options({"--medium", "dram", "-m", std::to_string(megabytes)});
    ASSERT_TRUE(options.ok()) << options.status();
    EXPECT_EQ(options->settings.max_item_bytes,
              std::min<uint64_t>(1 << 20, (uint64_t(megabytes) << 20) / 8));
    const auto store = open_kv_store(store_of(*options).config);
    ASSERT_TRUE(store.ok()) << store.status();
  }
}

// The largest item that -I allows, for any -I and the least -m.
TEST(Options, MakeZonesForTheLargestItem) {
  for (const uint64_t item_bytes : {uint64_t{1} << 10, uint64_t{1} << 20, uint64_t{3} << 20,
                                    uint64_t{100} << 20, uint64_t{128} << 20}) {
    for (const uint64_t times : {8, 9, 12, 16, 20, 100}) {
      const uint64_t memory_bytes = std::max<uint64_t>(1 << 20, item_bytes * times);
      const auto options = parse_options({"--medium", "dram", "-I", std::to_string(item_bytes),
                                          "-m", std::to_string(memory_bytes >> 10) + "KiB"});
      ASSERT_TRUE(options.ok()) << options.status();
      const KvConfig config = store_of(*options).config;
      const auto plan = plan_geometry(config.size_bytes, config.zone_bytes, config.item_bytes, 32);
      ASSERT_TRUE(plan.ok()) << plan.status() << " -I " << item_bytes << " times " << times;
      EXPECT_GE(plan->zone_bytes / 2, item_bytes);
    }
  }
}

TEST(Options, MakeAStoreSpecification) {
  auto options = parse_options({"--medium", "file:/a b&c", "-m", "1GiB", "--durability", "each"});
  ASSERT_TRUE(options.ok());
  const StoreSpecification of_file = store_of(*options);
  EXPECT_EQ(of_file.text, "nvkv://?size=1GiB&medium=file:/a%20b%26c&durability=each");
  EXPECT_EQ(of_file.config.medium, "file:/a b&c");
  options = parse_options({"--medium", "dram", "-I", "8m", "-m", "64"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(store_of(*options).text, HasSubstr("&zone=16MiB"));
  options = parse_options({"--store", "nvkv://?size=1024KiB"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(store_of(*options).text, "nvkv://?size=1024KiB");
}

// `stats settings` shows it: who opens a store by it gets the same one.
TEST(Options, AStoreSpecificationReadsBack) {
  for (const char* arguments :
       {"-m 64 --medium=dram", "-m 1GiB -I 100m --medium=file:/a --durability=each_lru",
        "-m 77777KiB --medium=emulated:optane --max-absence=60,empty"}) {
    const auto options = parse_options(words(arguments));
    ASSERT_TRUE(options.ok()) << options.status();
    const StoreSpecification store = store_of(*options);
    const auto read = parse_kv_config(store.text);
    ASSERT_TRUE(read.ok()) << read.status();
    for (const Setting<KvConfig>& row : kv_config_rows()) {
      EXPECT_EQ(row.print(*read), row.print(store.config)) << row.name << " of " << store.text;
    }
  }
}

TEST(Options, AStoreThatCannotBeSaysWhy) {
  const auto why = [](const char* arguments) {
    const auto options = parse_options(words(arguments));
    EXPECT_TRUE(options.ok()) << options.status();
    return std::string(store_specification_of(*options).status().message());
  };
  EXPECT_THAT(why("-m 9TiB --medium=dram"), HasSubstr("size: '9TiB' given; allowed: 256 KiB to"));
  EXPECT_THAT(why("--medium=dram --durability=none"), HasSubstr("durability: 'none' given"));
  EXPECT_THAT(why("--store nvkv://?size=1MiB&x=1"), HasSubstr("unknown setting 'x'"));
}

// The settings that a row's setter makes of the command line, or its error.
std::string outcome(const std::vector<std::string>& arguments) {
  const auto options = parse_options(arguments);
  return options.ok() ? "parsed" : std::string(options.status().message());
}

bool is_refused(const OptionRow& row) { return std::string_view(row.help).starts_with("refused"); }

TEST(OptionTable, EveryRowParsesInEachOfItsForms) {
  setenv("MEMCACHED_SASL_PWDB", "/tmp/users", 1);  // -S needs users
  for (const OptionRow& row : option_rows()) {
    std::vector<std::vector<std::string>> forms;
    const std::string letter = std::string("-") + row.letter;
    const std::string word = row.word == nullptr ? "" : std::string("--") + row.word;
    if (row.argument == nullptr) {
      if (row.letter != 0) forms.push_back({letter});
      if (row.word != nullptr) forms.push_back({word});
    } else {
      const std::string value = sample(row.argument);
      if (row.letter != 0) forms.push_back({letter, value});
      if (row.letter != 0) forms.push_back({letter + value});
      if (row.word != nullptr) forms.push_back({word, value});
      if (row.word != nullptr) forms.push_back({word + "=" + value});
      EXPECT_THAT(outcome({row.letter != 0 ? letter : word}), HasSubstr("needs a value"));
    }
    ASSERT_FALSE(forms.empty());
    for (const auto& form : forms) {
      if (is_refused(row)) {
        EXPECT_THAT(outcome(form), testing::StartsWith(row.name() + ": "));
      } else {
        EXPECT_EQ(outcome(form), "parsed") << form[0];
      }
    }
  }
  unsetenv("MEMCACHED_SASL_PWDB");
}

TEST(Options, SaslServesBinaryClientsAloneUnlessToldOtherwise) {
  EXPECT_EQ(parse_options(words("-S -Y f"))->settings.binding, Settings::Binding::kBinary);
  EXPECT_EQ(parse_options(words("-S -Y f -B auto"))->settings.binding, Settings::Binding::kAuto);
  setenv("MEMCACHED_SASL_PWDB", "/tmp/users", 1);
  EXPECT_EQ(parse_options(words("-S"))->settings.auth_file, "/tmp/users");
  EXPECT_EQ(parse_options(words("-S -Y f"))->settings.auth_file, "f");
  EXPECT_EQ(parse_options({})->settings.auth_file, "");
  unsetenv("MEMCACHED_SASL_PWDB");
}

TEST(OptionTable, EveryItemOfTheExtendedListParses) {
  for (const ExtendedRow& row : extended_rows()) {
    const std::string value = row.argument == nullptr ? "" : "=" + sample(row.argument);
    EXPECT_EQ(outcome({"-o", row.word + value}), "parsed") << row.word;
    EXPECT_EQ(outcome({"--extended=" + (row.word + value)}), "parsed") << row.word;
    if (row.help == nullptr) continue;
    EXPECT_THAT(outcome({"-o", "nonsense"}), HasSubstr(std::string(row.word) + ", "));
  }
}

TEST(OptionTable, RowsDoNotShareANameAndSayWhatTheyDo) {
  std::set<std::string> names;
  for (const OptionRow& row : option_rows()) {
    if (row.letter != 0) {
      EXPECT_TRUE(names.insert(std::string("-") + row.letter).second) << row.letter;
    }
    if (row.word != nullptr) {
      EXPECT_TRUE(names.insert(row.word).second) << row.word;
    }
    EXPECT_FALSE(std::string_view(row.help).empty());
    EXPECT_NE(row.set, nullptr);
  }
  for (const ExtendedRow& row : extended_rows()) {
    EXPECT_TRUE(names.insert(std::string("-o ") + row.word).second) << row.word;
  }
}

TEST(OptionTable, EveryRowIsALineOfTheHelp) {
  const std::string help = help_text();
  const std::vector<std::string> lines = lines_of(help);
  const auto lines_that_start_with = [&](const std::string& start) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.starts_with(start); });
  };
  for (const OptionRow& row : option_rows()) {
    EXPECT_EQ(lines_that_start_with(row.letter == 0 ? row.name() + "=" : row.name()), 1)
        << row.name();
    if (row.word != nullptr) {
      EXPECT_THAT(help, HasSubstr(std::string("--") + row.word));
    }
    const std::string first = lines_of(row.help).front();
    EXPECT_THAT(help, HasSubstr("  " + first + "\n")) << "no gap, or no help: " << row.name();
  }
  for (const ExtendedRow& row : extended_rows()) {
    EXPECT_THAT(help, HasSubstr(row.help == nullptr ? std::string(" ") + row.word
                                                    : std::string(row.word) + "="));
  }
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
}

TEST(OptionTable, TheHelpNamesMediaThatTheStoreOpens) {
  const TempDir folder;
  for (const MediumRow& row : kMedia) {
    const std::string medium = fmt::format("{}{}", row.prefix, row.place);
    EXPECT_EQ(help_text().find(medium) != std::string::npos, row.holds_store) << medium;
    if (!row.holds_store || row.may_be_refused) continue;
    std::string real(*row.examples.begin());
    if (row.owns == Owns::kFile) real.replace(row.prefix.size(), real.npos, folder.file("data"));
    const auto options = parse_options({"--medium", real});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(open_kv_store(store_of(*options).config).status(), ok_status()) << real;
  }
  EXPECT_THAT(help_text(), testing::Not(HasSubstr("dax:")));
  EXPECT_THAT(help_text(), testing::Not(HasSubstr("modelled:")));
}

}  // namespace
}  // namespace nvcache::server
