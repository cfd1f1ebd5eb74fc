#include "apps/command/command_page.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "apps/command/exit_code.h"
#include "apps/manual/render.h"
#include "apps/manual/text.h"
#include "base/print.h"
#include "base/text.h"

namespace nvcache {
namespace {

constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kExitCodes = "Exit codes:";

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto [part, rest] = split_once(text, separator);
    parts.emplace_back(strip(part));
    text = rest;
  }
  return parts;
}

// "{man,bash}" in "FORM:{man,bash}".
std::vector<std::string> values_in(const std::string& type) {
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return split(std::string_view(type).substr(open + 1, close - open - 1), ',');
}

// "1 to 256" of "UINT:INT in [1 - 256]"; empty if there is no range.
std::string range_in(const std::string& type) {
  constexpr std::string_view kIn = " in [";
  constexpr std::string_view kTo = " - ";
  const size_t at = type.rfind(kIn);
  const size_t middle = type.rfind(kTo);
  if (at == std::string::npos || middle == std::string::npos || middle < at) return "";
  const size_t begin = at + kIn.size();
  const size_t behind = middle + kTo.size();
  return fmt::format("{} to {}", type.substr(begin, middle - begin),
                     type.substr(behind, type.find(']', behind) - behind));
}

// How the page names a value of this type: "N" of "UINT:INT in [1 - 256]".
std::string argument_of(const std::string& type, const std::string& name) {
  const std::string base = type.substr(0, type.find_first_of(":{"));
  if (base == "INT" || base == "UINT") return "N";
  if (base == "FLOAT") return "NUMBER";
  if (base.empty() || (base == "TEXT" && !values_in(type).empty())) return upper(name);
  return base;
}

// A vector's default is shown as "[a,b]".
std::string without_brackets(const std::string& text) {
  const bool in_brackets = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  return in_brackets ? text.substr(1, text.size() - 2) : text;
}

manual::Option option_of(const CLI::Option& from) {
  manual::Option option;
  const std::string type = from.get_type_name();
  if (!from.get_snames().empty()) option.letter = from.get_snames()[0][0];
  if (!from.get_lnames().empty()) option.word = from.get_lnames()[0];
  option.help = from.get_description();
  option.is_required = from.get_required();
  if (from.get_items_expected_max() == 0) return option;  // a flag
  option.values = values_in(type);
  option.fallback = without_brackets(from.get_default_str());
  option.is_list = from.get_delimiter() == ',';
  option.repeats = from.get_expected_max() >= CLI::detail::expected_max_vector_size;
  option.argument = argument_of(type, option.word);
  if (const std::string range = range_in(type); !range.empty())
    option.more = "Allowed: " + range + ".";
  if (!from.get_positional()) return option;
  // An argument has a name of its own, unless its type says what completes it.
  const bool says_more = manual::completes(option.argument) != manual::Completes::kNothing;
  if (!says_more) option.argument = upper(from.get_name(true));
  return option;
}

manual::Command command_of(const CLI::App& app, const PageFacts& facts) {
  manual::Command command;
  command.name = app.get_name();
  command.aliases = app.get_aliases();
  command.summary = app.get_description();
  for (const ForwardedCommand& each : facts.forwarded) {
    if (each.command != command.name) continue;
    command.runs = each.program;
    command.runs_command = each.program_command;
    return command;
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? command.arguments : command.options).push_back(option_of(*option));
  }
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(command_of(*each, facts));
  }
  command.text = app.get_footer();
  return command;
}

// "0 done; 1 failed" or "0 done, 1 failed" as entries.
std::vector<manual::Entry> exit_codes_in(std::string_view text) {
  std::vector<manual::Entry> entries;
  text = strip(text);
  while (!text.empty()) {
    size_t end = 0;
    do {
      end = text.find_first_of(";,", end + 1);
    } while (
        end != std::string_view::npos &&
        (end + 2 >= text.size() || std::isdigit(static_cast<unsigned char>(text[end + 2])) == 0));
    const auto [code, meaning] = split_once(text.substr(0, end), ' ');
    entries.push_back({std::string(code), manual::sentence(meaning)});
    text = end == std::string_view::npos ? std::string_view() : strip(text.substr(end + 1));
  }
  return entries;
}

// The program's footer, taken apart: what is no example and no exit code is description.
void take_footer(manual::Page& page) {
  manual::Section examples{"EXAMPLES", "", {}};
  manual::Section exits{"EXIT STATUS", "", {}};
  std::string about;
  bool in_examples = false;
  for (const manual::Block& block : manual::blocks_of(page.program.text)) {
    if (block.text.starts_with(kExitCodes)) {
      exits.entries = exit_codes_in(std::string_view(block.text).substr(kExitCodes.size()));
    } else if (block.is_verbatim && in_examples) {
      for (const std::string& line : split(block.text, '\n')) examples.text += "  " + line + "\n";
    } else if (block.text != kExamples) {
      about += block.text + "\n\n";
    }
    in_examples = block.text == kExamples;
  }
  page.program.text = about;
  if (!examples.text.empty()) page.sections.push_back(examples);
  if (!exits.entries.empty()) page.sections.push_back(exits);
}

}  // namespace

manual::Page command_page(const CLI::App& app, const PageFacts& facts) {
  manual::Page page;
  page.program = command_of(app, facts);
  if (!facts.name.empty()) page.program.name = facts.name;
  std::string& summary = page.program.summary;
  if (summary.starts_with(page.program.name + ": ")) {
    summary.erase(0, page.program.name.size() + 2);
  }
  if (!summary.empty()) summary[0] = lower(summary[0]);
  page.synopsis = facts.synopsis;
  take_footer(page);
  page.program.text = facts.about + "\n\n" + page.program.text;
  page.sections.insert(page.sections.end(), facts.sections.begin(), facts.sections.end());
  page.see_also = facts.see_also;
  return page;
}

void add_generate_option(CLI::App& app, PageFacts facts) {
  std::vector<std::string> forms(manual::forms().begin(), manual::forms().end());
  const auto generate = [&app, facts = std::move(facts)](const std::string& form) {
    const auto text = manual::render(command_page(app, facts), form);
    if (!text.ok()) throw CLI::ValidationError(std::string(text.status().message()));
    print_to(stdout, "{}", *text);
    throw CLI::RuntimeError(kExitOk);
  };
  std::string help = manual::sentence(manual::kGenerateHelp);
  help.pop_back();  // no description of CLI11's ends with a full stop
  app.add_option_function<std::string>(fmt::format("--{}", manual::kGenerate), generate, help)
      ->type_name("FORM")
      ->check(CLI::IsMember(std::move(forms)));
}

}  // namespace nvcache
