// The manual page of nvcached, and what completions are made of: the rows of option_table.h, and
// beside them what is no option: signals, files, exit codes, examples.
//
// Pure.
#pragma once

#include "apps/manual/page.h"

namespace nvcache::server {

manual::Page nvcached_page();

}  // namespace nvcache::server
