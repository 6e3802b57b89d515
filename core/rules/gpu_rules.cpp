// Rules of GPUs by themselves, and of NVLink.
#include <algorithm>

#include "core/machine/nvlink_bundles.hpp"
#include "core/rules/conditions.hpp"
#include "core/rules/predicates.hpp"

namespace lanewise::rules {

bool no_gpu_runtime(Attempt const& a) {
  return any_gpu(a, [&](PciId gpu) { return !software_of(a, gpu).cuda; });
}

bool mig_on(Attempt const& a) {
  return any_gpu(a, [&](PciId gpu) { return a.machine.at(gpu).mig; });
}

bool atomic_over_pcie(Attempt const& a) {
  return a.op == Op::Atomic && any_gpu_part(a, [](Part const& part) { return !part.gpu.pcie_atomics; });
}

bool atomic(Attempt const& a) { return a.op == Op::Atomic; }

bool kernel_over_rdma_links(Attempt const& a) {
  if (!by_kernel(a.op)) return false;
  auto const is_crossed = [&](std::optional<PciId> from, std::optional<PciId> to) {
    return from && to && are_joined_by(a.machine, *from, *to, LinkFamily::GpuRoce);
  };
  auto const from = gpu_at(a.machine, a.from);
  auto const to = gpu_at(a.machine, a.to);
  return a.way.relay ? is_crossed(from, a.way.relay) || is_crossed(a.way.relay, to) : is_crossed(from, to);
}

bool no_nvlink(Attempt const& a) {
  auto const from = gpu_at(a.machine, a.from);
  auto const to = gpu_at(a.machine, a.to);
  if (from && to) return !has_nvlink(a.machine, *from, *to);
  if (from) return !has_nvlink(a.machine, *from, std::get<NumaId>(a.to));
  if (to) return !has_nvlink(a.machine, *to, std::get<NumaId>(a.from));
  return true;
}

bool has_cpu_link(Attempt const& a) {
  return any_gpu(a, [](PciId) { return true; }) && !no_nvlink(a);
}

bool fabric_not_ready(Attempt const& a) {
  return any_gpu(a, [&](PciId gpu) { return !software_of(a, gpu).fabric_manager && on_nvswitch(a.machine, gpu); });
}

bool not_exported_to_other_nodes(Attempt const& a) {
  auto const from = a.machine.host_of(a.from);
  auto const to = a.machine.host_of(a.to);
  return from != to && (!a.machine.at(from).software.imex || !a.machine.at(to).software.imex);
}

bool no_common_nvlink_neighbour(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return !a.way.relay || !has_nvlink(a.machine, from, *a.way.relay) || !has_nvlink(a.machine, *a.way.relay, to);
}

}  // namespace lanewise::rules
