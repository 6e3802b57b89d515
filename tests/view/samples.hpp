#pragma once
// Small machines that show everything a view can draw, described without the bundled parts.
#include <string>

#include "tests/support/machines.hpp"

namespace lanewise::test {

// A cluster file whose only machine is `node`.
Machine cluster_from(std::string const& text, std::string const& node);

// Two sockets, one with virtual switches of one chip; links stated, slowed, assumed and unknown; ACS that differs.
Machine two_switch();
// Two GPUs on one NVSwitch and two adapters; the node of the clusters.
std::string node_file();
Machine small_cluster();  // two nodes, cabled directly
Machine big_cluster();    // six nodes on rails; one cable runs slower
Machine huge_cluster();   // 96 nodes, 96 leaves below three tiers

}  // namespace lanewise::test
