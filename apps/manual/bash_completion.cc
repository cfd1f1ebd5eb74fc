#include <map>

#include "apps/manual/renderers.h"
#include "apps/manual/shell_text.h"
#include "apps/manual/text.h"
#include "base/text.h"

namespace nvcache::manual {
namespace {

// `words`: those up to the cursor. bash splits words at = and :, too, and takes completions for
// the last part alone.
constexpr std::string_view kHead = R"(# Completions of PROG for bash, made by: PROG --generate=bash

_PROG_words() {
  local line=${COMP_LINE:0:COMP_POINT} rest word i
  words=()
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    rest=${line#"${line%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$rest
    if ((i == 0)) || [[ $rest != "$line" ]]; then
      words+=("$word")
    else
      words[${#words[@]} - 1]+=$word
    fi
    line=${rest#"$word"}
  done
}

)";

// After the tables. `_PROG_value COMMAND OPTION` sets kind, values and paths for what OPTION takes,
// or with an empty OPTION for the arguments of COMMAND.
constexpr std::string_view kTail = R"(
# Sets `pending` to the option of the cluster $2 that takes the next word.
_PROG_cluster() {
  local at letter
  pending=
  for ((at = 1; at < ${#2}; ++at)); do
    letter=${2:at:1}
    _PROG_value "$1" "-$letter"
    [[ $kind == none ]] && continue
    ((at + 1 == ${#2})) && pending=-$letter
    return
  done
}

_PROG_scan() {
  local word i
  for ((i = 1; i < ${#words[@]} - 1; ++i)); do
    word=${words[i]}
    if [[ -n $pending ]]; then
      pending=
    elif [[ $word == --*=* ]]; then
      continue
    elif [[ $word == --?* ]]; then
      _PROG_value "$command" "$word"
      [[ $kind == none ]] || pending=$word
    elif [[ $word == -?* ]]; then
      _PROG_cluster "$command" "$word"
    elif [[ -z $command ]]; then
      _PROG_enter "$word"
      ((${#forwarded[@]} == 0)) || return
    fi
  done
}

_PROG_reply() {
  local part=
  if [[ $kind == list || $kind == items ]]; then
    part=${cur%"${cur##*,}"}
    cur=${cur#"$part"}
  fi
  if [[ $kind == items && $cur == *=* ]]; then
    kind=any
    [[ " $files " != *" ${cur%%=*}= "* ]] || kind=file
    part+=${cur%%=*}=
    cur=${cur#*=}
  elif [[ $cur == *:* && " $paths " == *" ${cur%%:*}: "* ]]; then
    part+=${cur%%:*}:
    cur=${cur#*:}
    kind=file
  fi
  case $kind in
    words | list | items) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
  esac
  [[ $kind != file && $kind != folder ]] || compopt -o filenames 2> /dev/null
  ((${#COMPREPLY[@]} == 0)) || COMPREPLY=("${COMPREPLY[@]/#/$head$part}")
  if [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *[=:] ]]; then
    compopt -o nospace 2> /dev/null
  fi
}

# Completes the last of `words`, and is called by completions of other programs, too.
_PROG_complete() {
  local command= pending= kind=none values= paths= files= options= commands= head= cur whole
  local forwarded=()
  COMPREPLY=()
  whole=${words[${#words[@]} - 1]}
  cur=$whole
  _PROG_scan
  if ((${#forwarded[@]})); then
    _PROG_forward
    return
  fi
  _PROG_command "$command"
  if [[ -n $pending ]]; then
    _PROG_value "$command" "$pending"
  elif [[ $cur == --*=* ]]; then
    head=${cur%%=*}=
    _PROG_value "$command" "${cur%%=*}"
    cur=${cur#*=}
  elif [[ $cur == -* ]]; then
    kind=words values=$options
  elif [[ -z $command && -n $commands ]]; then
    kind=words values=$commands
  else
    _PROG_value "$command" ''
  fi
  _PROG_reply
  # Without what bash keeps before the last = or :.
  local breaks=${COMP_WORDBREAKS//[^=:]/}
  if [[ -n $breaks ]] && ((${#COMPREPLY[@]})); then
    COMPREPLY=("${COMPREPLY[@]#"${whole%"${whole##*["$breaks"]}"}"}")
  fi
}

_PROG() {
  local words
  _PROG_words
  _PROG_complete
}
complete -F _PROG PROG
)";

std::string kind_of(const Option& option) {
  const std::vector<std::string> words = words_of(option);
  std::string paths;
  for (const std::string& value : option.values) {
    if (completes_behind(value) != Completes::kNothing) paths += fixed_part(value) + " ";
  }
  std::string files;
  for (const Item& item : option.items) {
    if (completes(item.argument) == Completes::kFiles) files += item.word + "= ";
  }
  if (!words.empty()) {
    const char* const kind = !option.items.empty() ? "items" : option.is_list ? "list" : "words";
    std::string text =
        fmt::format("kind={} values={}", kind, quoted(fmt::format("{}", fmt::join(words, " "))));
    if (!paths.empty()) text += " paths=" + quoted(std::string(strip(paths)));
    if (!files.empty()) text += " files=" + quoted(std::string(strip(files)));
    return text;
  }
  if (option.argument.empty()) return "kind=none";
  switch (completes(option.argument)) {
    case Completes::kFiles:
      return "kind=file";
    case Completes::kFolders:
      return "kind=folder";
    case Completes::kUsers:
      return "kind=user";
    case Completes::kNothing:
      break;
  }
  return "kind=any";
}

// Sets `options` and `commands`.
std::string command_case(const std::string& name, const Command& command, bool joins_values) {
  std::string options;
  for (const Option& option : completed(command.options)) {
    for (const std::string& typed : names_of(option)) {
      const bool joined = joins_values && typed.starts_with("--") && !option.argument.empty();
      options += (options.empty() ? "" : " ") + typed + (joined ? "=" : "");
    }
  }
  std::string text = fmt::format("    {})\n      options={}\n", quoted(name), quoted(options));
  std::string commands;
  for (const Command& each : command.commands) {
    commands += (commands.empty() ? "" : " ") + each.name;
  }
  if (!commands.empty()) text += fmt::format("      commands={}\n", quoted(commands));
  return text + "      ;;\n";
}

std::string value_cases(const std::string& name, const Command& command) {
  std::map<std::string, std::string> patterns;
  const auto add = [&patterns, &name](const Option& option, const std::string& typed) {
    std::string& pattern = patterns[kind_of(option)];
    pattern += (pattern.empty() ? "" : " | ") + quoted(name + " " + typed);
  };
  for (const Option& option : command.options) {
    if (option.argument.empty()) continue;
    for (const std::string& typed : names_of(option)) add(option, typed);
  }
  // The last one may take many.
  if (!command.arguments.empty()) add(command.arguments.back(), "");
  std::string text;
  for (const auto& [kind, pattern] : patterns) {
    text += fmt::format("    {}) {} ;;\n", pattern, kind);
  }
  return text;
}

// Which command a word names, and which of them another program serves.
std::string enter_cases(const Command& program) {
  std::string text;
  for (const Command& command : program.commands) {
    std::string pattern = quoted(command.name);
    for (const std::string& alias : command.aliases) pattern += " | " + quoted(alias);
    if (command.runs.empty()) {
      text += fmt::format("    {}) command={} ;;\n", pattern, quoted(command.name));
      continue;
    }
    text +=
        fmt::format("    {}) forwarded=({}{} \"${{words[@]:i+1}}\") ;;\n", pattern, command.runs,
                    command.runs_command.empty() ? "" : " " + command.runs_command);
  }
  return text;
}

// Asks the other program, once, which it may be the first to know whether it is installed.
std::string forward(const Command& program) {
  std::string text;
  for (const Command& command : program.commands) {
    if (command.runs.empty() || !command.runs_command.empty()) continue;
    text += fmt::format(
        "\n_{0}_forward() {{\n"
        "  declare -F _{1}_complete > /dev/null ||\n"
        "    eval \"$(\"${{words[0]}}\" {2} --generate=bash 2> /dev/null)\"\n"
        "  declare -F _{1}_complete > /dev/null || return\n"
        "  words=(\"${{forwarded[@]}}\")\n"
        "  _{1}_complete\n}}\n",
        program.name, command.runs, command.name);
  }
  return text;
}

}  // namespace

std::string bash_completion(const Page& page) {
  const Command& program = page.program;
  std::string text = with_program(kHead, program.name);
  text += fmt::format("_{}_command() {{\n  case $1 in\n", program.name);
  text += command_case("", program, page.joins_values);
  for (const Command& command : program.commands) {
    if (command.runs.empty()) text += command_case(command.name, command, page.joins_values);
  }
  text +=
      fmt::format("  esac\n}}\n\n_{}_value() {{\n  kind=none\n  case \"$1 $2\" in\n", program.name);
  text += value_cases("", program);
  for (const Command& command : program.commands) text += value_cases(command.name, command);
  text += fmt::format("  esac\n}}\n\n_{}_enter() {{\n  case $1 in\n{}  esac\n}}\n", program.name,
                      enter_cases(program));
  text += forward(program);
  return text + with_program(kTail, program.name);
}

}  // namespace nvcache::manual
