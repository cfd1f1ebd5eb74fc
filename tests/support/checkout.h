// Where the checkout is, for tests that read its documentation.
//
// Not a macro: the path is in one small file, so that a compiler cache serves all the others in
// another checkout.
#pragma once

#include <string>

namespace nvcache {

// No slash at the end.
std::string checkout_folder();

}  // namespace nvcache
