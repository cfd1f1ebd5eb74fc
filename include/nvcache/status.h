// Whether an operation succeeded, and if not, why. No exception crosses an interface of nvcache.
// A miss is no error.
//
// The names and the codes are those of gRPC and Abseil, so that a status can be passed on. The type
// is nvcache's own: a program that uses it needs no other library, and links no code for it.
//
// Costs: one that is OK takes 24 bytes and allocates nothing; a copy never allocates.
// Thread-safe as an int is: threads may read one, and copies share nothing that is written.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace nvcache {

// A row each: enumerator, name, what an error of this kind is called in functions.
#define NVCACHE_STATUS_CODES(CODE)                                         \
  CODE(1, kCancelled, "CANCELLED", cancelled)                              \
  CODE(2, kUnknown, "UNKNOWN", unknown)                                    \
  CODE(3, kInvalidArgument, "INVALID_ARGUMENT", invalid_argument)          \
  CODE(4, kDeadlineExceeded, "DEADLINE_EXCEEDED", deadline_exceeded)       \
  CODE(5, kNotFound, "NOT_FOUND", not_found)                               \
  CODE(6, kAlreadyExists, "ALREADY_EXISTS", already_exists)                \
  CODE(7, kPermissionDenied, "PERMISSION_DENIED", permission_denied)       \
  CODE(8, kResourceExhausted, "RESOURCE_EXHAUSTED", resource_exhausted)    \
  CODE(9, kFailedPrecondition, "FAILED_PRECONDITION", failed_precondition) \
  CODE(10, kAborted, "ABORTED", aborted)                                   \
  CODE(11, kOutOfRange, "OUT_OF_RANGE", out_of_range)                      \
  CODE(12, kUnimplemented, "UNIMPLEMENTED", unimplemented)                 \
  CODE(13, kInternal, "INTERNAL", internal)                                \
  CODE(14, kUnavailable, "UNAVAILABLE", unavailable)                       \
  CODE(15, kDataLoss, "DATA_LOSS", data_loss)

enum class StatusCode : uint8_t {
  kOk = 0,
#define NVCACHE_STATUS_CODE(number, enumerator, name, function) enumerator = number,
  NVCACHE_STATUS_CODES(NVCACHE_STATUS_CODE)
#undef NVCACHE_STATUS_CODE
};

// "NOT_FOUND"; "" for a number that is no code.
constexpr std::string_view name_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
#define NVCACHE_STATUS_CODE(number, enumerator, name, function) \
  case StatusCode::enumerator:                                  \
    return name;
      NVCACHE_STATUS_CODES(NVCACHE_STATUS_CODE)
#undef NVCACHE_STATUS_CODE
  }
  return "";
}

class [[nodiscard]] Status {
 public:
  // OK.
  Status() noexcept = default;
  // The message is dropped if the code is kOk. Throws std::bad_alloc unless it is empty.
  Status(StatusCode code, std::string_view message) : code_(code) {
    if (code == StatusCode::kOk || message.empty()) return;
    message_ = std::make_shared<const std::string>(message);
  }

  bool ok() const noexcept { return code_ == StatusCode::kOk; }
  StatusCode code() const noexcept { return code_; }
  // For people: what was wrong, and what is allowed. Valid as long as this status or a copy.
  std::string_view message() const noexcept {
    return message_ == nullptr ? std::string_view() : std::string_view(*message_);
  }
  // "OK", or "NOT_FOUND: no such file".
  std::string to_string() const {
    std::string text(name_of(code_));
    if (!ok()) text.append(": ").append(message());
    return text;
  }

  friend bool operator==(const Status& a, const Status& b) {
    return a.code_ == b.code_ && a.message() == b.message();
  }
  // For any stream of characters. <iosfwd> does: a template waits for the rest.
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                                      const Status& status) {
    return stream << status.to_string();
  }

 private:
  std::shared_ptr<const std::string> message_;
  StatusCode code_ = StatusCode::kOk;
};

inline Status ok_status() noexcept { return {}; }

// For each code: not_found_error("no such file") makes an error of the kind, is_not_found(status)
// asks for it.
#define NVCACHE_STATUS_CODE(number, enumerator, name, function) \
  inline Status function##_error(std::string_view message) {    \
    return {StatusCode::enumerator, message};                   \
  }                                                             \
  inline bool is_##function(const Status& status) noexcept {    \
    return status.code() == StatusCode::enumerator;             \
  }
NVCACHE_STATUS_CODES(NVCACHE_STATUS_CODE)
#undef NVCACHE_STATUS_CODE

}  // namespace nvcache
