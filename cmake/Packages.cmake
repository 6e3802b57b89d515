# Debian packages by CPack: `./setup.sh package`, docs/packages.md. Included last, when all components are known.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lanewise)
set(CPACK_PACKAGE_VENDOR lanewise)
# The first line of each description is that of its component.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_CONTACT "lanewise maintainers <maintainers@lanewise.example>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)

get_cmake_property(_components COMPONENTS)
set(CPACK_COMPONENTS_ALL runtime development)
if("python" IN_LIST _components)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What is not installed on the machine that builds: the libraries that packages share.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(_version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME lanewise)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "graphviz, qemu-system-x86, openmpi-bin")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "planner and simulator of GPU data transfers
lanewise plans data transfers between GPUs, NICs, NVMe drives and host memory
on a server or cluster described in YAML. It says why it chose each way and
what forbids the others, runs the plan in simulation or on hardware, and
checks scenarios with expectations for CI. No GPU is needed.

This package has the program, its libraries, and the bundled machines,
scenarios and measurements.")
# The libraries are looked for again when they come and go.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/debian/triggers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblanewise-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "lanewise (= ${_version}), nlohmann-json3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "planner and simulator of GPU data transfers, for C++ programs
lanewise plans data transfers between GPUs, NICs, NVMe drives and host memory
on a server or cluster described in YAML, and simulates the plans.

This package has the headers of its C++20 library, the CMake package that
find_package(lanewise) reads, and examples.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lanewise)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "lanewise (= ${_version}), python3, python3-numpy")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "planner and simulator of GPU data transfers, for Python
lanewise plans data transfers between GPUs, NICs, NVMe drives and host memory
on a server or cluster described in YAML, and simulates the plans.

This package has its Python module.")

# What Debian wants of files, done to those that were installed for a package.
set(_debian_changelog "${PROJECT_BINARY_DIR}/debian/changelog")
string(TIMESTAMP _date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in" "${_debian_changelog}" @ONLY)
configure_file("${CMAKE_CURRENT_LIST_DIR}/PackagedFiles.cmake.in" "${PROJECT_BINARY_DIR}/PackagedFiles.cmake" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/PackagedFiles.cmake")
include(CPack)
