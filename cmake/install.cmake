# `cmake --install` installs the headers, libnvcache.so, a CMake package and a pkg-config file,
# and those of the adapters and programs that are built.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/nvcache DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(TARGETS nvcache_shared EXPORT nvcacheTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET nvcache_wiredtiger)
  install(TARGETS nvcache_wiredtiger LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET nvcache_rocksdb_tiered)
  install(TARGETS nvcache_rocksdb_tiered LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET nvcache_jvm)
  install(TARGETS nvcache_jvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS ${NVCACHE_JVM_PARTS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/nvcache)
endif()
if(TARGET nvcached)
  install(TARGETS nvcached RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES contrib/twemproxy.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/nvcache)
  # The unit names the installed program. It is made at installation, which may choose the prefix.
  install(CODE "
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
    cmake_path(APPEND prefix [[${CMAKE_INSTALL_BINDIR}]] OUTPUT_VARIABLE NVCACHE_INSTALLED_BIN)
    cmake_path(APPEND prefix [[${CMAKE_INSTALL_DATADIR}/nvcache]]
      OUTPUT_VARIABLE NVCACHE_INSTALLED_DATA)
    configure_file([[${PROJECT_SOURCE_DIR}/contrib/nvcached.service.in]]
      [[${PROJECT_BINARY_DIR}/nvcached.service]] @ONLY)
    file(INSTALL [[${PROJECT_BINARY_DIR}/nvcached.service]]
      DESTINATION \"\${NVCACHE_INSTALLED_DATA}\")")
endif()
if(TARGET nvcache_cli)
  install(TARGETS nvcache_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(nvcache_cli PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET nvbench)
  install(TARGETS nvbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(nvbench PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET nvcache_rocksdb)
  set_target_properties(nvcache_rocksdb PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

# To watch all of these with. The dashboards and the rules are of the library, too.
install(FILES contrib/grafana/nvcache.json contrib/grafana/nvcached.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/nvcache/grafana)
install(FILES contrib/prometheus/nvcache.rules.yml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/nvcache/prometheus)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nvcache)
install(EXPORT nvcacheTargets NAMESPACE nvcache:: DESTINATION ${package_dir})
if(TARGET nvcache_rocksdb)
  # A set of its own: packages may leave the library out.
  install(TARGETS nvcache_rocksdb EXPORT nvcacheRocksdbTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT nvcacheRocksdbTargets NAMESPACE nvcache:: DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/nvcacheConfig.cmake.in ${PROJECT_BINARY_DIR}/nvcacheConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nvcacheConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH NVCACHE_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/nvcache.pc.in ${PROJECT_BINARY_DIR}/nvcache.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nvcacheConfig.cmake
  ${PROJECT_BINARY_DIR}/nvcacheConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/nvcache.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
