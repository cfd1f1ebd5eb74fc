#include <algorithm>

#include "apps/manual/renderers.h"
#include "apps/manual/shell_text.h"
#include "apps/manual/text.h"
#include "base/text.h"

namespace nvcache::manual {
namespace {

// zsh calls the file itself the first time, when it lies in its folder of functions.
constexpr std::string_view kEnd = R"(
if [[ ${funcstack[1]} == _PROG ]]; then
  _PROG "$@"
else
  compdef _PROG PROG
fi
)";

// Escapes the characters that have a meaning within _arguments' specifications.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string function_name(std::string_view program, std::string_view command,
                          std::string_view word) {
  std::string name = fmt::format("_{}_{}_{}", program, command, word);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string_view action_of(Completes completes) {
  switch (completes) {
    case Completes::kFiles:
      return "_files";
    case Completes::kFolders:
      return "_files -/";
    case Completes::kUsers:
      return "_users";
    case Completes::kNothing:
      break;
  }
  return " ";
}

// Whether a list of words in the specification is not enough.
bool needs_function(const Option& option) {
  const std::vector<std::string> words = words_of(option);
  return option.is_list || !option.items.empty() ||
         std::any_of(words.begin(), words.end(), [](const std::string& word) {
           return word.find_first_of(":()\\ ") != std::string::npos;
         });
}

std::string values_function(const std::string& name, const Option& option) {
  std::string text = fmt::format("{}() {{\n", name);
  if (!option.items.empty()) {
    text += fmt::format("  _values -s , {}", quoted(option.argument));
    for (const Item& item : option.items) {
      if (item.help.empty()) continue;
      const std::string value =
          fmt::format(":{}:{}", item.argument, action_of(completes(item.argument)));
      text += fmt::format(" \\\n    {}",
                          quoted(fmt::format("{}[{}]{}", item.word, escaped(brief(item.help)),
                                             item.argument.empty() ? "" : value)));
    }
    return text + "\n}\n\n";
  }
  for (const std::string& value : option.values) {
    const Completes behind = completes_behind(value);
    if (behind == Completes::kNothing) continue;
    text += fmt::format("  if compset -P {}; then\n    {}\n    return\n  fi\n",
                        quoted(fixed_part(value)), action_of(behind));
  }
  if (option.is_list) text += "  compset -P '*,'\n";
  text += "  compadd -S '' --";
  for (const std::string& word : words_of(option)) text += " " + quoted(word);
  return text + "\n}\n\n";
}

std::string action_for(const Option& option, const std::string& function) {
  if (needs_function(option)) return function;
  if (!option.values.empty()) return fmt::format("({})", fmt::join(words_of(option), " "));
  return std::string(action_of(completes(option.argument)));
}

// A line for each way to write the option. One excludes the other, unless it may be repeated.
std::string option_specs(const Option& option, const std::string& function) {
  const std::vector<std::string> names = names_of(option);
  const std::string before = option.repeats ? "*" : fmt::format("({})", fmt::join(names, " "));
  std::string text;
  for (const std::string& name : names) {
    std::string spec = before + name;
    if (!option.argument.empty()) spec += name.starts_with("--") ? "=" : "+";
    spec += fmt::format("[{}]", escaped(brief(option.help)));
    if (!option.argument.empty()) {
      spec += fmt::format(":{}:{}", escaped(option.argument), action_for(option, function));
    }
    text += " \\\n    " + quoted(spec);
  }
  return text;
}

std::string argument_specs(const std::string& program, const Command& command) {
  std::string text;
  for (const Option& option : completed(command.options)) {
    text += option_specs(option, function_name(program, command.name, option.word));
  }
  for (const Option& each : command.arguments) {
    const std::string function = function_name(program, command.name, each.argument);
    text += " \\\n    " + quoted(fmt::format("{}:{}:{}", each.repeats ? "*" : "",
                                             escaped(each.argument), action_for(each, function)));
  }
  return text;
}

std::string functions_of(const std::string& program, const Command& command) {
  std::string text;
  for (const Option& option : completed(command.options)) {
    if (!needs_function(option)) continue;
    text += values_function(function_name(program, command.name, option.word), option);
  }
  for (const Option& each : command.arguments) {
    if (!needs_function(each)) continue;
    text += values_function(function_name(program, command.name, each.argument), each);
  }
  return text;
}

std::string command_case(const std::string& program, const Command& command) {
  std::string pattern = command.name;
  for (const std::string& alias : command.aliases) pattern += "|" + alias;
  if (command.runs.empty()) {
    return fmt::format("    {})\n      _arguments -s -S :{}\n      ;;\n", pattern,
                       argument_specs(program, command));
  }
  // The words become a command line of the program that takes over.
  const char* const apart = command.runs_command.empty() ? "" : " ";
  std::string text = fmt::format("    {})\n", pattern);
  text += fmt::format(
      "      (( $+functions[_{0}] )) || eval \"$({1} bench --generate=zsh 2> /dev/null)\"\n"
      "      (( $+functions[_{0}] )) || return\n",
      command.runs, program);
  text += fmt::format("      words=({}{}{} \"${{(@)words[2,-1]}}\")\n", command.runs, apart,
                      command.runs_command);
  if (!command.runs_command.empty()) text += "      (( CURRENT += 1 ))\n";
  return text + fmt::format("      _{}\n      ;;\n", command.runs);
}

std::string with_commands(const Command& program) {
  Command options_alone;
  options_alone.name = program.name;
  options_alone.options = program.options;
  std::string text = fmt::format(
      "  local curcontext=$curcontext state line\n  typeset -A opt_args\n"
      "  _arguments -C -s -S :{} \\\n    '1:command:->command' \\\n    '*:::argument:->argument' "
      "&& "
      "return\n",
      argument_specs(program.name, options_alone));
  text += "  if [[ $state == command ]]; then\n    local -a commands=(\n";
  for (const Command& command : program.commands) {
    text += "      " + quoted(command.name + ":" + escaped(brief(command.summary))) + "\n";
  }
  text += "    )\n    _describe -t commands command commands\n    return\n  fi\n";
  text += "  words=(\"${line[1]}\" \"${(@)words}\")\n  (( CURRENT += 1 ))\n";
  text += fmt::format("  curcontext=${{curcontext%:*:*}}:{}-${{line[1]}}:\n", program.name);
  text += "  case ${line[1]} in\n";
  for (const Command& command : program.commands) text += command_case(program.name, command);
  return text + "  esac\n";
}

}  // namespace

std::string zsh_completion(const Page& page) {
  const Command& program = page.program;
  std::string text = fmt::format(
      "#compdef {0}\n# Completions of {0} for zsh, made by: {0} --generate=zsh\n\n", program.name);
  text += functions_of(program.name, program);
  for (const Command& command : program.commands) text += functions_of(program.name, command);
  text += fmt::format("_{}() {{\n", program.name);
  if (program.commands.empty()) {
    text += fmt::format("  _arguments -s -S :{}\n", argument_specs(program.name, program));
  } else {
    text += with_commands(program);
  }
  return text + "}\n" + with_program(kEnd, program.name);
}

}  // namespace nvcache::manual
