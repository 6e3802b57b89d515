#pragma once
// How data go between two GPUs: NCCL's transports P2P, SHM and NET, as steps of a plan.
#include <cstddef>
#include <vector>

#include "core/planner/libraries/nccl/topology.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/planner/libraries/steps/protocol.hpp"

namespace lanewise::nccl {

class Transports {
 public:
  // `nodes`: the GPUs of each; `topology`: of the first. All must outlive it, and so must `steps`, to which it adds.
  Transports(Machine const& machine, Library const& library, Environment const& environment,
             std::vector<std::vector<PciId>> const& nodes, Topology const& topology, LibrarySteps& steps);

  // Of the steps that follow: their protocol, and how many thread blocks do each.
  void take_protocol(Protocol protocol) { protocol_ = protocol; }
  void take_blocks(int blocks) { blocks_ = blocks; }

  // Between GPUs of a node, given by their numbers in it. Throws PlanError where NCCL would use the network.
  void hop(std::size_t node, std::size_t from, std::size_t to, double bytes);
  // Between GPUs of two nodes, by a NIC of each, given by its number; the second by the same number on both. Throws
  // PlanError where there is no such NIC or way.
  void over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, std::size_t nic,
                    std::size_t nic_there, double bytes);
  void over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, std::size_t nic,
                    double bytes) {
    over_network(node, from, to_node, to, nic, nic, bytes);
  }
  // From a GPU by a NIC to the network's switches, which add what the nodes send, and the sum on to the next node's GPU
  // of the same number (SHARP). Throws PlanError as above.
  void through_adding_switches(std::size_t node, std::size_t gpu, std::size_t next_node, std::size_t nic, double bytes);
  // To or from a switch that adds or multiplies: its part for one of the GPUs that it serves.
  void by_switch(PciId from, PciId to, double bytes);

 private:
  void peer(PciId from, PciId to, Path const& path, double bytes);
  void shared_memory(PciId from, PciId to, double bytes);
  // What the network does with the bytes that pass it.
  enum class InNetwork : std::uint8_t { Carried, Added };
  void over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, std::size_t nic,
                    std::size_t nic_there, double bytes, InNetwork in_network);
  [[nodiscard]] bool uses_gdr(std::size_t gpu, std::size_t nic) const;
  [[nodiscard]] PciId nic_of(std::size_t node, std::size_t number) const;
  [[nodiscard]] Request request_of(Place const& from, Place const& to, double bytes) const;
  void add(Place const& from, Place const& to, double bytes);

  Machine const& machine_;
  Library const& library_;
  Environment const& environment_;
  std::vector<std::vector<PciId>> const& nodes_;
  Topology const& topology_;
  LibrarySteps& steps_;
  std::vector<std::vector<PciId>> nics_;  // of each node
  Protocol protocol_ = Protocol::Simple;
  int blocks_ = 0;
};

}  // namespace lanewise::nccl
