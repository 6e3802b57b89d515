# Installs the build into an empty folder, builds and runs the examples against it, and runs the installed program.
#   cmake -D BUILD=... -D WORK=... -D CXX=... -D FLAGS=... -D TYPE=... -D SIM=ON [-D PYTHON=... -D PYTHON_DIR=...]
#         -P package_test.cmake
cmake_minimum_required(VERSION 3.22)
set(prefix "${WORK}/prefix")
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/elsewhere")

# expect(TEXT COMMAND...): the command succeeds, and says TEXT.
function(expect text)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}/elsewhere"
                  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${text}" at)
  if(NOT code STREQUAL "0" OR at EQUAL -1)
    message(FATAL_ERROR "${ARGN}\nends with ${code}, and with '${text}' expected it says:\n${output}")
  endif()
endfunction()

expect("" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# The installed program reads the installed data, not the tree it was built from: only the former has this machine.
set(machines "${prefix}/share/lanewise/topologies/machines")
file(READ "${machines}/dgx-a100.yaml" machine)
string(REPLACE "machine: dgx-a100" "machine: only-installed" machine "${machine}")
file(WRITE "${machines}/only-installed.yaml" "${machine}")
expect("only-installed" "${prefix}/bin/lanewise" show only-installed)
if(SIM)
  expect("GB/s" "${prefix}/bin/lanewise" matrix v100-pcie-x2 --mode sim)
endif()
foreach(file bin/lanewise include/lanewise/machine/machine.hpp share/lanewise/scenarios share/doc/lanewise/LICENSE)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

# The package works where it is found, not only where it was installed.
file(RENAME "${prefix}" "${WORK}/moved")
function(build what source)
  expect("" "${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${WORK}/${what}" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
         "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${TYPE}")
  expect("" "${CMAKE_COMMAND}" --build "${WORK}/${what}")
endfunction()
build(every_header "${CMAKE_CURRENT_LIST_DIR}")
build(examples "${CMAKE_CURRENT_LIST_DIR}/../../examples")
# Data is found beside the library, which links to its own folder.
expect("* nvlink" "${WORK}/examples/plan_transfer" only-installed gpu0 gpu5)
if(SIM)
  file(WRITE "${WORK}/exchange.yaml" "lanewise: scenario/1
scenario: exchange
machines: [only-installed]
transfers:
  - {id: there, from: gpu0, to: gpu1, bytes: 1 MiB}
  - {id: back, from: gpu1, to: gpu0, bytes: 1 MiB}
")
  expect("all done after" "${WORK}/examples/simulate_scenario" "${WORK}/exchange.yaml" only-installed)
endif()

if(PYTHON)
  set(python "${CMAKE_COMMAND}" -E env "PYTHONPATH=${WORK}/moved/${PYTHON_DIR}" "${PYTHON}")
  expect("<Machine only-installed: 8 GPUs>" ${python} -c "print(__import__('lanewise').machine('only-installed'))")
  execute_process(COMMAND "${PYTHON}" -c "import numpy" RESULT_VARIABLE no_numpy ERROR_QUIET)
  if(no_numpy)
    message(STATUS "${PYTHON} has no numpy: the Python example was not run against the installed module")
  else()
    expect("ranking by" ${python} "${CMAKE_CURRENT_LIST_DIR}/../../examples/choose_a_server.py")
  endif()
endif()
