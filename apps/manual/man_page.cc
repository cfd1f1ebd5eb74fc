#include <algorithm>
#include <cctype>

#include "apps/manual/renderers.h"
#include "apps/manual/shell_text.h"
#include "apps/manual/text.h"
#include "base/text.h"

namespace nvcache::manual {
namespace {

constexpr size_t kColumns = 78;  // of the source
constexpr std::string_view kBold = "\\fB";
constexpr std::string_view kItalic = "\\fI";
constexpr std::string_view kRoman = "\\fR";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A line that begins with a dot would be a request. escaped() leaves no other that would.
std::string as_line(std::string source) {
  return source.starts_with('.') ? "\\&" + source : source;
}

std::string bold(std::string_view text) {
  return fmt::format("{}{}{}", kBold, escaped(text), kRoman);
}

std::string italic(std::string_view text) {
  return fmt::format("{}{}{}", kItalic, escaped(text), kRoman);
}

// "-p", "--medium=file:PATH", "MEMCACHED_PORT_FILENAME": what a reader types.
bool is_typed(std::string_view word) {
  const size_t dashes = word.find_first_not_of('-');
  return (dashes == 1 || dashes == 2) &&
         std::isalpha(static_cast<unsigned char>(word[dashes])) != 0;
}

// A word of prose. Options are bold, without the punctuation around them.
std::string prose_word(std::string_view word) {
  const size_t begin = word.find_first_not_of("(");
  const size_t end = word.find_last_not_of(".,;:)") + 1;
  if (begin == std::string_view::npos || begin >= end) return escaped(word);
  const std::string_view core = word.substr(begin, end - begin);
  if (!is_typed(core)) return escaped(word);
  return escaped(word.substr(0, begin)) + bold(core) + escaped(word.substr(end));
}

// The same within backquotes, of which a word may have several; `quoted` says whether it begins in
// such.
std::string rendered(std::string_view word, bool& quoted) {
  if (!quoted && word.find('`') == std::string_view::npos) return prose_word(word);
  std::string out;
  while (true) {
    const size_t quote = word.find('`');
    const std::string_view part = word.substr(0, quote);
    out += part.empty() ? "" : quoted ? bold(part) : escaped(part);
    if (quote == std::string_view::npos) return out;
    quoted = !quoted;
    word.remove_prefix(quote + 1);
  }
}

// A paragraph, in lines of the source that no reader sees. Text between backquotes is bold.
std::string filled(std::string_view text) {
  std::string out;
  size_t columns = 0;
  bool quoted = false;
  while (!text.empty()) {
    const auto [word, rest] = split_once(text, ' ');
    text = rest;
    if (word.empty()) continue;
    const std::string source = rendered(word, quoted);
    if (columns > 0) out += columns + 1 + source.size() > kColumns ? '\n' : ' ';
    const bool begins_line = columns == 0 || out.ends_with('\n');
    columns = begins_line ? source.size() : columns + 1 + source.size();
    out += begins_line ? as_line(source) : source;
  }
  return out + "\n";
}

std::string verbatim(std::string_view text) {
  std::string out = ".RS 4\n.nf\n";
  while (!text.empty()) {
    const auto [line, rest] = split_once(text, '\n');
    out += as_line(escaped(line)) + "\n";
    text = rest;
  }
  return out + ".fi\n.RE\n";
}

// A heading needs no distance from the first block.
std::string text_of(std::string_view text, bool under_heading = false) {
  std::string out;
  for (const Block& block : blocks_of(text)) {
    if (!under_heading || !out.empty()) out += ".PP\n";
    out += block.is_verbatim ? verbatim(block.text) : filled(block.text);
  }
  return out;
}

std::string usage_of(const Option& option, bool joins_values) {
  std::string usage;
  if (option.letter != 0) usage += bold(std::string{'-', option.letter});
  if (option.letter != 0 && !option.word.empty()) usage += ", ";
  if (!option.word.empty()) usage += bold("--" + option.word);
  if (option.argument.empty()) return usage;
  const bool is_place = option.letter == 0 && option.word.empty();
  if (!is_place) usage += joins_values && !option.word.empty() ? "=" : " ";
  return usage + italic(option.argument);
}

std::string items_of(const Option& option) {
  std::string out = ".RS\n";
  std::string others;
  for (const Item& item : option.items) {
    if (item.help.empty()) {
      others += (others.empty() ? "" : ", ") + item.word;
      continue;
    }
    out += ".TP\n" + bold(item.word);
    if (!item.argument.empty()) out += "=" + italic(item.argument);
    out += "\n" + filled(sentence(item.help));
  }
  if (!others.empty()) {
    out += ".PP\nWithout effect, because they tune what this program does not have:\n";
    out += filled(others + ".");
  }
  return out + ".RE\n";
}

bool names_all(std::string_view help, const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [help](const std::string& value) {
    return help.find(value) != std::string_view::npos;
  });
}

std::string option_text(const Option& option, bool joins_values) {
  std::string help = sentence(option.help);
  if (option.is_required && !names_of(option).empty()) help += " Required.";
  if (!names_all(help, option.values)) {
    help +=
        fmt::format(" {}: {}.", option.is_list ? "Of" : "One of", fmt::join(option.values, ", "));
  }
  if (!option.fallback.empty()) help += fmt::format(" Default: {}.", option.fallback);
  if (!option.more.empty()) help += " " + option.more;
  std::string out = ".TP\n" + usage_of(option, joins_values) + "\n" + filled(strip(help));
  if (!option.items.empty()) out += items_of(option);
  return out;
}

// Under a heading for each group, in the order of their first options.
std::string options_text(const std::vector<Option>& options, bool joins_values) {
  std::vector<std::string> groups;
  for (const Option& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string out;
  for (const std::string& group : groups) {
    if (!group.empty()) out += fmt::format(".SS \"{}\"\n", escaped(group));
    for (const Option& option : options) {
      if (option.group == group) out += option_text(option, joins_values);
    }
  }
  return out;
}

std::string command_text(const Command& command, const std::string& program, bool joins_values) {
  std::string out = fmt::format(".SS \"{}\"\n", escaped(program + " " + command.name));
  std::string summary = sentence(command.summary);
  if (!command.aliases.empty()) {
    summary += fmt::format(" Also called {}.", fmt::join(command.aliases, ", "));
  }
  out += filled(summary);
  if (!command.runs.empty()) {
    const std::string runs =
        command.runs + (command.runs_command.empty() ? "" : " " + command.runs_command);
    return out + fmt::format(".PP\nRuns {}: see {}(1).\n", bold(runs), bold(command.runs));
  }
  out += fmt::format(".PP\n{}", bold(program + " " + command.name));
  if (!command.options.empty()) out += " [" + italic("OPTION") + "]...";
  for (const Option& each : command.arguments) {
    const std::string dots = each.repeats ? "..." : "";
    const std::string name = italic(each.argument) + dots;
    out += each.is_required ? " " + name : " [" + name + "]";
  }
  out += "\n" + options_text(command.arguments, joins_values);
  out += options_text(command.options, joins_values);
  return out + text_of(command.text);
}

std::string section_text(const Section& section) {
  std::string out = fmt::format(".SH \"{}\"\n", escaped(section.title));
  out += text_of(section.text, /*under_heading=*/true);
  for (const Entry& entry : section.entries) {
    out += ".TP\n" + bold(entry.term) + "\n" + filled(entry.text);
  }
  return out;
}

}  // namespace

std::string man_page(const Page& page) {
  const Command& program = page.program;
  std::string upper = program.name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = fmt::format(".TH {} 1 \"{}\" \"nvcache {}\" \"User Commands\"\n", upper,
                                NVCACHE_RELEASE_DATE, NVCACHE_VERSION);
  // A word is not broken: most that are long are names. Lines are not stretched.
  out += ".nh\n.ad l\n.SH NAME\n";
  out += fmt::format("{} \\- {}\n.SH SYNOPSIS\n", escaped(program.name), escaped(program.summary));
  for (const std::string& usage : page.synopsis) {
    const auto [word, rest] = split_once(usage, ' ');
    const char* const apart = &usage == &page.synopsis.front() ? "" : ".br\n";
    out += fmt::format("{}{} {}\n", apart, bold(word), escaped(rest));
  }
  out += ".SH DESCRIPTION\n" + text_of(program.text, /*under_heading=*/true);
  out += ".SH OPTIONS\n" + options_text(program.options, page.joins_values);
  if (!program.commands.empty()) out += ".SH COMMANDS\n";
  for (const Command& command : program.commands) {
    out += command_text(command, program.name, page.joins_values);
  }
  for (const Section& section : page.sections) out += section_text(section);
  if (page.see_also.empty()) return out;
  std::string others;
  for (const std::string& each : page.see_also) {
    const size_t parenthesis = each.find('(');
    others += others.empty() ? "" : ",\n";
    others += bold(each.substr(0, parenthesis));
    if (parenthesis != std::string::npos) others += escaped(each.substr(parenthesis));
  }
  return out + ".SH \"SEE ALSO\"\n" + others + "\n";
}

}  // namespace nvcache::manual
