// The command line of nvcached, parsed. A plain struct, filled by nvcached_options.h through the
// rows of option_table.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/nvcached/options/settings.h"

namespace nvcache::server {

struct Options {
  Settings settings;
  std::string medium;  // empty: a file in the user's state directory
  std::string durability = "cache";
  uint32_t max_absence_s = 0;  // 0: none
  bool empty_after_absence = false;
  std::string store_spec;        // of --store: replaces -m, --medium, --durability, --max-absence
  bool tcp_port_given = false;   // -p
  bool item_size_given = false;  // -I
  bool protocol_given = false;   // -B
  std::string user;
  std::string pid_file;
  bool daemon = false;
  bool lock_memory = false;
  bool core_dumps = false;
  bool help = false;
  bool version = false;
  std::string generate;  // a form of the manual page or a shell to complete in; empty: serve
  std::vector<std::string> ignored;  // options of memcached that have no effect here
};

}  // namespace nvcache::server
