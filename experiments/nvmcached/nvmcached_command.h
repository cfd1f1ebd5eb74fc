// `nvcache bench nvmcached`: the evaluation of *NVMcached* (APSys '16).
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace nvcache {

// `command` is the command line as typed.
void add_nvmcached_command(CLI::App& group, const std::string& command);

}  // namespace nvcache
