#pragma once
// A plan as its nodes' processes need it: which memory, which NICs, which verb, what waits for what; nothing of models
// or machines. The first process makes it and all get it, so they cannot disagree.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "hw/network_options.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

// Where one end of a step keeps its bytes: host memory of a NUMA node, or a GPU.
struct NetworkMemory {
  std::string name;  // "node0/numa0"
  int numa = 0;      // of host memory, as the operating system counts; negative: anywhere
  int gpu = -1;      // the node's how manieth GPU; negative: host memory
  std::string bdf;   // of the GPU; empty: not known
  friend bool operator==(NetworkMemory const&, NetworkMemory const&) = default;
};

struct NetworkNic {
  std::string name;         // "node0/nic0"
  std::size_t node = 0;     // which of the plan's nodes it is in
  std::string function;     // "nic0": what its network interface may be called
  std::string device_name;  // "mlx5_0"; empty: not said
  std::string bdf;          // empty: not known
  int place = 0;            // the node's how manieth NIC
  bool roce_v1 = false;     // its part travels in RoCE v1; else v2 on Ethernet
  bool soft = false;        // its part is Soft-RoCE: any device does, also one for several of the plan's NICs
  friend bool operator==(NetworkNic const&, NetworkNic const&) = default;
};

enum class Verb : std::uint8_t { Write, Read, Send, Local };

// How the bytes get between a memory and its NIC.
enum class Staging : std::uint8_t {
  None,    // the NIC reaches the memory
  Chunks,  // copied chunk by chunk through a ring beside the NIC, at the end or ends that need it
};

struct NetworkStep {
  std::string transfer;
  std::string text;  // of its way, for errors
  Verb verb = Verb::Write;
  std::int64_t bytes = 0;
  std::size_t from_node = 0, to_node = 0;
  NetworkMemory from, to;
  std::vector<std::size_t> nic_from, nic_to;  // the pair that it uses, then one to go on with if that fails
  int queue_pairs = 1;
  Staging staging = Staging::None;
  std::int64_t chunk = 0;                         // of a ring
  std::int64_t slots = 0;                         // of a ring
  std::vector<NetworkMemory> ring_from, ring_to;  // where the ring is at that end; empty: none is needed there
  std::vector<std::size_t> after;
  friend bool operator==(NetworkStep const&, NetworkStep const&) = default;
};

struct NetworkPlan {
  std::vector<std::string> nodes;
  std::vector<NetworkNic> nics;
  std::vector<NetworkStep> steps;
  int warm_up = 1;
  int repeat = 7;
  Completion completion = Completion::Polling;
  friend bool operator==(NetworkPlan const&, NetworkPlan const&) = default;
};

// Throws PlanError for a step that is not run over a network, MissingError where the plan wants what no platform here
// has (GPUDirect Async).
NetworkPlan make_network_plan(Plan const& plan, Model const& model, Repetition repetition, Completion completion);

std::string to_text(NetworkPlan const& plan);
NetworkPlan network_plan_from_text(std::string const& text);

}  // namespace lanewise::hw
