// The symbols of RocksDB itself, and of the C++ library that RocksDB brought, that the code for one
// version of RocksDB uses.
//
// A Java program loads RocksDB where the dynamic linker lets no other library see it, and to make
// it visible for all would let other libraries bind to its copy of a compression library. So each
// function that the code needs is a jump through a cell, and each table of virtual functions a
// copy. tools/far_symbols.py reads the names from the compiled objects and generates both. Data
// that has one address for all who use it is a weak name (weak_names.h), which is bound here.
//
// The C++ library is RocksDB's, whichever that is: memory that one side takes the other gives back,
// and an exception passes through both.
//
// Fill them once, before anything else runs.
#pragma once

#include <cstddef>

namespace nvcache::jvm {

struct FarSymbol {
  const char* name;       // mangled
  void** cell;            // the address of a function, or the copy of a table
  size_t table_bytes;     // the room for the copy; 0: a function
  size_t expected_bytes;  // the size that the table must have; 0: any
};

// The generated table, ended by a symbol without a name.
extern const FarSymbol kFarSymbols[];

// Null, or the name of a symbol that the library lacks, or that has another size there: its
// classes have another layout.
const char* bind_far_symbols(void* library);

// rocksdb::TickersNameMap of the library; null if it has none.
void* far_tickers();

}  // namespace nvcache::jvm
