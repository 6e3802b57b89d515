# cpp-httplib as distributions have it, header and library (package libcpp-httplib-dev): Httplib_FOUND and
# httplib::httplib. The header has to see what the library was built with, which pkg-config says.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(Httplib_PC QUIET cpp-httplib)
endif()
find_path(Httplib_INCLUDE_DIR httplib.h HINTS ${Httplib_PC_INCLUDE_DIRS})
find_library(Httplib_LIBRARY cpp-httplib HINTS ${Httplib_PC_LIBRARY_DIRS})
mark_as_advanced(Httplib_INCLUDE_DIR Httplib_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib REQUIRED_VARS Httplib_LIBRARY Httplib_INCLUDE_DIR Httplib_PC_FOUND
                                  VERSION_VAR Httplib_PC_VERSION)
if(Httplib_FOUND AND NOT TARGET httplib::httplib)
  find_package(Threads REQUIRED)
  add_library(httplib::httplib UNKNOWN IMPORTED)
  set_target_properties(httplib::httplib PROPERTIES IMPORTED_LOCATION "${Httplib_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${Httplib_INCLUDE_DIR}"
                                                    INTERFACE_COMPILE_OPTIONS "${Httplib_PC_CFLAGS_OTHER}"
                                                    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
