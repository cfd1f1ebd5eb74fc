# Load the debug and release variables
file(GLOB DATA_FILES "${CMAKE_CURRENT_LIST_DIR}/nvcache-*-data.cmake")

foreach(f ${DATA_FILES})
    include(${f})
endforeach()

# Create the targets for all the components
foreach(_COMPONENT ${nvcache_COMPONENT_NAMES} )
    if(NOT TARGET ${_COMPONENT})
        add_library(${_COMPONENT} INTERFACE IMPORTED)
        message(${nvcache_MESSAGE_MODE} "Conan: Component target declared '${_COMPONENT}'")
    endif()
endforeach()

if(NOT TARGET nvcache::nvcache)
    add_library(nvcache::nvcache INTERFACE IMPORTED)
    message(${nvcache_MESSAGE_MODE} "Conan: Target declared 'nvcache::nvcache'")
endif()
# Load the debug and release library finders
file(GLOB CONFIG_FILES "${CMAKE_CURRENT_LIST_DIR}/nvcache-Target-*.cmake")

foreach(f ${CONFIG_FILES})
    include(${f})
endforeach()