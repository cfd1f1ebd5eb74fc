// Who may have written a file whose content is believed when it is opened again: the user that
// opens it, and no other. Who else may write it could make a cache or a store serve anything; who
// may read it sees every value. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// For what open() refuses with ELOOP, given O_NOFOLLOW: others could lead us elsewhere by a link.
[[nodiscard]] Status refuse_link(std::string_view path);

// FAILED_PRECONDITION, and nothing is changed, if the file belongs to another user, or holds data
// and lets all users write it. INVALID_ARGUMENT if it is no regular file.
[[nodiscard]] Status check_owner(int fd, std::string_view path);

// Takes the rights of other users from it, such as those that mounts and copies add: Kubernetes'
// fsGroup makes every file its group's, at each mount. A line for an operator, or "" if there were
// none. FAILED_PRECONDITION if they stay.
[[nodiscard]] StatusOr<std::string> keep_others_out(int fd, std::string_view path);

}  // namespace nvcache
