// Calibration: what it measures on emulated media under the virtual clock, the OBP target that it
// suggests, and the command around it.
#include "apps/nvcache/calibrate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "apps/nvcache/calibrate_command.h"
#include "base/text.h"
#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/dram.h"
#include "support/failing_medium.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;

CalibrationResult calibrate_emulated(const std::string& profile, CalibrationOptions options = {}) {
  VirtualClock clock;
  auto medium = open_medium("emulated:" + profile, {.size_bytes = 16 << 20}, clock);
  EXPECT_TRUE(medium.ok()) << medium.status();
  auto result = calibrate(**medium, clock, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : CalibrationResult{};
}

// One run for each profile, shared by the tests that only look at its result.
const CalibrationResult& calibrated(const std::string& profile) {
  static std::map<std::string, CalibrationResult> results;
  const auto [found, missing] = results.try_emplace(profile);
  if (missing) found->second = calibrate_emulated(profile);
  return found->second;
}

std::map<uint32_t, CalibrationPoint> by_writers(const CalibrationResult& result) {
  std::map<uint32_t, CalibrationPoint> points;
  for (const CalibrationPoint& point : result.points) points[point.writers] = point;
  return points;
}

testing::Matcher<double> within_10_percent(double value) { return DoubleNear(value, value / 10); }

TEST(Calibrate, OptaneReadsAsThePaperMeasured) {
  auto points = by_writers(calibrated("optane"));
  EXPECT_THAT(points[0].read_gb_s, within_10_percent(12.0));
  EXPECT_THAT(points[1].read_gb_s, within_10_percent(3.4));
  EXPECT_THAT(points[8].read_gb_s, within_10_percent(0.8));
  EXPECT_EQ(points.size(), 5u) << "0, 1, 2, 4 and 8 writers";
}

TEST(Calibrate, OptaneWritesSlowDownAsWritersAreAdded) {
  auto points = by_writers(calibrated("optane"));
  EXPECT_EQ(points[0].write_gb_s, 0);
  EXPECT_THAT(points[1].write_gb_s, within_10_percent(2.0));
  EXPECT_GT(points[1].write_gb_s, points[2].write_gb_s);
  EXPECT_GT(points[2].write_gb_s, points[4].write_gb_s);
  EXPECT_THAT(points[8].write_gb_s, within_10_percent(1.2));
}

TEST(Calibrate, DramLosesAsMuchAsThePaperMeasured) {
  auto points = by_writers(calibrated("dram"));
  EXPECT_THAT(points[0].read_gb_s, within_10_percent(30.0));
  EXPECT_THAT(1 - points[1].read_gb_s / points[0].read_gb_s, DoubleNear(0.18, 0.02));
  EXPECT_THAT(1 - points[8].read_gb_s / points[0].read_gb_s, DoubleNear(0.35, 0.02));
}

TEST(Calibrate, CxlIsFullDuplex) {
  auto points = by_writers(calibrated("cxl"));
  EXPECT_THAT(points[0].read_gb_s, within_10_percent(17.8));
  EXPECT_THAT(points[8].read_gb_s / points[8].write_gb_s, within_10_percent(1.0));
  EXPECT_THAT(points[8].read_gb_s + points[8].write_gb_s, within_10_percent(27.0));
}

TEST(Calibrate, FlashHasItsLatencyAndBandwidth) {
  auto points = by_writers(calibrated("flash"));
  EXPECT_THAT(points[0].read_gb_s, within_10_percent(1.6));
  EXPECT_THAT(points[0].read_latency_ns, within_10_percent(85'000));
  EXPECT_LT(points[1].read_gb_s, 0.25 * points[0].read_gb_s);
}

TEST(Calibrate, OneReaderGetsLessThanTheWholeMedium) {
  const auto result = calibrate_emulated("optane", {.readers = 1, .max_writers = 1});
  EXPECT_LT(result.points[0].read_gb_s, 3.1);
  EXPECT_GT(result.points[0].read_gb_s, 2.5);
}

TEST(Calibrate, IsDeterministicUnderTheVirtualClock) {
  EXPECT_EQ(calibration_json(calibrate_emulated("optane")), calibration_json(calibrated("optane")));
}

TEST(Calibrate, TargetsFollowTheMedium) {
  const double optane = calibrated("optane").suggested_obp_target;
  const double dram = calibrated("dram").suggested_obp_target;
  const double cxl = calibrated("cxl").suggested_obp_target;
  const double flash = calibrated("flash").suggested_obp_target;
  EXPECT_GE(optane, 0.05);  // the flat range of *Writes Hurt*, section 3.2.3
  EXPECT_LE(optane, 0.30);
  EXPECT_GT(dram, 3 * optane);
  EXPECT_GT(cxl, 0.9);
  EXPECT_LT(flash, 0.5 * cxl);
}

CalibrationPoint point(uint32_t writers, double read_gb_s, double write_gb_s) {
  return {.writers = writers, .read_gb_s = read_gb_s, .write_gb_s = write_gb_s};
}

TEST(SuggestObpTarget, IsWrittenPerReadWhereReadsFallToTheKeptShare) {
  const double kept = 8 * kKeptReadShare;
  EXPECT_NEAR(suggest_obp_target({point(0, 8, 0), point(1, kept * 0.999999, 1)}), 1 / kept, 1e-3);
  // Reads fall by kept^2 at 2 GB/s written: to kept at 1 GB/s.
  EXPECT_NEAR(suggest_obp_target({point(0, 8, 0), point(1, kept * kKeptReadShare, 2)}), 1 / kept,
              1e-9);
}

TEST(SuggestObpTarget, LooksBetweenLaterPointsToo) {
  const double target =
      suggest_obp_target({point(0, 10, 0), point(1, 9, 1), point(2, 8, 2), point(4, 2, 3)});
  EXPECT_GT(target, 2.0 / (10 * kKeptReadShare));
  EXPECT_LT(target, 3.0 / (10 * kKeptReadShare));
}

TEST(SuggestObpTarget, StaysWithinItsLimits) {
  EXPECT_EQ(suggest_obp_target({}), kLowestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 0, 0), point(1, 0, 1)}), kLowestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 10, 0)}), kHighestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 10, 0), point(1, 10, 5)}), kHighestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 10, 0), point(1, 11, 5)}), kHighestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 10, 0), point(1, 0, 5)}), kLowestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 10, 0), point(1, 1, 0.001)}), kLowestObpTarget);
  EXPECT_EQ(suggest_obp_target({point(0, 1, 0), point(1, 0.5, 100)}), kHighestObpTarget);
}

