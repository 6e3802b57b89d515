#pragma once
// For include_direction.sh to find: SimGrid stays in sim/.
#include <simgrid/s4u.hpp>
