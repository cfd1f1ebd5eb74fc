#include "experiments/java/java_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "base/text.h"
#include "experiments/harness/child_process.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/java/java_result.h"
#include "experiments/java/java_tools.h"
#include "experiments/run/databases.h"
#include "nlohmann/json.hpp"

namespace nvcache::java {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kCompileLimitSeconds = 600;

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first line of nvcache in what a program wrote to its standard error.
std::string complaint_in(std::string_view errors) {
  while (!errors.empty()) {
    const auto [line, rest] = split_once(errors, '\n');
    if (line.starts_with("nvcache:")) return std::string(line);
    errors = rest;
  }
  return "";
}

// The classes, and one run's state, tier and output.
class JavaFolder {
 public:
  [[nodiscard]] Status take(const std::string& db) {
    auto taken = Databases::take(db, /*keep=*/false);
    if (!taken.ok()) return taken.status();
    databases_ = *std::move(taken);
    root_ = databases_->run_folder();
    std::error_code error;
    fs::create_directories(path("classes"), error);
    fs::create_directories(path("sources"), error);
    if (!error) return ok_status();
    return failed_precondition_error(
        fmt::format("--db {}: cannot make a folder in it: {}", root_, error.message()));
  }

  std::string path(const std::string& name) const { return root_ + "/" + name; }

  [[nodiscard]] Status fresh_run() const {
    std::error_code error;
    fs::remove_all(path("run"), error);
    fs::create_directory(path("run"), error);
    if (!error) return ok_status();
    return internal_error(fmt::format("{}: {}", path("run"), error.message()));
  }

  // Memory's file systems of older kernels have no direct reads.
  [[nodiscard]] Status check_direct_reads() const {
    const std::string probe = path("probe");
    const int file = ::open(probe.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
    const int error = errno;
    std::error_code ignored;
    fs::remove(probe, ignored);
    if (file >= 0) {
      ::close(file);
      return ok_status();
    }
    return failed_precondition_error(
        fmt::format("--db {}: no direct reads there, which the case needs: {}; name a folder on a "
                    "disk, or leave the case out by --cases",
                    root_, std::strerror(error)));
  }

 private:
  std::unique_ptr<Databases> databases_;  // removes it all
  std::string root_;
};

class JavaBench {
 public:
  JavaBench(const Program& program, const Options& options, const Clock& clock)
      : program_(program),
        options_(options),
        tiered_(options.tiered.empty() ? program.tiered : options.tiered),
        clock_(clock),
        progress_(clock) {}

  StatusOr<json> run() {
    auto cases = chosen_cases(program_, options_);
    if (!cases.ok()) return cases.status();
    cases_ = *std::move(cases);
    auto tools = find_tools(program_, options_);
    if (!tools.ok()) return tools.status();
    tools_ = *std::move(tools);
    Status status = folder_.take(options_.db);
    if (status.ok()) status = compile();
    if (!status.ok()) return status;
    for (const Case& each : cases_) {
      if (each.direct) status = folder_.check_direct_reads();
      if (status.ok()) status = run_case(each);
      if (!status.ok()) return status;
    }
    return document();
  }

 private:
  Status compile() {
    Status status = write_sources(folder_.path("sources"));
    if (!status.ok()) return status;
    return run_child(
        {{tools_.javac, "-nowarn", "-cp", tools_.classpath, "-sourcepath", folder_.path("sources"),
          "-d", folder_.path("classes"), folder_.path("sources/" + program_.main_class + ".java")},
         folder_.path("javac.log"),
         kCompileLimitSeconds,
         fmt::format("compiling {}", program_.main_class)},
        clock_, progress_);
  }

  Status run_case(const Case& each) {
    for (uint32_t pair = 1; pair <= options_.pairs; ++pair) {
      for (const char* configuration : {kWithout, kWith}) {
        const std::string title = fmt::format("[{}/{}] {} {} {}", runs_.size() + 1,
                                              size_t{2} * options_.pairs * cases_.size(),
                                              program_.command, each.name, configuration);
        Status status = run_one(each, configuration, pair, title);
        if (is_cancelled(status)) return status;
        if (!status.ok()) {
          return Status(status.code(),
                        fmt::format("{}, pair {}: {}", title, pair, status.message()));
        }
      }
    }
    return ok_status();
  }

