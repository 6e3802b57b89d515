# What `cmake --install` puts where, and the package that find_package(lanewise) reads. The components `runtime`,
# `development` and `python` are the packages of cmake/Packages.cmake; what has none is installed and not packaged.
include(CMakePackageConfigHelpers)

set(LANEWISE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lanewise")
set(_libraries lanewise_core lanewise_hw)
if(TARGET lanewise_sim)
  list(APPEND _libraries lanewise_sim)
endif()

set(_modules)
foreach(_module lanewise_http lanewise_lp lanewise_mpi lanewise_verbs)
  if(TARGET ${_module})
    list(APPEND _modules ${_module})
    set_target_properties(${_module} PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  endif()
endforeach()
if(_modules)
  install(TARGETS ${_modules} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${LANEWISE_MODULE_FOLDER}" COMPONENT runtime)
endif()
install(TARGETS lanewise RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
if(TARGET lanewise-guest)
  install(TARGETS lanewise-guest RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/lanewise" COMPONENT runtime)
endif()
set_target_properties(${_libraries} PROPERTIES VERSION "${PROJECT_VERSION}" SOVERSION "${LANEWISE_SOVERSION}")
install(TARGETS ${_libraries} EXPORT lanewise LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
                                                      NAMELINK_COMPONENT development)
# The folder is its own closure: a header there includes only what is there too.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/lanewise" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/liblanewise-dev"
        COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/topologies" "${PROJECT_SOURCE_DIR}/scenarios"
                  "${PROJECT_SOURCE_DIR}/measurements" "${PROJECT_SOURCE_DIR}/workloads"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/lanewise" COMPONENT runtime)
install(FILES LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT lanewise FILE lanewiseTargets.cmake NAMESPACE lanewise:: DESTINATION "${LANEWISE_CMAKE_DIR}"
        COMPONENT development)
configure_package_config_file(cmake/lanewiseConfig.cmake.in lanewiseConfig.cmake
                              INSTALL_DESTINATION "${LANEWISE_CMAKE_DIR}"
                              PATH_VARS CMAKE_INSTALL_DATADIR)
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(lanewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lanewiseConfig.cmake" "${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake"
        DESTINATION "${LANEWISE_CMAKE_DIR}" COMPONENT development)

# Everything that is installed, and nothing else.
add_custom_target(installed DEPENDS lanewise ${_libraries} ${_modules})
if(TARGET lanewise-guest)
  add_dependencies(installed lanewise-guest)
endif()
if(TARGET lanewise_python)
  add_dependencies(installed lanewise_python)
endif()

# Manual pages and completions, by the program that they describe.
if(NOT CMAKE_CROSSCOMPILING)
  set(_manual "${PROJECT_BINARY_DIR}/manual")
  set(_completions "${PROJECT_BINARY_DIR}/completions")
  file(MAKE_DIRECTORY "${_completions}")
  add_custom_command(OUTPUT "${_manual}/lanewise.1" "${_completions}/lanewise" "${_completions}/_lanewise"
                            "${_completions}/lanewise.fish"
    COMMAND lanewise export man -o "${_manual}"
    COMMAND lanewise export completions bash > "${_completions}/lanewise"
    COMMAND lanewise export completions zsh > "${_completions}/_lanewise"
    COMMAND lanewise export completions fish > "${_completions}/lanewise.fish"
    DEPENDS lanewise COMMENT "Manual pages and completions" VERBATIM)
  add_custom_target(manual ALL DEPENDS "${_manual}/lanewise.1")
  add_dependencies(installed manual)
  install(DIRECTORY "${_manual}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
  install(FILES "${_completions}/lanewise" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
          COMPONENT runtime)
  install(FILES "${_completions}/_lanewise" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT runtime)
  install(FILES "${_completions}/lanewise.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
          COMPONENT runtime)
endif()
