#include "adapters/wiredtiger/file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/wiredtiger/error_report.h"
#include "adapters/wiredtiger/file_handle.h"
#include "adapters/wiredtiger/guarded.h"
#include "adapters/wiredtiger/posix_file.h"

namespace nvcache {
namespace {

// WiredTiger owns it from attach_file_system() to terminate().
class FileSystem final : public WT_FILE_SYSTEM {
 public:
  FileSystem(WT_CONNECTION* connection, std::shared_ptr<FileBlockCache> files,
             FileSystemOptions options)
      : WT_FILE_SYSTEM{},
        files_(std::move(files)),
        report_(connection),
        options_(std::move(options)) {
    set_listing_methods();
    set_file_methods();
  }

 private:
  static FileSystem* of(WT_FILE_SYSTEM* file_system) {
    return static_cast<FileSystem*>(file_system);
  }

  int list(WT_SESSION* session, const char* folder, const char* prefix, size_t limit, char*** out,
           uint32_t* count);
  int sync_folders(WT_SESSION* session, const std::string& one, const std::string& other = "");
  void set_listing_methods();
  void set_file_methods();

  const std::shared_ptr<FileBlockCache> files_;
  const ErrorReport report_;
  const FileSystemOptions options_;
};

void free_names(char** names, uint32_t count) {
  if (names == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) std::free(names[i]);
  std::free(names);
}

int FileSystem::list(WT_SESSION* session, const char* folder, const char* prefix, size_t limit,
                     char*** out, uint32_t* count) {
  *out = nullptr;
  *count = 0;
  std::vector<std::string> found;
  if (const int error = list_folder(folder, prefix == nullptr ? "" : prefix, limit, &found);
      error != 0) {
    return report_.error(session, error, std::string(folder) + ": directory-list: opendir");
  }
  if (found.empty()) return 0;
  auto** names = static_cast<char**>(std::calloc(found.size(), sizeof(char*)));
  if (names == nullptr) return ENOMEM;
  for (const std::string& name : found) {
    names[*count] = ::strdup(name.c_str());
    if (names[(*count)++] != nullptr) continue;
    free_names(names, *count);
    *count = 0;
    return ENOMEM;
  }
  *out = names;
  return 0;
}

int FileSystem::sync_folders(WT_SESSION* session, const std::string& one,
                             const std::string& other) {
  for (const std::string& path : {one, other}) {
    if (path.empty()) continue;
    const int error = sync_folder_of(path);
    if (error != 0) return report_.error(session, error, path + ": directory-sync");
  }
  return 0;
}

void FileSystem::set_listing_methods() {
  fs_directory_list = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* folder,
                         const char* prefix, char*** names, uint32_t* count) {
    return guarded(
        [&] { return of(system)->list(session, folder, prefix, UINT32_MAX, names, count); });
  };
  fs_directory_list_single = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* folder,
                                const char* prefix, char*** names, uint32_t* count) {
    return guarded([&] { return of(system)->list(session, folder, prefix, 1, names, count); });
  };
  fs_directory_list_free = [](WT_FILE_SYSTEM*, WT_SESSION*, char** names, uint32_t count) {
    free_names(names, count);
    return 0;
  };
  fs_exist = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* name, bool* exists) {
    return guarded([&] {
      PosixStat found;
      const int error = stat_path(name, &found);
      *exists = error == 0;
      if (error == 0 || error == ENOENT) return 0;
      return of(system)->report_.error(session, error, std::string(name) + ": file-exist: stat");
    });
  };
  fs_size = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* name, wt_off_t* size) {
    return guarded([&] {
      PosixStat found;
      const int error = stat_path(name, &found);
      *size = static_cast<wt_off_t>(found.size_bytes);
      if (error == 0) return 0;
      return of(system)->report_.error(session, error, std::string(name) + ": file-size: stat");
    });
  };
}

void FileSystem::set_file_methods() {
  fs_open_file = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* name,
                    WT_FS_OPEN_FILE_TYPE type, uint32_t flags, WT_FILE_HANDLE** handle) {
    return guarded([&] {
      const bool dsync = type == WT_FS_OPEN_FILE_TYPE_LOG && of(system)->options_.log_dsync;
      return FileHandle::open(
          {.system = system, .files = *of(system)->files_, .report = of(system)->report_}, session,
          name, type, flags, dsync ? O_DSYNC : 0, handle);
    });
  };
  fs_remove = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* name, uint32_t flags) {
    return guarded([&] {
      const std::string path = name;
      of(system)->files_->forget(path);
      if (::unlink(name) == -1) {
        return of(system)->report_.error(session, errno, path + ": file-remove: unlink");
      }
      return (flags & WT_FS_DURABLE) != 0 ? of(system)->sync_folders(session, path) : 0;
    });
  };
  fs_rename = [](WT_FILE_SYSTEM* system, WT_SESSION* session, const char* from, const char* to,
                 uint32_t flags) {
    return guarded([&] {
      const std::string from_path = from;
      const std::string to_path = to;
      of(system)->files_->forget(from_path);
      of(system)->files_->forget(to_path);
      if (std::rename(from, to) == -1) {
        return of(system)->report_.error(session, errno,
                                         from_path + " to " + to_path + ": file-rename: rename");
      }
      if ((flags & WT_FS_DURABLE) == 0) return 0;
      return of(system)->sync_folders(session, from_path, to_path);
    });
  };
  terminate = [](WT_FILE_SYSTEM* system, WT_SESSION*) {
    const std::unique_ptr<FileSystem> self(of(system));
    return guarded([&] {
      if (self->options_.on_close) self->options_.on_close();
      return 0;
    });
  };
}

}  // namespace

int attach_file_system(WT_CONNECTION* connection, std::shared_ptr<FileBlockCache> files,
                       FileSystemOptions options) {
  return guarded([&] {
    auto system = std::make_unique<FileSystem>(connection, std::move(files), std::move(options));
    const int error = connection->set_file_system(connection, system.get(), nullptr);
    if (error == 0) (void)system.release();  // NOLINT(bugprone-unused-return-value)
    return error;
  });
}

}  // namespace nvcache