  Status run_one(const Case& each, const char* configuration, uint32_t pair,
                 const std::string& title) {
    Status status = folder_.fresh_run();
    const bool with = configuration == kWith;
    if (status.ok()) status = run_child(command(each, with, title), clock_, progress_);
    if (!status.ok()) return status;
    const std::string complaint = complaint_in(text_in(folder_.path("run/errors")));
    if (!complaint.empty()) return failed_precondition_error(complaint);
    const auto outcome = parse_outcome(text_in(folder_.path("run/output")));
    if (!outcome.ok()) return outcome.status();
    const auto [first, is_first] = first_.try_emplace(each.name, *outcome);
    if (!is_first) {
      status = check_equal(first->second, *outcome);
      if (!status.ok()) {
        return data_loss_error(
            fmt::format("it did not send what the first run sent: {}", status.message()));
      }
    }
    json metrics = metrics_json(*outcome);
    if (with) {
      const auto hits = lower_hits();
      if (!hits.ok()) return hits.status();
      metrics["lower_hits"] = *hits;
    }
    progress_.say(fmt::format("{}: {:.0f} events/s, {} read calls", title,
                              metrics["events_per_second"].get<double>(), outcome->read_calls));
    runs_.push_back({{"case", each.name},
                     {"configuration", configuration},
                     {"pair", pair},
                     {"sent", outcome->sent},
                     {"metrics", metrics}});
    return ok_status();
  }

  ChildCommand command(const Case& each, bool with, const std::string& title) const {
    const std::string run = folder_.path("run");
    std::vector<std::string> words = {tools_.java};
    words.insert(words.end(), program_.flags.begin(), program_.flags.end());
    words.push_back("-Djava.io.tmpdir=" + run);
    words.push_back(fmt::format("-Dkeys={}", each.keys));
    words.push_back(fmt::format("-Dwarm={}", each.warm));
    words.push_back(fmt::format("-Devents={}", each.events));
    words.push_back(fmt::format("-Ddirect={}", each.direct));
    for (const std::string& property : each.properties) words.push_back("-D" + property);
    words.insert(words.end(),
                 {"-cp", folder_.path("classes") + ":" + tools_.classpath, program_.main_class});
    return {words, run + "/output", options_.limit_seconds,
            title, run + "/errors", environment(with)};
  }

  // Both kinds of runs have what else the user preloads.
  std::vector<std::string> environment(bool with) const {
    if (!with) return environment_without({"NVCACHE_"});
    std::vector<std::string> variables = environment_without({"NVCACHE_", "LD_PRELOAD="});
    const char* const others = std::getenv("LD_PRELOAD");
    const bool alone = others == nullptr || *others == '\0';
    variables.push_back(
        fmt::format("LD_PRELOAD={}{}{}", tools_.library, alone ? "" : ":", alone ? "" : others));
    variables.push_back("NVCACHE_TIERED=" + tiered_);
    variables.push_back("NVCACHE_STATS_JSON=" + folder_.path("run/stats-%p.json"));
    return variables;
  }

  // They are written at the latest when the program ends.
  StatusOr<uint64_t> lower_hits() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_.path("run"), error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("stats-") && name.ends_with(".json")) {
        return parse_lower_hits(text_in(entry.path().string()));
      }
    }
    return internal_error("nvcache wrote no statistics: it took no cache's place");
  }

  json document() const {
    json cases = json::array();
    for (const Case& each : cases_) {
      cases.push_back({{"name", each.name},
                       {"dram", each.dram},
                       {"keys", each.keys},
                       {"warm", each.warm},
                       {"events", each.events},
                       {"direct_reads", each.direct},
                       {"properties", each.properties}});
    }
    const bool emulated = tiered_.find(kEmulatedPrefix) != std::string::npos ||
                          tiered_.find(kEmulatedAlias) != std::string::npos;
    return {{"kind", "java"},
            {"schema", 1},
            {"nvcache", NVCACHE_VERSION},
            {"command", options_.command},
            {"finished", utc_now()},
            {"machine", machine_facts()},
            {"program", program_.name},
            {"setup",
             {{"pairs", options_.pairs},
              {"tiered", tiered_},
              {"emulated", emulated},
              {"cases", cases}}},
            {"runs", runs_},
            {"summary", summarize(runs_)}};
  }

  const Program& program_;
  const Options& options_;
  const std::string tiered_;
  const Clock& clock_;
  Progress progress_;
  std::vector<Case> cases_;
  Tools tools_;
  JavaFolder folder_;
  std::map<std::string, Outcome> first_;  // of each case
  json runs_ = json::array();
};

}  // namespace

StatusOr<json> run_java(const Program& program, const Options& options, const Clock& clock) {
  return JavaBench(program, options, clock).run();
}

}  // namespace nvcache::java
