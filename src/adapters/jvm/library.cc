#include "adapters/jvm/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"

namespace nvcache::jvm {
namespace {

// A stage and the versions that it was compiled for. RocksDB's classes that a cache touches have
// one layout from 9.7 to 11.8.
struct Stage {
  const char* name;
  bool old_abi;
  unsigned first;  // 100 * major + minor
  unsigned last;
};
constexpr Stage kStages[] = {
    {"rocksdb_8_10_old", true, 810, 810},
    {"rocksdb_9_7_old", true, 907, 1108},
    {"rocksdb_9_7_new", false, 907, 1108},
};
constexpr const char* kSupported =
    "8.10 of libstdc++'s old ABI, as in Flink 2, and 9.7 to 11.8 of both";

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Library* libraries = nullptr;        // guarded by `mutex`, as are the two that follow
const Boundary* boundary = nullptr;  // of the core
bool loaded[sizeof kStages / sizeof *kStages] = {};

// Kept for good.
const char* sentence(const char* about, const char* why) {
  char text[2 * PATH_MAX];
  snprintf(text, sizeof text, "%s: %s", about, why == nullptr ? "unknown error" : why);
  const char* const kept = strdup(text);
  return kept == nullptr ? "out of memory" : kept;
}

// ---- the version

// A std::string that RocksDB returned, and that is never destroyed: one of each library.
struct ReturnedString {
  ReturnedString() {}
  ReturnedString(const ReturnedString&) = delete;
  ~ReturnedString() {}
  const char* text;  // the first word of both layouts
  size_t words[3];
};

using VersionText = char[32];

// "10.10.1", cut off where it is longer, or false; *old_abi tells libstdc++'s ABI.
bool version_of(void* handle, bool* old_abi, VersionText& into) {
  using Version = ReturnedString (*)(bool with_patch);
  void* found = dlsym(handle, "_ZN7rocksdb23GetRocksVersionAsStringEb");
  *old_abi = found != nullptr;
  if (found == nullptr) found = dlsym(handle, "_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb");
  if (found == nullptr) return false;
  const ReturnedString version = reinterpret_cast<Version>(found)(true);
  snprintf(into, sizeof into, "%s", version.text);
  return true;
}

struct Version {
  unsigned long major = 0;
  unsigned long minor = 0;
};

Version parse(const char* version) {
  char* end = nullptr;
  const unsigned long major = strtoul(version, &end, 10);
  return {major, *end == '.' ? strtoul(end + 1, nullptr, 10) : 0};
}

const Stage* stage_for(const char* version, bool old_abi) {
  const auto [major, minor] = parse(version);
  const unsigned long number = 100 * major + minor;
  for (const Stage& stage : kStages) {
    if (stage.old_abi == old_abi && stage.first <= number && number <= stage.last && minor < 100) {
      return &stage;
    }
  }
  return nullptr;
}

// ---- the parts beside this library

// nvcache/libnvcache_jvm_NAME.so beside this library.
bool path_of(const char* part, char* path) {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&path_of), &self) == 0) return false;
  const char* const slash = strrchr(self.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash + 1 - self.dli_fname);
  const int length =
      snprintf(path, PATH_MAX, "%.*snvcache/libnvcache_jvm_%s.so", folder, self.dli_fname, part);
  return length > 0 && length < PATH_MAX;
}

// A stage serves one library: for a second copy of RocksDB it is loaded a second time, as a file of
// another name. Its descriptor stays open, for the linker knows the file by the name of that.
void* load_again(const char* path) {
  const int from = open_file(path, O_RDONLY);
  const int to = make_memory_file("libnvcache_jvm");
  struct stat file;
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", to);
  bool whole = from >= 0 && to >= 0 && fstat(from, &file) == 0;
  for (off_t at = 0; whole && at < file.st_size;) {
    whole = sendfile(to, from, &at, static_cast<size_t>(file.st_size - at)) > 0;
  }
  if (from >= 0) close(from);
  return whole ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
}

constexpr const char* kNoPath = "libnvcache_jvm.so: its folder is unknown, or its path too long";

