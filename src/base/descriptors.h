// Where all descriptors of nvcache come from: none of them is ever 0, 1 or 2.
//
// A process may run with its standard streams closed, and then the kernel gives those numbers to
// whatever is opened next: each message that the process prints lands in that file. Where a program
// has one of the three closed, it stays closed: a guest fills no place of its host's. (Our own
// programs do: fill_standard_streams().)
//
// Calls that make a descriptor stand here alone (machine: tools/tidy.py). All are close-on-exec.
// Errors are as those of the system calls: -1 or null, and errno. Thread-safe, and of libc alone,
// for what is loaded into any program (adapters/jvm). Costs five short system calls for a file,
// none for others.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>

namespace nvcache {

// While one lives, what any code of the process opens gets no closed place of 0 to 2. They are
// taken by a descriptor that can neither be read nor written (O_PATH), so that a message to a
// closed stream fails as before, rather than reach a file for the moment until that has moved. For
// calls of libraries that open files, too. Keep it short: the host may want to open its streams
// again.
//
// Not excluded is what a host does to these places in the same moment: a stream that it closes
// (the file moves, then) or makes anew while the last one ends (some instructions long).
class StandardPlacesHeld {
 public:
  StandardPlacesHeld();
  ~StandardPlacesHeld();
  StandardPlacesHeld(const StandardPlacesHeld&) = delete;
  StandardPlacesHeld& operator=(const StandardPlacesHeld&) = delete;
};

int open_file(const char* path, int flags, mode_t mode = 0);
DIR* open_folder(const char* path);
int make_memory_file(const char* name);
// A new file with a name of its own: the last six characters of `path`, XXXXXX, are replaced.
int make_temporary_file(char* path);
int copy_descriptor(int descriptor);
int make_socket(int family, int type, int protocol);
int accept_nonblocking(int listener, sockaddr* from, socklen_t* from_bytes);
int make_event_counter(int flags);
int make_signal_reader(const sigset_t& signals);
// Reads from ends[0] what is written to ends[1]. False: none were made.
bool make_pipe(int (&ends)[2]);

// For a descriptor of a medium. In a child that the process forks, a descriptor takes its place
// that can neither be read nor written (O_PATH): the child keeps no lock and no device from others,
// and what its copy of a cache does changes nothing of its parent's. Mappings are not covered.
// There is room for kMostKept; others stay as they are in a child.
void keep_from_children(int descriptor);
void close_kept(int descriptor);
// For one that somebody else closes next.
void forget_kept(int descriptor);
inline constexpr int kMostKept = 1024;

// For a program of ours that leaves its standard streams: `descriptor` takes the place of one.
void put_descriptor(int descriptor, int place);

// For the start of a program of ours, before it has threads: /dev/null takes the places of 0 to 2
// that are closed, also in its children. Reading or writing there fails as before, so that results
// are not lost in silence. False if there is no /dev/null.
bool fill_standard_streams();

}  // namespace nvcache
