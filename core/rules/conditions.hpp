#pragma once
// Facts about an attempt that several rules and the model ask for.
#include <optional>
#include <utility>
#include <variant>

#include "core/rules/peer_route.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise {

// One device's access to another's memory over PCIe: the initiator reads or writes the target.
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
inline std::optional<PciId> gpu_at(Machine const& machine, Place const& place) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr && machine.at(*id).kind == PciKind::Gpu ? std::optional(*id) : std::nullopt;
}

// Whether a place is an NVMe drive.
inline bool is_drive(Machine const& machine, Place const& place) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr && machine.at(*id).kind == PciKind::Nvme;
}

// Whether the root complex above the target forwards such an access; an unknown CPU forwards nothing.
bool root_complex_forwards(Machine const& machine, PeerAccess const& access, PeerRoute const& route);

// Whether the two are in a passthrough virtual machine that does not announce them as approved peers.
bool unapproved_guest(Machine const& machine, PciId a, PciId b);

// Whether NVLink joins two GPUs, directly or through NVSwitch.
bool has_nvlink(Machine const& machine, PciId a, PciId b);
// Whether NVLink or C2C joins a GPU with a CPU of the host that this memory is in.
bool has_nvlink(Machine const& machine, PciId gpu, NumaId memory);
// The bundle that joins a GPU with a CPU of its host, or nullopt.
struct CpuLink {
  std::size_t bundle = 0;
  SocketId socket{};
  bool gpu_first = true;  // the GPU is the bundle's first end
};
std::optional<CpuLink> cpu_link(Machine const& machine, PciId gpu);
// Whether devices reach this GPU's memory through its CPU, coherently, as they reach the CPU's own: NVLink-C2C.
bool coherent_with_cpu(Machine const& machine, PciId gpu);
// The same of this device alone: not where a PCIe switch joins the two, as the switch of an adapter does.
bool reaches_through_cpu(Machine const& machine, PciId device, PciId gpu);
// Whether a GPU is on an NVSwitch crossbar, of its host or of a domain.
bool on_nvswitch(Machine const& machine, PciId gpu);

// CUDA compute capability as a number (8.0), or nullopt where a GPU has none.
std::optional<double> compute_capability(Part const& gpu);

// How much of a GPU's memory others can map at once, in bytes: BAR1 less what the driver reserves. Nullopt where the
// part gives no BAR1.
std::optional<Bytes> bar1_window(Part const& gpu);

namespace rules {

// Of the host that the data are on.
inline Settings const& settings_of(Attempt const& a) { return a.machine.at(a.machine.host_of(a.from)).settings; }
inline Software const& software_of(Attempt const& a) { return a.machine.at(a.machine.host_of(a.from)).software; }
// Of the host that a device is in; for rules of what may be between two nodes.
inline Software const& software_of(Attempt const& a, PciId device) {
  return a.machine.at(a.machine.host_of(device)).software;
}
// Whether a device's access to another by its raw address is translated, and lost.
inline bool raw_addresses_fail(Settings const& settings) {
  return translates(settings.iommu) && !settings.virtualization.passthrough;
}
// Both ends of a mechanism between two GPUs.
inline std::pair<PciId, PciId> two_gpus(Attempt const& a) { return {std::get<PciId>(a.from), std::get<PciId>(a.to)}; }

// Whether the predicate holds for a GPU at one of the ends, for the part of one, for a NIC of the way, or for one of
// the peer accesses and its route.
template <class Predicate>
bool any_gpu(Attempt const& a, Predicate predicate) {
  for (auto const& place : {a.from, a.to})
    if (auto const gpu = gpu_at(a.machine, place); gpu && predicate(*gpu)) return true;
  return false;
}
template <class Predicate>
bool any_gpu_part(Attempt const& a, Predicate predicate) {
  return any_gpu(a, [&](PciId gpu) {
    auto const* part = a.machine.part_of(gpu);
    return part != nullptr && predicate(*part);
  });
}

template <class Predicate>
bool any_access(Attempt const& a, Predicate predicate) {
  auto const accesses = peer_accesses(a);
  if (accesses.count > 0 &&
      predicate(accesses.first, peer_route(a.machine, accesses.first.initiator, accesses.first.target)))
    return true;
  return accesses.count > 1 &&
         predicate(accesses.second, peer_route(a.machine, accesses.second.initiator, accesses.second.target));
}

template <class Predicate>
bool any_nic(Attempt const& a, Predicate predicate) {
  for (auto const& nic : {a.way.nic_from, a.way.nic_to})
    if (nic && predicate(*nic)) return true;
  return false;
}

}  // namespace rules
}  // namespace lanewise
