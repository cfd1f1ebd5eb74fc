########## MACROS ###########################################################################
#############################################################################################

# Requires CMake > 3.15
if(${CMAKE_VERSION} VERSION_LESS "3.15")
    message(FATAL_ERROR "The 'CMakeDeps' generator only works with CMake >= 3.15")
endif()

if(nvcache_FIND_QUIETLY)
    set(nvcache_MESSAGE_MODE VERBOSE)
else()
    set(nvcache_MESSAGE_MODE STATUS)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/cmakedeps_macros.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/nvcacheTargets.cmake)
include(CMakeFindDependencyMacro)

check_build_type_defined()

foreach(_DEPENDENCY ${nvcache_FIND_DEPENDENCY_NAMES} )
    # Check that we have not already called a find_package with the transitive dependency
    if(NOT ${_DEPENDENCY}_FOUND)
        find_dependency(${_DEPENDENCY} REQUIRED ${${_DEPENDENCY}_FIND_MODE})
    endif()
endforeach()

set(nvcache_VERSION_STRING "0.3.0")
set(nvcache_INCLUDE_DIRS ${nvcache_INCLUDE_DIRS_RELEASE} )
set(nvcache_INCLUDE_DIR ${nvcache_INCLUDE_DIRS_RELEASE} )
set(nvcache_LIBRARIES ${nvcache_LIBRARIES_RELEASE} )
set(nvcache_DEFINITIONS ${nvcache_DEFINITIONS_RELEASE} )


# Definition of extra CMake variables from cmake_extra_variables


# Only the last installed configuration BUILD_MODULES are included to avoid the collision
foreach(_BUILD_MODULE ${nvcache_BUILD_MODULES_PATHS_RELEASE} )
    message(${nvcache_MESSAGE_MODE} "Conan: Including build module from '${_BUILD_MODULE}'")
    include(${_BUILD_MODULE})
endforeach()


