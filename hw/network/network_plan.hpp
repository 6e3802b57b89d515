#pragma once
// A plan as the processes of its nodes need it: memory, NICs, verbs and dependencies, and for each node the steps of
// its GPUs. The first process makes it and sends it to all others, so they cannot disagree.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hw/memory/content.hpp"
#include "hw/options/hardware_settings.hpp"
#include "hw/options/network_options.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise::hw {

// Where one end of a step has its bytes: in host memory of a NUMA node, or on a GPU.
struct NetworkMemory {
  std::string name;     // "node0/numa0"
  int numa = 0;         // NUMA node of host memory, as the operating system counts; negative: anywhere
  int gpu = -1;         // which GPU of the node, from 0; negative: host memory
  std::string bdf;      // PCI address of the GPU; empty: unknown
  bool pinned = false;  // host memory that GPUs copy
  friend bool operator==(NetworkMemory const&, NetworkMemory const&) = default;
};

struct NetworkNic {
  std::string name;         // "node0/nic0"
  std::size_t node = 0;     // index into NetworkPlan::nodes
  std::string function;     // "nic0": also a possible name of its network interface
  std::string device_name;  // "mlx5_0"; empty: unknown
  std::string bdf;          // PCI address; empty: unknown
  int place = 0;            // which NIC of its node, from 0
  bool roce_v1 = false;     // its part uses RoCE v1; otherwise v2 on Ethernet
  bool soft = false;        // its part is Soft-RoCE: any RDMA device may stand for it, also for several NICs
  friend bool operator==(NetworkNic const&, NetworkNic const&) = default;
};

// Memory that the steps of a collective share.
struct NetworkBuffer {
  std::string name;  // "node0/numa0.data"
  std::size_t node = 0;
  NetworkMemory memory;
  std::int64_t bytes = 0;                    // at least 1: NICs register no empty memory
  std::vector<MemoryContent> before, after;  // of a run
  friend bool operator==(NetworkBuffer const&, NetworkBuffer const&) = default;
};

// Where a step's bytes begin; without a buffer they are memory of the step's own.
struct NetworkRegion {
  int buffer = -1;  // into NetworkPlan::buffers
  std::int64_t offset = 0;
  friend bool operator==(NetworkRegion const&, NetworkRegion const&) = default;
};

// Local: a core of the node copies or adds. Device: GPUs of the node do it, with their engines, kernels and links.
enum class Verb : std::uint8_t { Write, Read, Send, Local, Device };

// How the bytes get between a memory and its NIC.
enum class Staging : std::uint8_t {
  None,    // the NIC reaches the memory
  Chunks,  // copied chunk by chunk through a ring that the NIC reaches, at each end that needs it
};

struct NetworkStep {
  std::string transfer;
  std::string text;  // the step's way, for error messages
  Verb verb = Verb::Write;
  std::int64_t bytes = 0;
  std::size_t from_node = 0, to_node = 0;
  NetworkMemory from, to;
  std::vector<std::size_t> nic_from, nic_to;  // the pair that it uses, then the spare pair
  int queue_pairs = 1;
  Staging staging = Staging::None;
  std::int64_t chunk = 0;                         // bytes of a ring slot
  std::int64_t slots = 0;                         // slots of a ring
  std::vector<NetworkMemory> ring_from, ring_to;  // where that end's ring is; empty: it needs none
  NetworkRegion reads, writes;                    // both or neither are in buffers
  bool reduces = false;  // what arrives is added to what the target holds, by a core or by the GPU that holds it
  std::vector<std::size_t> after;
  friend bool operator==(NetworkStep const&, NetworkStep const&) = default;
};

// What the GPUs of one node do by themselves.
struct NodePlan {
  std::string machine;             // the node's machine file, with all its parts; empty: its GPUs do nothing
  std::string plan;                // its steps and the plan's buffers that they use, as JSON of a plan for that machine
  std::vector<std::size_t> steps;  // the network plan's number of each of its steps
  std::vector<std::size_t> buffers;
  DrivePaths drives;  // of its machine
  friend bool operator==(NodePlan const&, NodePlan const&) = default;
};

struct NetworkPlan {
  std::vector<std::string> nodes;
  std::vector<int> gpus;        // of each node
  std::vector<bool> uses_gpus;  // whether steps of the plan are on a node's GPUs
  std::vector<NetworkNic> nics;
  std::vector<NetworkStep> steps;
  std::vector<NetworkBuffer> buffers;
  std::vector<NodePlan> node_plans;  // by node
  Carrier carrier = Carrier::Verbs;  // of all steps between nodes
  int warm_up = 1;
  int repeat = 7;
  friend bool operator==(NetworkPlan const&, NetworkPlan const&) = default;
};

// Throws PlanError for a step that this executor does not run, InputError when the plan is for another machine,
// MissingError where the plan needs GPUDirect Async, which this build does not use.
NetworkPlan make_network_plan(Plan const& plan, Model const& model, HardwareSettings const& settings);

// As JSON, for the other processes.
std::string to_text(NetworkPlan const& plan);
NetworkPlan network_plan_from_text(std::string const& text);

}  // namespace lanewise::hw
