#include "adapters/jvm/far_symbols.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <memory>

// libstdc++ has it from version 9 on, and asks it of objects whose maker has no type information.
bool std::_Sp_make_shared_tag::_S_eq(const std::type_info& /*type*/) noexcept { return false; }

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

#if defined(__x86_64__)
constexpr auto kSlotOfName = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr auto kSlotOfName = R_AARCH64_GLOB_DAT;
#endif

// The linker left the slots of weak names empty. Null, or the name that `library` lacks.
const char* bind_weak_names(void* library) {
  Dl_info info;
  link_map* self = nullptr;
  if (dladdr1(static_cast<void*>(&tickers), &info, reinterpret_cast<void**>(&self),
              RTLD_DL_LINKMAP) == 0) {
    return "its own place";
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* slots = nullptr;
  size_t slots_bytes = 0;
  for (const ElfW(Dyn)* entry = self->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto* const at = reinterpret_cast<const void*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) names = static_cast<const char*>(at);
    if (entry->d_tag == DT_RELA) slots = static_cast<const ElfW(Rela)*>(at);
    if (entry->d_tag == DT_RELASZ) slots_bytes = entry->d_un.d_val;
  }
  for (size_t i = 0; i < slots_bytes / sizeof *slots; ++i) {
    if (ELF64_R_TYPE(slots[i].r_info) != kSlotOfName) continue;
    const char* const name = names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name;
    if (std::strncmp(name, "_ZNS", 4) != 0) continue;
    void* const found = dlsym(library, name);
    if (found == nullptr) return name;
    *reinterpret_cast<void**>(self->l_addr + slots[i].r_offset) = found;
  }
  return nullptr;
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
  return bind_weak_names(library);
}

void* far_tickers() { return tickers; }

}  // namespace nvcache::jvm