TEST(Calibrate, RunsInRealTimeOnARealMedium) {
  auto medium = open_medium("dram", {.size_bytes = 1 << 20}, system_clock());
  ASSERT_TRUE(medium.ok());
  // Long enough for a thread that competes with other programs: longer each time.
  uint64_t reads = 0;
  for (uint64_t point_ns = 50'000'000; reads == 0 && point_ns < 60'000'000'000; point_ns *= 2) {
    const auto result =
        calibrate(**medium, system_clock(),
                  {.readers = 1, .max_writers = 1, .block_bytes = 4096, .point_ns = point_ns});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->virtual_time);
    ASSERT_EQ(result->points.size(), 2u);
    reads = result->points[0].reads;
  }
  EXPECT_GT(reads, 0u);
}

TEST(Calibrate, RefusesWhatCannotBeMeasured) {
  VirtualClock clock;
  const auto refused = [&](const std::string& spec, uint64_t size_bytes,
                           const CalibrationOptions& options) {
    auto medium = open_medium(spec, {.size_bytes = size_bytes}, clock);
    EXPECT_TRUE(medium.ok()) << medium.status();
    const auto result = calibrate(**medium, clock, options);
    EXPECT_TRUE(is_invalid_argument(result.status())) << result.status();
    return std::string(result.status().message());
  };
  EXPECT_THAT(refused("dram", 1 << 20, {}), HasSubstr("emulated media only"));
  EXPECT_THAT(refused("emulated:optane", 1 << 16, {}), HasSubstr("a block for each of 16"));
  EXPECT_THAT(refused("emulated:optane", 1 << 20, {.readers = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(refused("emulated:optane", 1 << 20, {.max_writers = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(refused("emulated:flash", 1 << 20, {.block_bytes = 1000}),
              HasSubstr("multiples of 4096"));
}

TEST(Calibrate, AFailingMediumEndsTheRunWithItsError) {
  auto dram = DramMedium::open({.size_bytes = 1 << 20});
  ASSERT_TRUE(dram.ok());
  FailingMedium medium(*std::move(dram));
  medium.fail_reads(data_loss_error("bad cell"), 100);
  // The failure ends the run, long before its time is over.
  const auto result =
      calibrate(medium, system_clock(),
                {.readers = 2, .max_writers = 1, .block_bytes = 4096, .point_ns = 60'000'000'000});
  EXPECT_TRUE(is_data_loss(result.status())) << result.status();
}

TEST(Calibrate, ProgressIsToldAndMayStopTheRun) {
  VirtualClock clock;
  auto medium = open_medium("emulated:optane", {.size_bytes = 1 << 20}, clock);
  ASSERT_TRUE(medium.ok());
  std::vector<std::string> steps;
  const auto result =
      calibrate(**medium, clock, {.progress = [&](const std::string& step) -> Status {
        steps.push_back(step);
        if (steps.size() == 3) return cancelled_error("stop");
        return ok_status();
      }});
  EXPECT_TRUE(is_cancelled(result.status()));
  EXPECT_THAT(steps, testing::ElementsAre("filling the medium", "8 readers, 0 writers",
                                          "8 readers, 1 writers"));
}

TEST(CalibrateReport, FitsATerminalAndSaysEmulated) {
  const CalibrationResult result = calibrated("optane");
  const std::string text = calibration_table(result) + calibration_chart(result);
  EXPECT_THAT(text, HasSubstr("emulated:optane"));
  EXPECT_THAT(text, HasSubstr("admission=obp(0."));
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    EXPECT_LE(end - begin, 80u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(CalibrateReport, JsonHasAllPoints) {
  const CalibrationResult result = calibrated("cxl");
  const nlohmann::json json = calibration_json(result);
  EXPECT_EQ(json["medium"], "emulated:cxl");
  EXPECT_EQ(json["emulated"], true);
  ASSERT_EQ(json["points"].size(), result.points.size());
  EXPECT_EQ(json["points"][4]["writers"], 8);
  EXPECT_EQ(json["points"][4]["read_gb_s"], result.points[4].read_gb_s);
  EXPECT_EQ(json["suggested_obp_target"], result.suggested_obp_target);
}

class CalibrateCommand : public testing::Test {
 protected:
  // The exit code; stdout and stderr end up in out_ and err_.
  int run(const std::string& command_line) {
    CLI::App app{"test"};
    add_calibrate_command(app);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = 0;
    try {
      app.parse(command_line);
    } catch (const CLI::RuntimeError& error) {
      code = error.get_exit_code();
    } catch (const CLI::ParseError& error) {
      code = 2;
    }
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  TempDir directory_;
  std::string out_;
  std::string err_;
};

TEST_F(CalibrateCommand, PrintsTableAndChartAndWritesJson) {
  const std::string json_path = directory_.file("out.json");
  ASSERT_EQ(run("calibrate emulated:optane --size 16MiB --json " + json_path), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("reads, GB/s"));
  EXPECT_THAT(out_, HasSubstr("####"));
  EXPECT_THAT(err_, Not(HasSubstr("nvcache calibrate:"))) << "progress at most";
  std::ifstream file(json_path);
  const nlohmann::json json = nlohmann::json::parse(file);
  EXPECT_THAT(json["points"][0]["read_gb_s"].get<double>(), within_10_percent(12.0));
  EXPECT_TRUE(json.contains("machine"));
}

TEST_F(CalibrateCommand, MeasuresARealFile) {
  ASSERT_EQ(run("calibrate file:" + directory_.file("x") +
                " --size 4MiB --readers 1 --writers 1 --seconds 0.01"),
            0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("page cache"));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("x")));
}

TEST_F(CalibrateCommand, BadArgumentsAreUsageErrors) {
  EXPECT_EQ(run("calibrate"), 2);
  EXPECT_EQ(run("calibrate emulated:tape"), 2);
  EXPECT_THAT(err_, HasSubstr("profile 'tape' is unknown; allowed: optane, dram, cxl, flash"));
  EXPECT_EQ(run("calibrate dram --size much"), 2);
  EXPECT_THAT(err_, HasSubstr("--size: 'much'"));
  EXPECT_EQ(run("calibrate dram --block 0"), 2);
  EXPECT_THAT(err_, HasSubstr("--block: '0'"));
  EXPECT_EQ(run("calibrate dram --readers 0"), 2);
  EXPECT_EQ(run("calibrate dram --json " + directory_.file("no/such/dir.json")), 2);
}

TEST_F(CalibrateCommand, AMediumThatCannotBeOpenedIsAFailure) {
  EXPECT_EQ(run("calibrate file:" + directory_.file("missing/x")), 1);
  EXPECT_THAT(err_, HasSubstr("missing/x"));
}

}  // namespace
}  // namespace nvcache
