# The programs' manual pages and completions for shells. Each program prints its own, so that they
# have the options that it has: `PROGRAM --generate=man|bash|zsh|fish`. The target `pages` makes
# them, with all that is built, and `cmake --install` puts them where man and the shells look.

# What is built for another system cannot be asked here, unless it is of our kind.
set(made_for "${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}")
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR
    AND NOT made_for STREQUAL "${CMAKE_HOST_SYSTEM_NAME} ${CMAKE_HOST_SYSTEM_PROCESSOR}")
  message(STATUS "No manual pages and no completions: programs for ${made_for} do not run here, "
    "and CMAKE_CROSSCOMPILING_EMULATOR names nothing that runs them")
  return()
endif()
# A sanitizer's build is not installed.
if(NVCACHE_SANITIZE OR NVCACHE_FUZZ)
  return()
endif()

set(pages)
foreach(target nvcached nvcache_cli nvbench)
  if(NOT TARGET ${target})
    continue()
  endif()
  get_target_property(program ${target} OUTPUT_NAME)
  if(NOT program)
    set(program ${target})
  endif()
  foreach(form man bash zsh fish)
    # Under their installed names, a folder a form.
    set(name_man ${program}.1)
    set(name_bash ${program})
    set(name_zsh _${program})
    set(name_fish ${program}.fish)
    set(page ${PROJECT_BINARY_DIR}/pages/${form}/${name_${form}})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/pages/${form})
    add_custom_command(OUTPUT ${page}
      # By its path: a toolchain file makes CMake take a target's name for a program of this system.
      COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}> --generate=${form} > ${page}.part
      COMMAND ${CMAKE_COMMAND} -E rename ${page}.part ${page}
      DEPENDS ${target} COMMENT "Writing ${name_${form}}" VERBATIM)
    list(APPEND pages ${page})
    list(APPEND pages_${form} ${page})
  endforeach()
endforeach()
if(NOT pages)
  return()
endif()
add_custom_target(pages ALL DEPENDS ${pages})
install(FILES ${pages_man} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages_bash} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages_zsh} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages_fish} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
