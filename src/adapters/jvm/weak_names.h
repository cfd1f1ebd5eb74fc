// Included before anything else in the code for one version of RocksDB: names of data that lie in
// RocksDB's C++ library, once for all who use them. Weak, the linker lets them be unknown until
// bind_far_symbols() fills them in.
#pragma once

#if !_GLIBCXX_USE_CXX11_ABI
// An empty std::string points to this in the old ABI, and its destructor compares with it.
asm(".weak _ZNSs4_Rep20_S_empty_rep_storageE");
#endif
