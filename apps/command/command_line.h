// The command line as typed, for results that say how they were made.
#pragma once

#include <string>

namespace nvcache {

// `program` and the arguments behind argv[0], words quoted where a shell needs it.
std::string command_line(const std::string& program, int argc, char** argv);

}  // namespace nvcache
