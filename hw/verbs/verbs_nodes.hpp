#pragma once
// What liblanewise_verbs.so offers.
#include "hw/memory/memory.hpp"
#include "hw/network_options.hpp"
#include "hw/nodes/group.hpp"
#include "hw/nodes/nodes.hpp"

// Owns the group.
extern "C" lanewise::hw::Nodes* lanewise_make_verbs_nodes(lanewise::hw::Group* group,
                                                          lanewise::hw::MakeGpuMemory make_gpu_memory,
                                                          lanewise::hw::Completion completion);
