// The command line as typed. Results keep it, to say how they were made. Pure.
#pragma once

#include <string>

namespace nvcache {

// `program` and the arguments after argv[0]. Words are quoted where a shell needs it.
std::string command_line(const std::string& program, int argc, char** argv);

}  // namespace nvcache
