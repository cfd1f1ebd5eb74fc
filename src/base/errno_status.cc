#include "base/errno_status.h"

#include <cerrno>
#include <initializer_list>
#include <string>
#include <system_error>

namespace nvcache {
namespace {

struct ErrnoRow {
  StatusCode code;
  std::initializer_list<int> errors;
};
constexpr ErrnoRow kErrnoRows[] = {
    {StatusCode::kInvalidArgument,
     {EINVAL, ENAMETOOLONG, E2BIG, EDESTADDRREQ, EDOM, EFAULT, EILSEQ, ENOPROTOOPT, ENOTSOCK,
      ENOTTY, EPROTOTYPE, ESPIPE}},
    {StatusCode::kDeadlineExceeded, {ETIMEDOUT}},
    {StatusCode::kNotFound, {ENODEV, ENOENT, ENXIO, ESRCH}},
    {StatusCode::kAlreadyExists, {EEXIST, EADDRNOTAVAIL, EALREADY}},
    {StatusCode::kPermissionDenied, {EPERM, EACCES, EROFS}},
    {StatusCode::kFailedPrecondition,
     {ENOTEMPTY, EISDIR, ENOTDIR, EADDRINUSE, EBADF, EBUSY, ECHILD, EISCONN, ENOTCONN, EPIPE,
      ETXTBSY}},
    {StatusCode::kResourceExhausted, {ENOSPC, EDQUOT, EMFILE, EMLINK, ENFILE, ENOBUFS, ENOMEM}},
    {StatusCode::kOutOfRange, {EFBIG, EOVERFLOW, ERANGE}},
    {StatusCode::kUnimplemented,
     {ENOSYS, EOPNOTSUPP, EAFNOSUPPORT, EPFNOSUPPORT, EPROTONOSUPPORT, EXDEV}},
    {StatusCode::kUnavailable,
     {EAGAIN, ECONNREFUSED, ECONNABORTED, ECONNRESET, EINTR, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
      ENOLCK}},
    {StatusCode::kAborted, {EDEADLK, ESTALE}},
    {StatusCode::kCancelled, {ECANCELED}},
};

StatusCode code_of_errno(int error) {
  for (const ErrnoRow& row : kErrnoRows) {
    for (const int each : row.errors) {
      if (each == error) return row.code;
    }
  }
  return StatusCode::kUnknown;
}

}  // namespace

Status errno_status(int error, std::string_view what) {
  if (error == 0) return {};
  std::string message(what);
  message.append(": ").append(std::generic_category().message(error));
  return {code_of_errno(error), message};
}

}  // namespace nvcache
