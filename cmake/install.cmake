# cmake --install: the two libraries, the tools, the public headers, and what find_package and pkg-config
# read. Components: "runtime" (libraries), "development" (headers, CMake and pkg-config files), "tools",
# and "python" (python/CMakeLists.txt).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Public headers live in two layers of the repository, and in one folder of an installation. In the
# repository a header of base/ is named "base/status.h", as everywhere; an installed one "aicf/status.h".
set(public_headers ${CMAKE_BINARY_DIR}/public_headers)
file(GLOB installed_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/include/aicf/*.h)
foreach(name api.h dims.h dtype.h dtype.def log.h status.h)
  list(APPEND installed_headers ${CMAKE_SOURCE_DIR}/base/${name})
endforeach()
foreach(header ${installed_headers})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  get_filename_component(name ${header} NAME)
  file(READ ${header} text)
  string(REPLACE "#include \"base/" "#include \"aicf/" text "${text}")
  file(CONFIGURE OUTPUT ${public_headers}/aicf/${name} CONTENT "${text}" @ONLY)
endforeach()
install(DIRECTORY ${public_headers}/aicf DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

install(TARGETS aicf aicf_cuda EXPORT aicf_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS aicf-compile aicf-run aicf-inspect aicf-sign
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/aicf)
install(EXPORT aicf_targets NAMESPACE aicf:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/aicf-config.cmake.in
                              ${CMAKE_BINARY_DIR}/aicf-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface; the soname says the same.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/aicf-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/aicf-config.cmake ${CMAKE_BINARY_DIR}/aicf-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The way from the pkg-config files up to the prefix, so that a moved installation still works.
file(RELATIVE_PATH pkgconfig_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library aicf aicf_cuda)
  set(pkgconfig_name ${library})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/aicf.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()
