// Rules of NICs, drives and other devices that reach GPU memory.
#include "core/machine/fabric_ways.hpp"
#include "core/rules/conditions.hpp"
#include "core/rules/p2pdma.hpp"
#include "core/rules/predicates.hpp"

namespace lanewise::rules {
namespace {

Host const& host_of_gpu(Attempt const& a) {
  return a.machine.at(a.machine.host_of(gpu_at(a.machine, a.to) ? a.to : a.from));
}

// Whether one end is a PCIe device that is neither GPU, NIC nor drive: a capture card, an accelerator.
bool with_other_device(Attempt const& a) {
  for (auto const& place : {a.from, a.to})
    if (auto const* id = std::get_if<PciId>(&place); id != nullptr && a.machine.at(*id).kind == PciKind::Device)
      return true;
  return false;
}

}  // namespace

bool device_off(Attempt const& a) {
  if (a.machine.is_off(a.from) || a.machine.is_off(a.to)) return true;
  auto const& way = a.way;
  for (auto const& id : {way.nic_from, way.nic_to, way.relay, way.relay_to})
    if (id && a.machine.is_off(*id)) return true;
  return false;
}

bool no_network(Attempt const& a) {
  bool const across = a.machine.host_of(a.from) != a.machine.host_of(a.to);
  if (!across) return false;
  return !a.way.nic_from || !a.way.nic_to || !are_joined(a.machine, *a.way.nic_from, *a.way.nic_to);
}

bool nic_without_verbs(Attempt const& a) {
  return a.way.carrier == Carrier::Verbs && any_nic(a, [&](PciId nic) {
           auto const* part = a.machine.part_of(nic);
           return part == nullptr || !part->nic.rdma;
         });
}

bool by_messages(Attempt const& a) { return a.way.carrier == Carrier::Mpi; }

bool mpi_without_cuda(Attempt const& a) {
  if (a.way.carrier != Carrier::Mpi) return false;
  auto const lacks = [&](Place const& place) {
    return gpu_at(a.machine, place) && !a.machine.at(a.machine.host_of(place)).software.cuda_aware_mpi;
  };
  return lacks(a.from) || lacks(a.to);
}

bool nic_without_gpudirect(Attempt const& a) {
  return any_nic(a, [&](PciId nic) {
    auto const* part = a.machine.part_of(nic);
    return part == nullptr || !part->nic.gpudirect;
  });
}

bool gpu_without_rdma(Attempt const& a) {
  return any_gpu_part(a, [](Part const& part) { return !part.gpu.rdma; });
}

bool no_registration(Attempt const& a) {
  auto const lacks = [&](Place const& place) {
    auto const& software = a.machine.at(a.machine.host_of(place)).software;
    return gpu_at(a.machine, place) && !software.peermem && !software.dma_buf;
  };
  return lacks(a.from) || lacks(a.to);
}

// By dma-buf GPU memory is mapped through p2pdma, by peermem at its raw address.
bool peermem_under_iommu(Attempt const& a) {
  return any_gpu(a, [&](PciId gpu) {
    auto const& host = a.machine.at(a.machine.host_of(gpu));
    return !host.software.dma_buf && raw_addresses_fail(host.settings);
  });
}

bool p2pdma_refuses(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const&) {
    auto const& software = software_of(a, access.target);
    return software.dma_buf && !software.peermem &&
           p2pdma_mapping(a.machine, access.target, access.initiator) == P2pdmaMapping::NotSupported;
  });
}

bool old_gpu_read_through_root_complex(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    auto const* gpu = a.machine.part_of(access.target);
    if (!access.read || !route.through_root_complex(true) || gpu == nullptr) return false;
    bool const ampere_or_later = compute_capability(*gpu).value_or(8.0) >= 8.0;
    bool const has_links = gpu->gpu.nvlink_ports > 0;
    return !ampere_or_later && !has_links;
  });
}

bool relay_useless(Attempt const& a) {
  auto const useless = [&](Place const& end, std::optional<PciId> relay) {
    auto const gpu = gpu_at(a.machine, end);
    return relay && (!gpu || *relay == *gpu || !has_nvlink(a.machine, *gpu, *relay));
  };
  return (!a.way.relay && !a.way.relay_to) || useless(a.from, a.way.relay) || useless(a.to, a.way.relay_to);
}

// GPUDirect Storage is set up where the GPU is.
bool no_gpudirect_storage(Attempt const& a) {
  return !host_of_gpu(a).software.gpudirect_storage && !with_other_device(a);
}

// GPUDirect Storage needs physical addresses on x86, and the IOMMU on Grace.
bool storage_under_iommu(Attempt const& a) {
  if (with_other_device(a)) return false;
  auto const mode = host_of_gpu(a).settings.iommu;
  auto const gpu = gpu_at(a.machine, a.from) ? gpu_at(a.machine, a.from) : gpu_at(a.machine, a.to);
  auto const* cpu = gpu ? a.machine.part_of(a.machine.socket_of(*gpu)) : nullptr;
  bool const grace = cpu != nullptr && cpu->cpu.vendor == "nvidia";
  return grace ? mode == IommuMode::Off || mode == IommuMode::Passthrough : translates(mode);
}

bool device_without_registration(Attempt const& a) { return with_other_device(a) && no_registration(a); }

bool device_under_iommu(Attempt const& a) { return with_other_device(a) && peermem_under_iommu(a); }

}  // namespace lanewise::rules
