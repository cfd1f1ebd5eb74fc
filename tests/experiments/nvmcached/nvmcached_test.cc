// `nvcache bench nvmcached`: traces, wrong command lines, the costs of the four systems, crashes
// and what they take, restarts, and the figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "CLI/CLI.hpp"
#include "apps/command/exit_code.h"
#include "apps/report/figure_tables.h"
#include "apps/report/html.h"
#include "base/clock.h"
#include "experiments/nvmcached/crash.h"
#include "experiments/nvmcached/nvmcached_command.h"
#include "experiments/nvmcached/nvmcached_run.h"
#include "experiments/nvmcached/restart.h"
#include "experiments/nvmcached/system.h"
#include "nlohmann/json.hpp"
#include "support/command_line.h"
#include "support/temp_dir.h"

namespace nvcache::nvmcached {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<Trace> built_in() { return parse_traces(kv_traces_text()).value(); }

Trace trace_named(std::string_view name) {
  for (const Trace& trace : built_in()) {
    if (trace.name == name) return trace;
  }
  ADD_FAILURE() << name;
  return {};
}

// ---- Traces ----

TEST(KvTraceTest, MixesAreThoseOfTable1) {
  const std::map<std::string, std::vector<double>> table1 = {{"APP", {84.05, 4.64, 11.31}},
                                                             {"ETC", {74.14, 2.03, 23.84}},
                                                             {"SYS", {46.88, 53.09, 0.03}},
                                                             {"USR", {99.72, 0.17, 0.11}},
                                                             {"VAR", {1.78, 98.22, 0.00}}};
  const auto traces = built_in();
  ASSERT_EQ(traces.size(), table1.size());
  for (const Trace& trace : traces) {
    const auto& mix = table1.at(trace.name);
    EXPECT_EQ(trace.get, mix[0]);
    EXPECT_EQ(trace.set, mix[1]);
    EXPECT_EQ(trace.del, mix[2]);
    RequestStream stream(trace, 1000, 1);
    std::map<Request::Kind, double> counts;
    constexpr int kRequests = 200'000;
    for (int i = 0; i < kRequests; ++i) counts[stream.next().kind] += 100.0 / kRequests;
    EXPECT_NEAR(counts[Request::kGet], mix[0], 0.5) << trace.name;
    EXPECT_NEAR(counts[Request::kSet], mix[1], 0.5) << trace.name;
    EXPECT_NEAR(counts[Request::kDelete], mix[2], 0.5) << trace.name;
  }
}

TEST(KvTraceTest, SizesAreTheModels) {
  // mutilate's ETC: 15 + 214.476 / (1 - 0.348238) on average; the cut at 64 KiB takes little.
  const Trace etc = trace_named("ETC");
  double sum = 0;
  for (uint64_t key = 0; key < 100'000; ++key) sum += etc.value_bytes(key);
  EXPECT_NEAR(sum / 100'000, 15 + 214.476 / (1 - 0.348238), 10);
  EXPECT_EQ(trace_named("USR").value_bytes(7), 2u);
}

TEST(KvTraceTest, EveryKeyIsLoadedOnceAndHasItsOwnText) {
  const RequestStream stream(trace_named("USR"), 1000, 1);
  std::set<uint64_t> keys;
  std::set<std::string> texts;
  for (uint64_t i = 0; i < 1000; ++i) keys.insert(stream.loaded().in_order(i));
  EXPECT_EQ(keys.size(), 1000u);
  for (const uint64_t key : {uint64_t{0}, uint64_t{9}, uint64_t{10}, uint64_t{999'999'999},
                             Request::kAbsent, Request::kAbsent + 9}) {
    std::string text(10, 'x');
    write_key(key, 10, text.data());
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 6u);
  EXPECT_TRUE(texts.contains("k000000010"));
}

TEST(KvTraceTest, MistakesAreNamed) {
  const auto complaint = [](std::string_view text) {
    return std::string(parse_traces(text).status().message());
  };
  EXPECT_THAT(complaint(""), HasSubstr("no trace"));
  EXPECT_THAT(complaint("get = 1"), HasSubstr("[NAME]"));
  EXPECT_THAT(complaint("[A]\nget = x"), HasSubstr("line 2"));
  EXPECT_THAT(complaint("[A]\ncolour = 1"), HasSubstr("theta"));
  EXPECT_THAT(complaint("[A]\nget = 1"), HasSubstr("missing"));
  std::string twice(kv_traces_text());
  twice += "get = 2\n";
  EXPECT_THAT(complaint(twice), HasSubstr("once"));
}

std::string complaint_for(std::vector<std::string> words) {
  CLI::App app;
  add_nvmcached_command(app, "test");
  words.insert(words.begin(), "nvmcached");
  return test::complaint_of_line(app, words);
}

TEST(NvmcachedCommandTest, WrongCommandLinesAreNamed) {
  EXPECT_THAT(complaint_for({"--figures", "6"}), HasSubstr("3 to 5"));
  EXPECT_THAT(complaint_for({"--traces", "ABC"}), HasSubstr("APP, USR, ETC, SYS, VAR"));
  EXPECT_THAT(complaint_for({"--media", "dram"}), HasSubstr("emulated:optane"));
  EXPECT_THAT(complaint_for({"--media", "emulated:flash"}), HasSubstr("byte-addressable"));
  EXPECT_THAT(complaint_for({"--size", "1KiB"}), HasSubstr("--size"));
  EXPECT_THAT(complaint_for({"--write-cache", "some"}), HasSubstr("--write-cache"));
  EXPECT_THAT(complaint_for({"--traces-file", "/nonexistent"}), HasSubstr("cannot be read"));
}

// ---- Costs ----

TEST(KvSystemTest, FlushesAreThoseOfTheDesign) {
  const Trace trace = mixed_trace(100, 0, 0.5);
  std::map<std::string, json> metrics;
  for (const Kind& kind : kinds()) {
    const uint64_t keys = 20'000;
    RequestStream stream(trace, keys, 1);
    auto system = System::open(kind, "emulated:dram", 16 << 20, trace);
    ASSERT_TRUE(system.ok()) << system.status();
    (*system)->load(stream);
    (*system)->start();
    std::vector<Request> batch(20'000);
    for (Request& request : batch) request = stream.next();
    (*system)->run(batch);
    EXPECT_EQ((*system)->wrong(), 0u);
    metrics[std::string(kind.name)] = (*system)->metrics();
  }
  const auto lines = [&](const char* name) { return metrics[name]["lines_per_op"].get<double>(); };
  const auto waits = [&](const char* name) {
    return metrics[name]["waited_ns_per_op"].get<double>();
  };
  EXPECT_EQ(lines("MC-DRAM"), 0);
  EXPECT_EQ(waits("MC-DRAM"), 0);
  // An item of 136 bytes lies in 3 lines, or 4; and its descriptor's.
  EXPECT_GT(lines("MC-NVM"), 3.9);
  EXPECT_LT(lines("MC-NVM"), 5);
  EXPECT_NEAR(lines("MC-NVLRU"), lines("MC-NVM") + 1, 0.1);
  // Updates: one descriptor each, except those that the write cache takes.
  EXPECT_LE(lines("NVMcached"), 1);
  EXPECT_GT(lines("NVMcached"), 0.1);
  // 100 ns a line and 15 a drain, at least.
  EXPECT_GT(waits("MC-NVM"), 100 * lines("MC-NVM"));
  EXPECT_GT(waits("MC-NVLRU"), waits("MC-NVM"));
  EXPECT_LT(waits("NVMcached"), waits("MC-NVM") / 2);
}

// ---- Crashes ----

CrashPlan small_crash() {
  return {.cache_bytes = 16 << 20,
          .drop_share = kPaperDropBytes / kPaperCacheBytes,
          .window = 20'000,
          .windows_after = 2};
}

TEST(KvCrashRunTest, NvmcachedLosesTheNewestAndNoMore) {
  Progress progress(system_clock());
  const auto result = run_crash(find_kind(kNvmcached), trace_named("USR"), small_crash(), progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->items_before, 10'000u);
  EXPECT_GT(result->items_dropped, 0u);
  EXPECT_GE(result->items_lost, result->items_dropped);
  EXPECT_LE(static_cast<double>(result->items_dropped),
            0.001 * static_cast<double>(result->items_before));
  EXPECT_LT(result->items_lost_share(), 0.01);
}

// The smaller the cache, the larger is the write cache's share of it.
TEST(KvCrashRunTest, WithoutAWriteCacheTheNewestAloneAreLost) {
  Progress progress(system_clock());
  CrashPlan plan = small_crash();
  plan.write_cache_bytes = 0;
  const auto result = run_crash(find_kind(kNvmcached), trace_named("SYS"), plan, progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->items_lost, 0u);
  EXPECT_LE(result->items_lost, result->items_dropped);
}

// The control: a system that loses everything must show it.
TEST(KvCrashRunTest, McDramLosesAll) {
  Progress progress(system_clock());
  const auto result = run_crash(find_kind(kMcDram), trace_named("USR"), small_crash(), progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->items_lost_share(), 1);
  EXPECT_GT(result->rise(), 0.3);
}

// ---- Restart ----

TEST(KvRestartTest, AKilledProcessLeavesItsItems) {
  const TempDir folder;
  Progress progress(system_clock());
  const RestartPlan plan{.items = 20'000, .folder = folder.path(), .checks = 20'000};
  const auto result = run_restart(plan, system_clock(), progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->recovered_items, 20'000u);
  EXPECT_EQ(result->found, result->checked);
  EXPECT_EQ(result->wrong, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// ---- All of it ----

TEST(KvRunTest, MakesItsFigures) {
  const TempDir folder;
  Options options;
  options.figures = {3, 4, 5};
  options.restart = true;
  options.media = {"emulated:dram"};
  options.traces = built_in();
  options.value_bytes = {100};
  options.get_percents = {100, 0};
  options.cache_bytes = 16 << 20;
  options.requests = 20'000;
  options.rounds = 1;
  options.window = 10'000;
  options.restart_items = 10'000;
  options.folder = folder.path();
  const auto document = run_nvmcached(options, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)["runs"].size(), 2u * 4 + 5 * 3);
  EXPECT_EQ((*document)["crashes"].size(), 2u * 4);
  std::map<std::string, json> figures;
  for (const json& figure : (*document)["figures"]) figures[figure["id"]] = figure;
  ASSERT_TRUE(figures.contains("Figure 5"));
  const json& rows = figures["Figure 5"]["rows"];
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[4]["label"], "VAR");
  EXPECT_EQ(rows[4]["cells"][0]["paper"], "2.85");
  EXPECT_GT(rows[4]["cells"][0]["median"].get<double>(), 1);
  EXPECT_EQ(figures["Figure 4, 100 B"]["rows"].size(), 4u);
  EXPECT_EQ(figures["Figure 3"]["rows"].size(), 8u);
  EXPECT_EQ(figures["Restart"]["rows"].size(), 1u);
  const auto tables = figures::figure_tables(*document);
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT(*tables, HasSubstr("EMULATED"));
  EXPECT_TRUE(check_report_document(*document).ok());
  EXPECT_TRUE(report_html({*document}).ok());
}

}  // namespace
}  // namespace nvcache::nvmcached
