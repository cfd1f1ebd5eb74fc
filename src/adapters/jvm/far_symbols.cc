#include "adapters/jvm/far_symbols.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace nvcache::jvm {
namespace {

#if _GLIBCXX_USE_CXX11_ABI
constexpr const char* kTickers = "_ZN7rocksdb14TickersNameMapB5cxx11E";
constexpr const char* kAbiProbe =
    "_ZN7rocksdb12Configurable18ParseStringOptionsERKNS_13ConfigOptionsERKNSt7__cxx1112basic_"
    "stringIcSt11char_traitsIcESaIcEEE";
#else
constexpr const char* kTickers = "_ZN7rocksdb14TickersNameMapE";
constexpr const char* kAbiProbe =
    "_ZN7rocksdb12Configurable18ParseStringOptionsERKNS_13ConfigOptionsERKSs";
#endif

void* tickers = nullptr;

size_t size_of(void* symbol) {
  Dl_info info;
  void* entry = nullptr;
  if (dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr) return 0;
  return static_cast<const ElfW(Sym)*>(entry)->st_size;
}

}  // namespace

const char* bind_far_symbols(void* library) {
  // A std::string of another library (libc++) has another name.
  if (dlsym(library, kAbiProbe) == nullptr) return kAbiProbe;
  for (const FarSymbol* symbol = kFarSymbols; symbol->name != nullptr; ++symbol) {
    void* const found = dlsym(library, symbol->name);
    if (found == nullptr) return symbol->name;
    if (symbol->table_bytes == 0) {
      *symbol->cell = found;
      continue;
    }
    const size_t size_bytes = size_of(found);
    if (size_bytes == 0 || size_bytes > symbol->table_bytes) return symbol->name;
    if (symbol->expected_bytes != 0 && size_bytes != symbol->expected_bytes) return symbol->name;
    std::memcpy(symbol->cell, found, size_bytes);
  }
  tickers = dlsym(library, kTickers);
  return nullptr;
}

void* far_tickers() { return tickers; }

}  // namespace nvcache::jvm
