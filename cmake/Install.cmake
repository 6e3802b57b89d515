# What `cmake --install` puts where, and the package that find_package(lanewise) reads.
include(CMakePackageConfigHelpers)

set(LANEWISE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lanewise")
set(_libraries lanewise_core lanewise_hw)
if(TARGET lanewise_sim)
  list(APPEND _libraries lanewise_sim)
endif()

foreach(_module lanewise_lp lanewise_mpi lanewise_verbs)
  if(TARGET ${_module})
    install(TARGETS ${_module} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
install(TARGETS lanewise RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET lanewise-guest)
  install(TARGETS lanewise-guest RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/lanewise")
endif()
install(TARGETS ${_libraries} EXPORT lanewise LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# The folder is its own closure: a header there includes only what is there too.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/lanewise" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/topologies" "${PROJECT_SOURCE_DIR}/scenarios"
                  "${PROJECT_SOURCE_DIR}/measurements"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/lanewise")
install(FILES LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT lanewise FILE lanewiseTargets.cmake NAMESPACE lanewise:: DESTINATION "${LANEWISE_CMAKE_DIR}")
configure_package_config_file(cmake/lanewiseConfig.cmake.in lanewiseConfig.cmake
                              INSTALL_DESTINATION "${LANEWISE_CMAKE_DIR}"
                              PATH_VARS CMAKE_INSTALL_DATADIR)
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(lanewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lanewiseConfig.cmake" "${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake"
        DESTINATION "${LANEWISE_CMAKE_DIR}")
