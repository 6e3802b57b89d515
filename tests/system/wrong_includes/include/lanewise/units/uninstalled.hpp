#pragma once
// For include_direction.sh to find: a header that is installed needs one that is not.
#include "core/units/bits.hpp"
