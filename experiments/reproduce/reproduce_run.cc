#include "experiments/reproduce/reproduce_run.h"

#include <algorithm>
#include <initializer_list>
#include <map>

#include "apps/command/interrupt.h"
#include "apps/command/progress.h"
#include "base/text.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/reproduce/hybrid_simulations.h"
#include "experiments/reproduce/own_runs.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/simulations.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

struct Selection {
  const char* name;
  std::string_view paper;  // empty: Memory Mode, of any paper
};
constexpr Selection kSelections[] = {{"memory-mode", ""},
                                     {"writes-hurt", papers::kWritesHurt},
                                     {"hybrid-cache", papers::kHybridCache},
                                     {"nvmcached", papers::kNvmcached}};

bool is_selected(const std::string& only, const PaperResult& result, const Row& row) {
  for (const Selection& selection : kSelections) {
    if (only != selection.name) continue;
    return selection.paper.empty() ? row.memory_mode : selection.paper == result.paper;
  }
  return true;
}

std::optional<double> baseline_of(const PaperResult& result, const Row& row) {
  if (row.sized_only) return std::nullopt;
  return row.baseline ? row.baseline : usual_baseline(result.statement.unit);
}

Judgement judge_row(const PaperResult& result, const Row& row, const Finding& finding) {
  Judgement judgement = judge(result.statement, finding.ours, baseline_of(result, row));
  if (row.basis == Basis::kFitted || finding.fitted) {
    return {Verdict::kInput,
            fmt::format("fitted; compared, it would be '{}'", verdict_name(judgement.verdict))};
  }
  if (row.basis == Basis::kTaken && same_number(result.statement, finding.ours)) {
    return {Verdict::kInput, "taken from the paper"};
  }
  return judgement;
}

Judgement judge_missing(const Row& row) {
  if (row.basis == Basis::kFitted) {
    return {Verdict::kInput, fmt::format("fitted; not measured here: needs {}", row.missing)};
  }
  return {Verdict::kNotMeasured, fmt::format("needs {}", row.missing)};
}

json finding_json(const Finding& finding, const Judgement& judgement) {
  json parts = json::array();
  for (const Span& part : finding.ours.parts) parts.push_back({part.low, part.high});
  return {{"source", source_name(finding.source)},
          {"parts", parts},
          {"order", finding.ours.order ? json(*finding.ours.order) : json()},
          {"comparable", finding.ours.comparable},
          {"how", finding.how},
          {"verdict", verdict_name(judgement.verdict)}};
}

json entry_of(const PaperResult& result, const Row& row, const Evidence& evidence) {
  json findings = json::array();
  std::optional<Judgement> decided;
  Basis basis = row.basis;
  std::string_view about = row.about;
  for (const Finder& finder : row.finders) {
    const auto finding = finder(evidence);
    if (!finding) continue;
    const Judgement judgement = judge_row(result, row, *finding);
    findings.push_back(finding_json(*finding, judgement));
    if (!decided && finding->fitted) basis = Basis::kFitted;
    if (!decided && finding->source == Source::kSimulated) about = row.simulated_about;
    if (!decided) decided = judgement;
  }
  if (!decided) decided = judge_missing(row);
  std::string reason = decided->reason;
  const bool has_number = decided->verdict != Verdict::kNotMeasured;
  if (has_number && !about.empty()) {
    reason += (reason.empty() ? "" : "; ") + std::string(about);
  }
  return {{"id", result.id},
          {"paper", result.paper},
          {"where", result.where},
          {"quantity", result.quantity},
          {"condition", result.condition},
          {"published", {{"value", result.value}, {"unit", result.unit}}},
          {"basis", basis_name(basis)},
          {"memory_mode", row.memory_mode},
          {"verdict", verdict_name(decided->verdict)},
          {"reason", reason},
          {"findings", findings}};
}

json summary_of(const json& results) {
  std::map<std::string, int> verdicts, inputs;
  for (const json& result : results) {
    const auto verdict = result.at("verdict").get<std::string>();
    ++verdicts[verdict];
    if (verdict == verdict_name(Verdict::kInput)) ++inputs[result.at("basis").get<std::string>()];
  }
  const auto count = [&](Verdict verdict) { return verdicts[std::string(verdict_name(verdict))]; };
  return {{"numbers", results.size()},
          {"direction_right", count(Verdict::kWithin) + count(Verdict::kDirection)},
          {"within", count(Verdict::kWithin)},
          {"not", count(Verdict::kNot)},
          {"inputs", count(Verdict::kInput)},
          {"taken", inputs[std::string(basis_name(Basis::kTaken))]},
          {"fitted", inputs[std::string(basis_name(Basis::kFitted))]},
          {"not_measured", count(Verdict::kNotMeasured)}};
}

