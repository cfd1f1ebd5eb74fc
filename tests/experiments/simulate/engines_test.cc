// Each row of the table of engines: it can be asked for what it says, and shows it.
#include "experiments/simulate/engines.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/study.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nvcache::simulate {
namespace {

using testing::HasSubstr;

bool has(const std::vector<Named>& rows, std::string_view name) {
  return std::ranges::any_of(rows, [&](const Named& row) { return row.name == name; });
}

// One small run of each configuration that is simulated by default.
std::vector<Run> runs_by_default(const EngineRow& engine) {
  StudyOptions study;
  study.base.engine = engine.name;
  study.base.scale = 2048;
  study.base.minutes = 1;
  study.workloads.emplace_back(engine.default_workloads.front());
  for (const std::string_view name : engine.default_configurations) {
    study.configurations.emplace_back(name);
  }
  study.nvram_bytes = {64 * kGiB};
  StatusOr<std::vector<Run>> runs = plan(study);
  EXPECT_TRUE(runs.ok()) << runs.status().message();
  if (!runs.ok()) return {};
  const Status status = carry_out(*runs, 2, {});
  EXPECT_TRUE(status.ok()) << status.message();
  return *std::move(runs);
}

TEST(Engines, AreFoundByNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const EngineRow* const engine : kEngines) {
    EXPECT_TRUE(names.insert(engine->name).second) << engine->name;
    EXPECT_EQ(find_engine(engine->name), engine);
  }
  EXPECT_EQ(find_engine("none of them"), nullptr);
}

TEST(Engines, HaveWhatTheyAreAskedForByDefault) {
  for (const EngineRow* const engine : kEngines) {
    EXPECT_TRUE(has(engine->configurations(), engine->base)) << engine->name;
    EXPECT_TRUE(has(storages(), engine->storage)) << engine->name;
    EXPECT_FALSE(engine->default_workloads.empty()) << engine->name;
    EXPECT_FALSE(engine->default_configurations.empty()) << engine->name;
    for (const std::string_view name : engine->default_workloads) {
      EXPECT_TRUE(has(engine->workloads(), name)) << engine->name << ": " << name;
    }
    for (const std::string_view name : engine->default_configurations) {
      EXPECT_TRUE(has(engine->configurations(), name)) << engine->name << ": " << name;
    }
    EXPECT_THAT(engine->default_configurations, testing::Contains(engine->base)) << engine->name;
  }
}

TEST(Engines, ShowTablesAndAPage) {
  for (const EngineRow* const engine : kEngines) {
    const auto runs = runs_by_default(*engine);
    ASSERT_EQ(runs.size(), engine->default_configurations.size()) << engine->name;
    const std::string text = text_tables(runs);
    size_t width = 0;
    for (size_t at = 0; at < text.size(); at += width + 1) {
      width = std::min(text.find('\n', at), text.size()) - at;
      EXPECT_LE(width, 100u) << text.substr(at, width);
    }
    const std::string all = page(runs, "the command");
    for (const Column& column : engine->columns) {
      if (column.width > 0) {
        EXPECT_THAT(text, HasSubstr(column.short_one));
      }
      EXPECT_THAT(all, HasSubstr(column.title));
    }
    for (const std::string_view part : {"# Simulated: ", "    the command\n", "## Results\n"}) {
      EXPECT_THAT(all, HasSubstr(part)) << engine->name;
    }
    EXPECT_THAT(all, testing::EndsWith(std::string(engine->page_end()))) << engine->name;
  }
}

}  // namespace
}  // namespace nvcache::simulate
