// Who has a file open, for messages: a lock that is held says nothing of its holder.
#pragma once

#include <string>

namespace nvcache {

struct FileHolders {
  std::string names;    // "process 12 (nvcached), process 13 (sh)"
  bool all_end = true;  // each was killed, or ends: it will give up what it has
};

// Without names if none can be seen: other users' processes, and other containers', cannot. This
// process is left out. Looks at every process of /proc.
FileHolders holders_of_file(int fd);

// Whether this process has the file open by another descriptor, too.
bool is_open_twice(int fd);

}  // namespace nvcache
