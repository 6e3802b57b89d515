#pragma once
// The entry point of liblanewise_verbs.so.
#include "hw/memory/memory.hpp"
#include "hw/nodes/group.hpp"
#include "hw/nodes/nodes.hpp"
#include "hw/options/network_options.hpp"

// Takes ownership of the group.
extern "C" lanewise::hw::Nodes* lanewise_make_verbs_nodes(lanewise::hw::Group* group,
                                                          lanewise::hw::MakeGpuMemory make_gpu_memory,
                                                          lanewise::hw::Completion completion);
