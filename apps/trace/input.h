// The bytes of a file, unpacked by a program where its name asks for that.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "nvcache/status_or.h"

namespace nvcache {

// Caller-locked. Owns the file and the program, which ends with it.
class Input {
 public:
  // "-" is standard input, as it is. NOT_FOUND, or UNAVAILABLE if the file cannot be read or the
  // program cannot be started; the message names the file.
  [[nodiscard]] static StatusOr<std::unique_ptr<Input>> open(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Fills `to` as far as there are bytes; fewer mean the end. UNAVAILABLE if the file fails.
  [[nodiscard]] StatusOr<size_t> read(std::span<char> to);

  // At the end: the program could not unpack all of the file.
  bool is_cut_short() const { return cut_short_; }
  // The message of the program: " (zstd: ...)", or "".
  std::string problem() const;
  // How much of the file was read, packed as it is, from 0 to 1; 0 where its size is not known.
  double share_read() const;

 private:
  // Takes the descriptors. `messages`: of the program; -1: none.
  Input(int file, int bytes, pid_t program, int messages);
  void end_program();

  const int file_;
  const int bytes_;        // the program's output, or file_
  pid_t program_;          // 0: none, or it has ended
  const int messages_;     // what it says; -1: none
  double size_bytes_ = 0;  // of the file; 0: unknown
  bool cut_short_ = false;
};

// The name without .zst, .xz or .gz.
std::string without_packing(std::string path);

}  // namespace nvcache
