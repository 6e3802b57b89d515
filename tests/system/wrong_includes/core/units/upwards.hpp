#pragma once
// For include_direction.sh to find: the units know nothing of the model.
#include "lanewise/model/model.hpp"
