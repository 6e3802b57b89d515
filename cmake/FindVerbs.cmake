# libibverbs (package libibverbs-dev): Verbs_FOUND and Verbs::Verbs.
find_path(Verbs_INCLUDE_DIR infiniband/verbs.h)
find_library(Verbs_LIBRARY ibverbs)
mark_as_advanced(Verbs_INCLUDE_DIR Verbs_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Verbs REQUIRED_VARS Verbs_LIBRARY Verbs_INCLUDE_DIR)
if(Verbs_FOUND AND NOT TARGET Verbs::Verbs)
  add_library(Verbs::Verbs UNKNOWN IMPORTED)
  set_target_properties(Verbs::Verbs PROPERTIES IMPORTED_LOCATION "${Verbs_LIBRARY}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${Verbs_INCLUDE_DIR}")
endif()
