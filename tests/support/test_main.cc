// The main of every test binary: GoogleTest's, the seed of the run, and negative controls.
//
// --negative-control=HOOK sets a hook of base/test_hooks.h before the first test. It exits with 0
// only if tests ran and one of them failed by an assertion. A crash ends the process as
// usual. So does an exception, which is no assertion. If no test ran, or all passed, it exits
// with 1.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/test_hooks.h"
#include "gtest/gtest.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr std::string_view kOption = "--negative-control=";
constexpr struct {
  std::string_view name;
  bool TestHooks::*hook;
} kHooks[] = {{"leak_slots", &TestHooks::leak_slots},
              {"keep_low_descriptors", &TestHooks::keep_low_descriptors},
              {"take_signals", &TestHooks::take_signals},
              {"believe_any_file", &TestHooks::believe_any_file},
              {"believe_mutable_keys", &TestHooks::believe_mutable_keys},
              {"believe_others", &TestHooks::believe_others},
              {"skip_removed", &TestHooks::skip_removed},
              {"forget_found", &TestHooks::forget_found},
              {"forget_filtered", &TestHooks::forget_filtered},
              {"one_account", &TestHooks::one_account},
              {"skip_probes", &TestHooks::skip_probes},
              {"reuse_failed_places", &TestHooks::reuse_failed_places},
              {"skip_region_check", &TestHooks::skip_region_check},
              {"recover_oldest_first", &TestHooks::recover_oldest_first},
              {"believe_discards", &TestHooks::believe_discards},
              {"skip_overlap", &TestHooks::skip_overlap},
              {"skip_update", &TestHooks::skip_update},
              {"skip_tokens", &TestHooks::skip_tokens},
              {"believe_absence", &TestHooks::believe_absence},
              {"restore_stale", &TestHooks::restore_stale},
              {"restore_superseded", &TestHooks::restore_superseded},
              {"forget_owners", &TestHooks::forget_owners},
              {"skip_delete_flush", &TestHooks::skip_delete_flush},
              {"skip_zone_flush", &TestHooks::skip_zone_flush},
              {"skip_update_flush", &TestHooks::skip_update_flush},
              {"skip_eviction_flush", &TestHooks::skip_eviction_flush},
              {"skip_touch_flush", &TestHooks::skip_touch_flush},
              {"skip_evacuation", &TestHooks::skip_evacuation},
              {"skip_evacuation_flush", &TestHooks::skip_evacuation_flush},
              {"skip_cleaning_mark", &TestHooks::skip_cleaning_mark},
              {"skip_clear_flush", &TestHooks::skip_clear_flush},
              {"skip_state_flush", &TestHooks::skip_state_flush},
              {"skip_sweep_flush", &TestHooks::skip_sweep_flush},
              {"skip_version_mark", &TestHooks::skip_version_mark},
              {"believe_torn", &TestHooks::believe_torn},
              {"trust_headers", &TestHooks::trust_headers},
              {"skip_version_sweep", &TestHooks::skip_version_sweep},
              {"keep_old_table", &TestHooks::keep_old_table}};

bool set_hook(std::string_view name) {
  for (const auto& each : kHooks) {
    if (each.name != name) continue;
    test_hooks.*each.hook = true;
    return true;
  }
  std::fprintf(stderr, "no hook '%.*s'; allowed:", static_cast<int>(name.size()), name.data());
  for (const auto& each : kHooks) std::fprintf(stderr, " %s", each.name.data());
  std::fputc('\n', stderr);
  return false;
}

// Not where tests are only listed: CMake reads that output.
class SeedPrinter final : public testing::Environment {
  void SetUp() override { test_seed(); }
};

int run_control() {
  GTEST_FLAG_SET(catch_exceptions, false);
  const bool failed = RUN_ALL_TESTS() != 0;
  const auto& run = *testing::UnitTest::GetInstance();
  const bool as_wanted = failed && run.test_to_run_count() > 0 && run.failed_test_count() > 0;
  std::printf("negative control: %s\n",
              as_wanted ? "ok, the tests found the fault" : "FAILED, no test found the fault");
  return as_wanted ? 0 : 1;
}

}  // namespace
}  // namespace nvcache

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new nvcache::SeedPrinter);
  if (argc == 1) return RUN_ALL_TESTS();
  const std::string_view option = argv[1];
  if (argc > 2 || !option.starts_with(nvcache::kOption)) {
    std::fprintf(stderr, "usage: %s [--negative-control=HOOK] [--gtest_...]\n", argv[0]);
    return 2;
  }
  if (!nvcache::set_hook(option.substr(nvcache::kOption.size()))) return 2;
  return nvcache::run_control();
}
