#include "apps/report/html.h"

#include <set>
#include <string_view>
#include <utility>

#include "apps/report/embedded.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

// JSON inside <script>: no "<" may stand in it, or "</script>" could end it.
std::string for_script(const json& value) {
  std::string text;
  for (const char c : value.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::set<std::string> emulated_media(const std::vector<json>& documents) {
  std::set<std::string> media;
  for (const json& document : documents) {
    if (document["kind"] == "calibration") {
      if (document.value("emulated", false)) media.insert(document.value("medium", ""));
      continue;
    }
    if (document["kind"] == "replay") continue;
    for (const json& configuration : document["configurations"]) {
      if (configuration.value("emulated", false)) media.insert(configuration.value("medium", ""));
    }
  }
  return media;
}

std::string emulation_notice(const std::vector<json>& documents) {
  const auto media = emulated_media(documents);
  if (media.empty()) return "";
  std::string names;
  for (const std::string& medium : media) names += (names.empty() ? "" : ", ") + escaped(medium);
  return "<p class=\"notice\"><strong>Emulated medium:</strong> " + names +
         ". Its latency and bandwidth come from a model (docs/design/model.md), not from such "
         "hardware in this machine.</p>";
}

std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string html;
  while (!page.empty()) {
    const size_t at = page.find('@');
    html += page.substr(0, at);
    if (at == std::string_view::npos) break;
    page.remove_prefix(at);
    bool found = false;
    for (const auto& [name, part] : parts) {
      if (!page.starts_with(name)) continue;
      html += part;
      page.remove_prefix(name.size());
      found = true;
      break;
    }
    if (found) continue;
    html += page.front();
    page.remove_prefix(1);
  }
  return html;
}

Status missing(const std::string& what) {
  return invalid_argument("not a result of nvcache: {}", what);
}

}  // namespace

Status check_report_document(const json& document) {
  if (!document.is_object()) return missing("it is not a JSON object");
  const std::string kind = document.contains("kind") && document["kind"].is_string()
                               ? document["kind"].get<std::string>()
                               : "";
  if (kind != "ycsb" && kind != "calibration" && kind != "paper" && kind != "replay") {
    return missing(fmt::format("kind '{}'; allowed are ycsb, calibration, paper and replay", kind));
  }
  if (document.value("schema", json(1)) != 1) {
    return missing(fmt::format("schema {}; allowed is 1", document["schema"].dump()));
  }
  using Parts = std::vector<std::pair<const char*, bool>>;  // name, an array?
  Parts parts{{"points", true}};
  if (kind == "ycsb") {
    parts = {{"setup", false},
             {"workloads", true},
             {"configurations", true},
             {"runs", true},
             {"summary", true}};
  } else if (kind == "replay") {
    parts = {{"traces", true}, {"means", true}};
  } else if (kind == "paper") {
    parts = {{"setup", false}, {"configurations", true}, {"runs", true}, {"figures", true}};
  }
  for (const auto& [name, array] : parts) {
    if (!document.contains(name) ||
        (array ? !document[name].is_array() : !document[name].is_object())) {
      return missing(fmt::format("'{}' is missing or no {}", name, array ? "array" : "object"));
    }
    if (!array) continue;
    for (const json& entry : document[name]) {
      if (!entry.is_object())
        return missing(fmt::format("'{}' holds something else than objects", name));
    }
  }
  return ok_status();
}

StatusOr<std::string> report_html(const std::vector<json>& documents) {
  for (const json& document : documents) {
    if (Status status = check_report_document(document); !status.ok()) return status;
  }
  try {
    return fill(embedded::report_html(), {{"@CSS@", std::string(embedded::report_css())},
                                          {"@NOTICE@", emulation_notice(documents)},
                                          {"@DATA@", for_script(json(documents))},
                                          {"@CHART_JS@", std::string(embedded::chart_js())},
                                          {"@CHARTS_JS@", std::string(embedded::charts_js())},
                                          {"@REPORT_JS@", std::string(embedded::report_js())}});
  } catch (const json::exception& error) {
    return missing(error.what());
  }
}

}  // namespace nvcache
