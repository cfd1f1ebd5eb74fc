// The model of a program's manual page. The page and the completions of shells are made from it
// (render.h), and it is made from what parses the command line: a program's options are written
// once.
//
// Plain structs. All words are without dashes; texts are plain, in the manner of a help text.
#pragma once

#include <string>
#include <vector>

namespace nvcache::manual {

// A word that a comma-separated list of an option may hold: "ssl_key=FILE".
struct Item {
  std::string word;
  std::string argument;  // empty: takes no value
  std::string help;      // empty: the page only lists the word
};

// An option, or without letter and word an argument: a word by its place.
struct Option {
  char letter = 0;
  std::string word;
  std::string argument;  // the name of its value; empty: it takes none
  std::string help;
  std::string more;      // whole sentences that the page has behind the help
  std::string fallback;  // the value that holds where none is given
  // The allowed values, if they are a list. "file:FILE" stands for all that begin with "file:".
  std::vector<std::string> values;
  std::vector<Item> items;
  std::string group;  // the heading above it; empty: none
  bool is_required = false;
  bool repeats = false;    // may be given several times
  bool is_list = false;    // takes several values with commas between them
  bool is_hidden = false;  // not worth completing: without effect
};

struct Command {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;
  std::vector<Option> options;
  std::vector<Option> arguments;
  std::vector<Command> commands;
  std::string text;  // notes and examples, as --help shows them: see text.h
  // The program that takes over, e.g. "nvbench". It gets the words behind this command, after
  // `runs_command` if that is not empty.
  std::string runs;
  std::string runs_command;
};

struct Entry {
  std::string term;
  std::string text;
};

// A part of the page with a heading of its own: a text, then entries.
struct Section {
  std::string title;
  std::string text;
  std::vector<Entry> entries;
};

struct Page {
  Command program;  // its `text` is the description
  std::vector<std::string> synopsis;
  bool joins_values = false;  // "--word=VALUE" is the usual way, not "--word VALUE"
  std::vector<Section> sections;
  std::vector<std::string> see_also;  // "memcached(1)"
};

}  // namespace nvcache::manual
