# The toolchain of `cmake --preset portable`: what it builds runs on any Linux with glibc 2.28 or
# newer, and has the C++ library inside. script/portable gets what it builds with.
set(NVCACHE_PORTABLE_PROCESSOR x86_64 CACHE STRING "x86_64 or aarch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NVCACHE_PORTABLE_PROCESSOR)
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../script/portable --root ${NVCACHE_PORTABLE_PROCESSOR}
  OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${root})
  message(FATAL_ERROR "${root} is missing; script/portable ${NVCACHE_PORTABLE_PROCESSOR} gets it")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${NVCACHE_PORTABLE_PROCESSOR})
set(CMAKE_LIBRARY_ARCHITECTURE ${NVCACHE_PORTABLE_PROCESSOR}-linux-gnu)
set(CMAKE_C_COMPILER ${root}/bin/cc)
set(CMAKE_CXX_COMPILER ${root}/bin/c++)
set(CMAKE_AR ${root}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${root}/bin/ranlib CACHE FILEPATH "")
# What is not optimised would be checked for undefined behaviour, by a library that is not linked.
set(flags "-fno-sanitize=undefined -isystem ${root}/sysroot/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags}")
# The C++ library has debug information, ten times as much as code.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -s)
endforeach()
# Its linker has no --push-state.
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE
  LINKER:--whole-archive <LINK_ITEM> LINKER:--no-whole-archive)
# RocksDB for Java was compiled with libstdc++: what is compiled with its headers needs these, too.
file(GLOB folder ${root}/sysroot/usr/include/c++/[0-9]*)
cmake_path(GET folder FILENAME version)
set(NVCACHE_PORTABLE_LIBSTDCXX ${root}/sysroot/usr/include/c++ ${folder}
  ${root}/sysroot/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/c++/${version})
# No C++ type of one standard library means the same in another: the C names are shown alone.
set(NVCACHE_PORTABLE ON)

set(CMAKE_FIND_ROOT_PATH ${root}/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(OPENSSL_USE_STATIC_LIBS ON)
# The paths in the .pc files of packages begin at the root of the machine that they are made for.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root}/sysroot)
set(ENV{PKG_CONFIG_LIBDIR}
  ${root}/sysroot/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:${root}/sysroot/usr/share/pkgconfig)
