// The manual page of a program whose command line CLI11 parses: made of the options, commands and
// footers that it has, so that they are written once (manual/page.h).
//
// The walk reads, beside names and descriptions:
//   ->type_name("FILE"), ("FOLDER")   the value is completed with files or folders
//   CLI::IsMember, or a type name "{a,b,file:FILE}"   the allowed values
//   ->delimiter(',')                  a list
// A footer's "Examples:" and "Exit codes:" become sections of the page, those of a command lie
// with the command.
//
// One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "apps/manual/page.h"
#include "fmt/format.h"

namespace nvcache {

// A command that another program serves: `nvcache bench ...` is `nvbench ...`.
struct ForwardedCommand {
  std::string command;
  std::string program;
  std::string program_command;  // what comes first there; empty: nothing
};

// The parts of a program's page beside its options.
struct PageFacts {
  std::string name;  // the program's, if CLI11 knows it by another; empty: the one it knows
  std::vector<std::string> synopsis;
  std::string about;  // the description: paragraphs
  std::vector<manual::Section> sections;
  std::vector<std::string> see_also;
  std::vector<ForwardedCommand> forwarded;
};

// A type name for what is one of these: "{a,b}".
template <typename Names>
std::string choices(const Names& names) {
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

manual::Page command_page(const CLI::App& app, const PageFacts& facts);

// Adds --generate, which prints the page, or completions for a shell, and ends the program by
// CLI::RuntimeError. `app` must outlive the parsing.
void add_generate_option(CLI::App& app, PageFacts facts);

}  // namespace nvcache
