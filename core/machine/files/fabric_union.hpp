#pragma once
// Several networks as one graph of switches.
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Renumbers the switches so that those of lower tiers come first, otherwise in the order that they had; attachments and
// trunks follow.
void sort_by_tier(Fabric& fabric);

// Adds the networks of another fabric, whose switches get the names of their networks in front: compute/leaf0.
void append(Fabric& to, Fabric other);

}  // namespace lanewise
