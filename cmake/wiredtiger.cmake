# Finds WiredTiger as script/wiredtiger builds it and defines the imported target `wiredtiger`.
# Without WiredTiger there is no such target, and the parts that need it are left out.
option(NVCACHE_WIREDTIGER
  "Build the WiredTiger adapter and benchmark engine, if WiredTiger is there" ON)
set(NVCACHE_WIREDTIGER_ROOT "" CACHE PATH
  "Folder with libwiredtiger.so and include/ (default: what `script/wiredtiger --root` prints)")
if(NOT NVCACHE_WIREDTIGER)
  return()
endif()

set(wiredtiger_root "${NVCACHE_WIREDTIGER_ROOT}")
if(NOT wiredtiger_root)
  # Ask each time: the wanted version may have changed since the last configuration.
  set(processor)
  if(NVCACHE_WIREDTIGER_PROCESSOR)  # a toolchain's
    set(processor --processor ${NVCACHE_WIREDTIGER_PROCESSOR})
  endif()
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/script/wiredtiger ${processor} --root
    OUTPUT_VARIABLE wiredtiger_root OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT EXISTS "${wiredtiger_root}/include/wiredtiger_ext.h"
    OR NOT EXISTS "${wiredtiger_root}/libwiredtiger.so")
  if(NVCACHE_WIREDTIGER_ROOT)
    message(FATAL_ERROR "NVCACHE_WIREDTIGER_ROOT=${wiredtiger_root} lacks "
      "include/wiredtiger_ext.h or libwiredtiger.so; script/wiredtiger builds a complete folder")
  endif()
  message(STATUS "WiredTiger not found in ${wiredtiger_root}: its adapter is not built "
    "(script/wiredtiger gets it; then configure again)")
  return()
endif()
message(STATUS "WiredTiger: ${wiredtiger_root}")
# For the CMake files that follow; CMake's cache keeps what the user gave.
set(NVCACHE_WIREDTIGER_ROOT "${wiredtiger_root}")
set(NVCACHE_WIREDTIGER_FOUND_ROOT "${wiredtiger_root}")

add_library(wiredtiger SHARED IMPORTED GLOBAL)
set_target_properties(wiredtiger PROPERTIES
  IMPORTED_LOCATION ${wiredtiger_root}/libwiredtiger.so
  INTERFACE_INCLUDE_DIRECTORIES ${wiredtiger_root}/include)  # SYSTEM, as for every imported target
