#include "apps/manual/renderers.h"
#include "apps/manual/shell_text.h"
#include "apps/manual/text.h"
#include "base/text.h"

namespace nvcache::manual {
namespace {

// Completions of the program that takes over, as if it had been typed. Asks it once: that program
// may not be installed.
constexpr std::string_view kForward = R"(
function __PROG_RUNS
  if not set -q __PROG_RUNS_asked
    set -g __PROG_RUNS_asked yes
    PROG COMMAND --generate=fish 2> /dev/null | source
  end
  set -l words (commandline -opc)
  set -l rest RUNS $argv
  test (count $words) -gt 2; and set rest $rest $words[3..-1]
  complete -C (string join ' ' -- (string escape -- $rest))' '(commandline -ct)
end
)";

// Paths behind the beginnings of values that take one: "file:".
constexpr std::string_view kBehind = R"(
function __PROG_behind
  set -l token (commandline -ct)
  for prefix in $argv
    string match -q -- "*$prefix*" $token; or continue
    for path in (__fish_complete_path (string replace -r -- "^.*?$prefix" '' $token))
      echo $prefix$path
    end
  end
end
)";

// Quoted as fish reads it: a backslash keeps itself only before what is no quote.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string list_name(const std::string& program, const std::string& command,
                      const Option& option) {
  return fmt::format("__{}_{}_{}", program, command, option.word);
}

std::string paths_behind(const Option& option) {
  std::string prefixes;
  for (const std::string& value : option.values) {
    if (completes_behind(value) != Completes::kNothing) prefixes += " " + fixed_part(value);
  }
  return prefixes;
}

// The flags of `complete` for what follows: -x takes a value and no file, -r a value or a file.
std::string value_flags(const std::string& program, const std::string& command,
                        const Option& option) {
  if (option.argument.empty()) return "";
  if (!option.items.empty() || option.is_list) {
    const std::string function = list_name(program, command, option);
    if (words_of(option).empty()) return " -x";
    return fmt::format(" -x -a '(__fish_complete_list , {})'", function);
  }
  if (!option.values.empty()) {
    std::string words = fmt::format("{}", fmt::join(words_of(option), " "));
    if (const std::string behind = paths_behind(option); !behind.empty()) {
      words += fmt::format(" (__{}_behind{})", program, behind);
    }
    return " -x -a " + fish_quoted(words);
  }
  switch (completes(option.argument)) {
    case Completes::kFiles:
      return " -r -F";
    case Completes::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Completes::kUsers:
      return " -x -a '(__fish_complete_users)'";
    case Completes::kNothing:
      break;
  }
  return " -x";
}

// The function that lists what goes between the commas.
std::string list_function(const std::string& name, const Option& option) {
  if (!option.is_list && option.items.empty()) return "";
  if (words_of(option).empty()) return "";
  std::string text = fmt::format("function {}\n", name);
  for (const std::string& value : option.values) {
    text += fmt::format("  echo {}\n", fish_quoted(fixed_part(value)));
  }
  for (const Item& item : option.items) {
    if (item.help.empty()) continue;
    text += fmt::format("  printf '%s\\t%s\\n' {} {}\n",
                        fish_quoted(item.word + (item.argument.empty() ? "" : "=")),
                        fish_quoted(brief(item.help)));
  }
  return text + "end\n";
}

std::string seen(const Command& command) {
  std::string words = command.name;
  for (const std::string& alias : command.aliases) words += " " + alias;
  return fmt::format(" -n '__fish_seen_subcommand_from {}'", words);
}

std::string option_lines(const std::string& program, const std::string& condition,
                         const Command& command) {
  std::string text;
  for (const Option& option : completed(command.options)) {
    text += list_function(list_name(program, command.name, option), option);
    text += fmt::format("complete -c {}{}", program, condition);
    if (option.letter != 0) text += fmt::format(" -s {}", option.letter);
    if (!option.word.empty()) text += " -l " + option.word;
    text += value_flags(program, command.name, option);
    text += fmt::format(" -d {}\n", fish_quoted(brief(option.help)));
  }
  for (const Option& each : command.arguments) {
    // An argument is no value of an option.
    std::string flags = value_flags(program, command.name, each);
    if (flags.starts_with(" -x")) flags.replace(0, 3, " -f");
    if (flags.starts_with(" -r -F")) flags.replace(0, 6, " -F");
    text += fmt::format("complete -c {}{}{}\n", program, condition, flags);
  }
  return text;
}

std::string forward_function(const std::string& program, const Command& command) {
  std::string text(kForward);
  const auto replace = [&text](std::string_view from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("PROG", program);
  replace("RUNS", command.runs);
  replace("COMMAND", command.name);
  return text;
}

}  // namespace

std::string fish_completion(const Page& page) {
  const Command& program = page.program;
  std::string text =
      fmt::format("# Completions of {0} for fish, made by: {0} --generate=fish\n", program.name);
  for (const Command& command : program.commands) {
    if (!command.runs.empty() && command.runs_command.empty()) {
      text += forward_function(program.name, command);
    }
  }
  text += with_program(kBehind, program.name);
  text += fmt::format("\ncomplete -c {} -f\n", program.name);
  const bool has_commands = !program.commands.empty();
  text += option_lines(program.name, has_commands ? " -n __fish_use_subcommand" : "", program);
  for (const Command& command : program.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name,
                        command.name, fish_quoted(brief(command.summary)));
  }
  for (const Command& command : program.commands) {
    if (command.runs.empty()) {
      text += option_lines(program.name, seen(command), command);
      continue;
    }
    const std::string words = command.runs_command.empty() ? "" : " " + command.runs_command;
    text += fmt::format("complete -c {0}{1} -a '(__{0}_{2}{3})'\n", program.name, seen(command),
                        command.runs, words);
  }
  return text;
}

}  // namespace nvcache::manual