// Null, or what is wrong.
const char* load_core() {
  if (boundary != nullptr) return nullptr;
  char path[PATH_MAX];
  if (!path_of("core", path)) return kNoPath;
  void* const core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (core == nullptr) return sentence(path, dlerror());
  void* const found = dlsym(core, kBoundarySymbol);
  if (found == nullptr) return sentence(path, dlerror());
  boundary = reinterpret_cast<const Boundary* (*)()>(found)();
  return nullptr;
}

// Null, or what is wrong: the library may be none that a stage is written for.
const char* load_stage(Library* library, const char* library_path) {
  bool old_abi = false;
  VersionText version = "of an unknown version";
  const bool known = version_of(library->handle, &old_abi, version);
  char why[PATH_MAX];
  const Stage* const stage = known ? stage_for(version, old_abi) : nullptr;
  if (stage == nullptr) {
    snprintf(why, sizeof why, "RocksDB %s of the %s ABI is not supported (%s)", version,
             old_abi ? "old" : "new", kSupported);
    return sentence(library_path, why);
  }
  char path[PATH_MAX];
  if (const char* const problem = load_core()) return problem;
  if (!path_of(stage->name, path)) return kNoPath;
  bool& again = loaded[stage - kStages];
  void* const part = again ? load_again(path) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  again = true;
  if (part == nullptr) return sentence(path, dlerror());
  const auto bind = reinterpret_cast<Bind>(dlsym(part, kBindSymbol));
  const auto make = reinterpret_cast<Make>(dlsym(part, kMakeSymbol));
  const auto open_by_spec = reinterpret_cast<OpenBySpec>(dlsym(part, kOpenBySpecSymbol));
  const auto close = reinterpret_cast<Close>(dlsym(part, kCloseSymbol));
  if (bind == nullptr || make == nullptr || open_by_spec == nullptr || close == nullptr) {
    return sentence(path, "a function is missing; it is of another version");
  }
  const auto [major, minor] = parse(version);
  const char* const wrong =
      bind(library->handle, boundary, static_cast<uint32_t>(major), static_cast<uint32_t>(minor));
  if (wrong != nullptr) {
    snprintf(why, sizeof why, "RocksDB %s has another layout than expected: %s", version, wrong);
    return sentence(library_path, why);
  }
  library->make = make;
  library->open_by_spec = open_by_spec;
  library->close = close;
  return nullptr;
}

Library* add(const Dl_info& about) {
  auto* const library = static_cast<Library*>(calloc(1, sizeof(Library)));
  if (library == nullptr) return nullptr;
  library->base = about.dli_fbase;
  // The name of a program is not one that dlopen() knows.
  library->handle = dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library->handle == nullptr) library->handle = dlopen(nullptr, RTLD_NOW);
  library->next = libraries;
  libraries = library;
  return library;
}

}  // namespace

Library* library_at(const void* address, bool wanted) {
  Dl_info about;
  if (dladdr(address, &about) == 0) return nullptr;
  pthread_mutex_lock(&mutex);
  Library* library = libraries;
  while (library != nullptr && library->base != about.dli_fbase) library = library->next;
  if (library == nullptr) library = add(about);
  if (library != nullptr && wanted && !library->tried) {
    library->tried = true;
    library->problem = load_stage(library, about.dli_fname);
  }
  pthread_mutex_unlock(&mutex);
  return library;
}

void tell_problem(Library* library) {
  if (library->problem == nullptr || __atomic_exchange_n(&library->told, true, __ATOMIC_RELAXED)) {
    return;
  }
  fprintf(stderr, "nvcache: %s; RocksDB's own cache goes on\n", library->problem);
}

void* original(const Library* library, const char* name) {
  Dl_info self, about;
  void* found = library == nullptr ? nullptr : dlsym(library->handle, name);
  // A program that links RocksDB sees this library first.
  if (found == nullptr || (dladdr(reinterpret_cast<const void*>(&path_of), &self) != 0 &&
                           dladdr(found, &about) != 0 && self.dli_fbase == about.dli_fbase)) {
    found = dlsym(RTLD_NEXT, name);
  }
  if (found != nullptr) return found;
  fprintf(stderr, "nvcache: no %s in this process\n", name);
  abort();
}

}  // namespace nvcache::jvm
