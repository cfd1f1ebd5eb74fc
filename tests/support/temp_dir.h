// A test's own directory, removed with its contents at the end.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace nvcache {

class TempDir {
 public:
  // The system's temporary folder may be in memory: tests that are about a disk or about direct I/O
  // name on_disk().
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "nvcache_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      std::perror(name.c_str());
      std::abort();
    }
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // NVCACHE_TEST_DISK, or /var/tmp.
  static std::filesystem::path on_disk() {
    const char* const named = std::getenv("NVCACHE_TEST_DISK");
    return named != nullptr ? named : "/var/tmp";
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace nvcache
