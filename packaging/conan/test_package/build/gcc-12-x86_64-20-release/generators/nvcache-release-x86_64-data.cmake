########### AGGREGATED COMPONENTS AND DEPENDENCIES FOR THE MULTI CONFIG #####################
#############################################################################################

set(nvcache_COMPONENT_NAMES "")
if(DEFINED nvcache_FIND_DEPENDENCY_NAMES)
  list(APPEND nvcache_FIND_DEPENDENCY_NAMES )
  list(REMOVE_DUPLICATES nvcache_FIND_DEPENDENCY_NAMES)
else()
  set(nvcache_FIND_DEPENDENCY_NAMES )
endif()

########### VARIABLES #######################################################################
#############################################################################################
set(nvcache_PACKAGE_FOLDER_RELEASE "/var/tmp/nvcache.XQwlkV/p/b/nvcac5c760fb0f0109/p")
set(nvcache_BUILD_MODULES_PATHS_RELEASE )


set(nvcache_INCLUDE_DIRS_RELEASE "${nvcache_PACKAGE_FOLDER_RELEASE}/include")
set(nvcache_RES_DIRS_RELEASE )
set(nvcache_DEFINITIONS_RELEASE )
set(nvcache_SHARED_LINK_FLAGS_RELEASE )
set(nvcache_EXE_LINK_FLAGS_RELEASE )
set(nvcache_OBJECTS_RELEASE )
set(nvcache_COMPILE_DEFINITIONS_RELEASE )
set(nvcache_COMPILE_OPTIONS_C_RELEASE )
set(nvcache_COMPILE_OPTIONS_CXX_RELEASE )
set(nvcache_LIB_DIRS_RELEASE "${nvcache_PACKAGE_FOLDER_RELEASE}/lib")
set(nvcache_BIN_DIRS_RELEASE "${nvcache_PACKAGE_FOLDER_RELEASE}/bin")
set(nvcache_LIBRARY_TYPE_RELEASE SHARED)
set(nvcache_IS_HOST_WINDOWS_RELEASE 0)
set(nvcache_LIBS_RELEASE nvcache)
set(nvcache_SYSTEM_LIBS_RELEASE )
set(nvcache_FRAMEWORK_DIRS_RELEASE )
set(nvcache_FRAMEWORKS_RELEASE )
set(nvcache_BUILD_DIRS_RELEASE )
set(nvcache_NO_SONAME_MODE_RELEASE FALSE)


# COMPOUND VARIABLES
set(nvcache_COMPILE_OPTIONS_RELEASE)
if (NOT "${nvcache_COMPILE_OPTIONS_CXX_RELEASE}" STREQUAL "")
    list(APPEND nvcache_COMPILE_OPTIONS_RELEASE
        "$<$<COMPILE_LANGUAGE:CXX>:${nvcache_COMPILE_OPTIONS_CXX_RELEASE}>")
endif ()
if (NOT "${nvcache_COMPILE_OPTIONS_C_RELEASE}" STREQUAL "")
    list(APPEND nvcache_COMPILE_OPTIONS_RELEASE
        "$<$<COMPILE_LANGUAGE:C>:${nvcache_COMPILE_OPTIONS_C_RELEASE}>")
endif ()
set(nvcache_LINKER_FLAGS_RELEASE)
if (NOT "${nvcache_SHARED_LINK_FLAGS_RELEASE}" STREQUAL "")
    list(APPEND nvcache_LINKER_FLAGS_RELEASE
        "$<$<OR:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>:${nvcache_SHARED_LINK_FLAGS_RELEASE}>")
endif ()
if (NOT "${nvcache_EXE_LINK_FLAGS_RELEASE}" STREQUAL "")
    list(APPEND nvcache_LINKER_FLAGS_RELEASE
        "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${nvcache_EXE_LINK_FLAGS_RELEASE}>")
endif ()


set(nvcache_COMPONENTS_RELEASE )