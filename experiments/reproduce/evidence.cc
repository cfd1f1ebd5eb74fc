#include "experiments/reproduce/evidence.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "apps/report/html.h"
#include "base/text.h"

namespace nvcache::reproduce {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kFormats[] = {kWritesHurtFormat, kHybridFormat, kKvFormat,
                                         kSimulationsFormat, kHybridSimulationFormat};

bool is_evidence(const json& document) {
  const std::string format = document.value("format", "");
  return std::find(std::begin(kFormats), std::end(kFormats), format) != std::end(kFormats);
}

StatusOr<json> read_result(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid_argument("--results: {}: cannot be read", path);
  json document = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return invalid_argument("--results: {}: is not JSON", path);
  if (Status status = check_report_document(document); !status.ok()) {
    return invalid_argument("--results: {}: {}", path, status.message());
  }
  return document;
}

}  // namespace

Status Evidence::add_folder(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") paths.push_back(at->path());
  }
  if (error) return invalid_argument("--results {}: {}", folder, error.message());
  if (paths.empty()) {
    return invalid_argument(
        "--results {}: no *.json there; allowed is a folder with what 'nvcache bench' wrote by "
        "--json",
        folder);
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    auto document = read_result(path.string());
    if (!document.ok()) return document.status();
    const std::string name = path.filename().string();
    if (is_evidence(*document)) {
      add(name, *std::move(document));
    } else if (document->value("format", "") == kReproduceFormat) {
      for (json& run : (*document)["own_runs"]) {
        if (is_evidence(run)) add(name, std::move(run));
      }
    } else {
      ignored_.push_back(name);
    }
  }
  return ok_status();
}

void Evidence::add(std::string name, json document, bool own) {
  documents_.push_back({std::move(name), std::move(document), own});
}

std::vector<const Evidence::Document*> Evidence::of(std::string_view format) const {
  std::vector<const Document*> found;
  for (const Document& document : documents_) {
    if (document.json.value("format", "") == format) found.push_back(&document);
  }
  return found;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

std::string conditions_of(const Evidence& evidence, std::string_view format) {
  std::set<std::string> texts;
  for (const Evidence::Document* document : evidence.of(format)) {
    const json& setup = document->json.at("setup");
    const int size_factor = setup.value("size_factor", 1);
    if (format == kHybridSimulationFormat) {
      texts.insert(fmt::format("SIMULATED, the paper's sizes at 1/{}, {} clients", size_factor,
                               setup.value("clients", 0)));
      continue;
    }
    if (format == kSimulationsFormat) {
      texts.insert(fmt::format("SIMULATED, the paper's sizes and clients at 1/{}", size_factor));
      continue;
    }
    texts.insert(fmt::format("{}{}, sizes / {}", setup.value("emulated", false) ? "EMULATED " : "",
                             setup.value("medium", ""), size_factor));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace nvcache::reproduce
