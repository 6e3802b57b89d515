#pragma once
// For include_direction.sh to find: SimGrid stays in sim/, and pybind11 in python/.
#include <pybind11/pybind11.h>
#include <simgrid/s4u.hpp>
