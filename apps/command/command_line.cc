#include "apps/command/command_line.h"

namespace nvcache {

std::string command_line(const std::string& program, int argc, char** argv) {
  std::string line = program;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$&()*;<>?[]`{|}~#!") == std::string::npos;
    if (plain) {
      line += " " + word;
      continue;
    }
    line += " '";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  return line;
}

}  // namespace nvcache