json setup_of(const Evidence& evidence, const Options& options) {
  json documents = json::array();
  bool emulated = false;
  for (const Evidence::Document& document : evidence.documents()) {
    emulated = emulated || document.json.at("setup").value("emulated", false);
    documents.push_back({{"name", document.name},
                         {"own", document.own},
                         {"format", document.json.value("format", "")},
                         {"command", document.json.value("command", "")}});
  }
  return {{"engine", "our systems"},
          {"only", options.only},
          {"figures", json::array()},
          {"tables", json::array()},
          {"documents", documents},
          {"ignored", evidence.ignored()},
          {"medium", "emulated media, where a number says so"},
          {"emulated", emulated},
          {"rounds", 1},
          {"seconds", 0},
          {"warmup_seconds", 0},
          {"size_factor", 1},
          {"time_factor", 1},
          {"thread_factor", 1},
          {"scale_text", "each number says how it was made"},
          {"runs_name", ""},
          {"runs_text", ""},
          {"notes", json::array()}};
}

// Not those of a part: they would stand for all when they are read again.
json own_runs_of(const Evidence& evidence, const Options& options) {
  json runs = json::array();
  if (!options.only.empty()) return runs;
  for (const Evidence::Document& document : evidence.documents()) {
    if (document.own) runs.push_back(document.json);
  }
  return runs;
}

// The rows by id; INTERNAL if they are not those of the table.
StatusOr<std::map<std::string, const Row*>> matched(const std::vector<PaperResult>& table,
                                                    const std::vector<Row>& rows) {
  std::map<std::string, const Row*> by_id;
  for (const Row& row : rows) {
    if (!by_id.emplace(row.id, &row).second) {
      return internal_error(fmt::format("two rows for {}", row.id));
    }
  }
  for (const PaperResult& result : table) {
    if (!by_id.contains(result.id)) {
      return internal_error(fmt::format("no row for {}", result.id));
    }
  }
  if (by_id.size() != table.size()) {
    return internal_error(
        fmt::format("{} rows for {} numbers of the papers", by_id.size(), table.size()));
  }
  return by_id;
}

bool wants(const Options& options, std::initializer_list<std::string_view> selections) {
  return options.only.empty() ||
         std::find(selections.begin(), selections.end(), options.only) != selections.end();
}

// Makes the runs of this command, where no result has them.
Status add_own_runs(const Options& options, const Clock& clock, Evidence& evidence) {
  if (!evidence.has(kSimulationsFormat)) {
    const SimulationPlan plan{.scenarios = planned_simulations(options.only),
                              .scale = options.scale,
                              .command = options.command};
    if (!plan.scenarios.empty()) {
      auto document = run_simulations(plan, clock);
      if (!document.ok()) return document.status();
      evidence.add("the simulations of this command", *std::move(document), /*own=*/true);
    }
  }
  if (wants(options, {"hybrid-cache", "memory-mode"}) && !evidence.has(kHybridSimulationFormat)) {
    const HybridSimulationPlan plan{.memory_mode_only = options.only == "memory-mode",
                                    .scale = options.scale,
                                    .command = options.command};
    auto document = run_hybrid_simulations(plan, clock);
    if (!document.ok()) return document.status();
    evidence.add("the simulations of RocksDB of this command", *std::move(document), /*own=*/true);
  }
  if (wants(options, {"nvmcached"}) && !evidence.has(kKvFormat)) {
    auto document = run_small_nvmcached(options.command, clock);
    if (!document.ok()) return document.status();
    evidence.add("the small run of this command", *std::move(document), /*own=*/true);
  }
  return ok_status();
}

}  // namespace

std::vector<std::string> selections() {
  std::vector<std::string> names;
  for (const Selection& selection : kSelections) names.emplace_back(selection.name);
  return names;
}

StatusOr<json> compare(const std::vector<PaperResult>& table, const std::vector<Row>& rows,
                       const Evidence& evidence, const Options& options) {
  const auto by_id = matched(table, rows);
  if (!by_id.ok()) return by_id.status();
  json results = json::array();
  for (const PaperResult& result : table) {
    const Row& row = *by_id->at(result.id);
    if (!is_selected(options.only, result, row)) continue;
    try {
      results.push_back(entry_of(result, row, evidence));
    } catch (const json::exception& error) {
      return invalid_argument("--results: {}: a document has not the form of its format: {}",
                              result.id, error.what());
    }
  }
  json document = paper_document(kReproduceFormat.data(), options.command);
  document["engine"] = {{"name", "all papers"}};
  document["setup"] = setup_of(evidence, options);
  document["summary"] = summary_of(results);
  document["results"] = results;
  document["memory_mode_spread"] = memory_mode_spread(evidence);
  document["own_runs"] = own_runs_of(evidence, options);
  document["setup"]["notes"] = {summary_line(document)};
  document["figures"] = tables_of(document);
  return document;
}

StatusOr<json> run_reproduce(const Options& options, const Clock& clock) {
  Evidence evidence;
  if (!options.results.empty()) {
    if (Status status = evidence.add_folder(options.results); !status.ok()) return status;
  }
  if (options.runs) {
    if (Status status = add_own_runs(options, clock, evidence); !status.ok()) return status;
  }
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  return compare(papers::paper_results(), all_rows(), evidence, options);
}

}  // namespace nvcache::reproduce
