#pragma once
// The facts about an attempt that rules ask for.
#include "core/rules/peer_route.hpp"
#include "core/rules/rule.hpp"

namespace lanewise {

// The functions that exchange packets over PCIe in an attempt, if any: who initiates, who is the target, and whether
// the initiator reads.
struct PeerAccess {
  PciId initiator{};
  PciId target{};
  bool read = false;
};

// The peer accesses over PCIe that a way needs: GPU to GPU, NIC to GPU, drive to GPU. At most two (both ends of a
// network transfer).
struct PeerAccesses {
  PeerAccess first, second;
  int count = 0;
};
PeerAccesses peer_accesses(Attempt const& attempt);

// The GPU at an end of the attempt, or nullopt.
std::optional<PciId> gpu_at(Machine const& machine, Place const& place);

// Whether this root complex forwards such packets; an unknown CPU forwards nothing.
bool root_complex_forwards(Machine const& machine, PeerAccess const& access, PeerRoute const& route);

// Passthrough virtual machine in which nothing announces these two as approved peers.
bool unapproved_guest(Machine const& machine, PciId a, PciId b);

// GPUs with an NVLink path between them, direct or through NVSwitch.
bool has_nvlink(Machine const& machine, PciId a, PciId b);
// NVLink or C2C from a GPU to a CPU of the node that this memory is in.
bool has_nvlink(Machine const& machine, PciId gpu, NumaId memory);
// The bundle that joins a GPU with a CPU of its host, or nullopt.
struct CpuLink {
  std::size_t bundle = 0;
  SocketId socket{};
  bool gpu_first = true;  // the GPU is the bundle's first end
};
std::optional<CpuLink> cpu_link(Machine const& machine, PciId gpu);
// Whether devices reach this GPU's memory through its CPU as they reach the CPU's own: NVLink-C2C.
bool coherent_with_cpu(Machine const& machine, PciId gpu);
bool on_nvswitch(Machine const& machine, PciId gpu);

// CUDA compute capability as a number (8.0), or nullopt where a GPU has none.
std::optional<double> compute_capability(Part const& gpu);

// How much of a GPU's memory others can map at once: BAR1 less what the driver keeps for itself.
std::optional<Bytes> bar1_window(Part const& gpu);

}  // namespace lanewise
