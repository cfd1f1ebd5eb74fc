# Avoid multiple calls to find_package to append duplicated properties to the targets
include_guard()########### VARIABLES #######################################################################
#############################################################################################
set(nvcache_FRAMEWORKS_FOUND_RELEASE "") # Will be filled later
conan_find_apple_frameworks(nvcache_FRAMEWORKS_FOUND_RELEASE "${nvcache_FRAMEWORKS_RELEASE}" "${nvcache_FRAMEWORK_DIRS_RELEASE}")

set(nvcache_LIBRARIES_TARGETS "") # Will be filled later


######## Create an interface target to contain all the dependencies (frameworks, system and conan deps)
if(NOT TARGET nvcache_DEPS_TARGET)
    add_library(nvcache_DEPS_TARGET INTERFACE IMPORTED)
endif()

set_property(TARGET nvcache_DEPS_TARGET
             APPEND PROPERTY INTERFACE_LINK_LIBRARIES
             $<$<CONFIG:Release>:${nvcache_FRAMEWORKS_FOUND_RELEASE}>
             $<$<CONFIG:Release>:${nvcache_SYSTEM_LIBS_RELEASE}>
             $<$<CONFIG:Release>:>)

####### Find the libraries declared in cpp_info.libs, create an IMPORTED target for each one and link the
####### nvcache_DEPS_TARGET to all of them
conan_package_library_targets("${nvcache_LIBS_RELEASE}"    # libraries
                              "${nvcache_LIB_DIRS_RELEASE}" # package_libdir
                              "${nvcache_BIN_DIRS_RELEASE}" # package_bindir
                              "${nvcache_LIBRARY_TYPE_RELEASE}"
                              "${nvcache_IS_HOST_WINDOWS_RELEASE}"
                              nvcache_DEPS_TARGET
                              nvcache_LIBRARIES_TARGETS  # out_libraries_targets
                              "_RELEASE"
                              "nvcache"    # package_name
                              "${nvcache_NO_SONAME_MODE_RELEASE}")  # soname

# FIXME: What is the result of this for multi-config? All configs adding themselves to path?
set(CMAKE_MODULE_PATH ${nvcache_BUILD_DIRS_RELEASE} ${CMAKE_MODULE_PATH})

########## GLOBAL TARGET PROPERTIES Release ########################################
    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                 $<$<CONFIG:Release>:${nvcache_OBJECTS_RELEASE}>
                 $<$<CONFIG:Release>:${nvcache_LIBRARIES_TARGETS}>
                 )

    if("${nvcache_LIBS_RELEASE}" STREQUAL "")
        # If the package is not declaring any "cpp_info.libs" the package deps, system libs,
        # frameworks etc are not linked to the imported targets and we need to do it to the
        # global target
        set_property(TARGET nvcache::nvcache
                     APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                     nvcache_DEPS_TARGET)
    endif()

    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_LINK_OPTIONS
                 $<$<CONFIG:Release>:${nvcache_LINKER_FLAGS_RELEASE}>)
    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES
                 $<$<CONFIG:Release>:${nvcache_INCLUDE_DIRS_RELEASE}>)
    # Necessary to find LINK shared libraries in Linux
    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_LINK_DIRECTORIES
                 $<$<CONFIG:Release>:${nvcache_LIB_DIRS_RELEASE}>)
    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                 $<$<CONFIG:Release>:${nvcache_COMPILE_DEFINITIONS_RELEASE}>)
    set_property(TARGET nvcache::nvcache
                 APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
                 $<$<CONFIG:Release>:${nvcache_COMPILE_OPTIONS_RELEASE}>)

########## For the modules (FindXXX)
set(nvcache_LIBRARIES_RELEASE nvcache::nvcache)
