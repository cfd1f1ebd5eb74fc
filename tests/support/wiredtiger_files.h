// Where the build put what WiredTiger loads in these tests.
//
// Not macros: the paths are in one small file, so that a compiler cache serves all the others in
// another checkout.
#pragma once

namespace nvcache::wt_test {

extern const char* const kBuiltExtension;
extern const char* const kSnappyExtension;

}  // namespace nvcache::wt_test
