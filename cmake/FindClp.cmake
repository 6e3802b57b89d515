# COIN-OR's linear programming solver (package coinor-libclp-dev): Clp_FOUND and Clp::Clp.
find_path(Clp_INCLUDE_DIR coin/Clp_C_Interface.h)
find_library(Clp_LIBRARY Clp)
mark_as_advanced(Clp_INCLUDE_DIR Clp_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp REQUIRED_VARS Clp_LIBRARY Clp_INCLUDE_DIR)
if(Clp_FOUND AND NOT TARGET Clp::Clp)
  add_library(Clp::Clp UNKNOWN IMPORTED)
  set_target_properties(Clp::Clp PROPERTIES IMPORTED_LOCATION "${Clp_LIBRARY}"
                                            INTERFACE_INCLUDE_DIRECTORIES "${Clp_INCLUDE_DIR}")
endif()
