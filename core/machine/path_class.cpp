#include "core/machine/path_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/machine/nvlink_bundles.hpp"
#include "core/machine/nvlink_domains.hpp"

namespace lanewise {
namespace {

int depth_of(Machine const& machine, PciId id) {
  int depth = 0;
  for (auto up = machine.at(id).parent; up; up = machine.at(*up).parent) ++depth;
  return depth;
}

}  // namespace

std::string_view to_string(PathClass path) {
  constexpr std::array<std::string_view, 7> kNames{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "NET"};
  return kNames.at(static_cast<std::size_t>(path));
}

std::optional<PciId> common_switch(Machine const& machine, PciId a, PciId b) {
  auto depth_a = depth_of(machine, a);
  auto depth_b = depth_of(machine, b);
  std::optional<PciId> up_a = a;
  std::optional<PciId> up_b = b;
  for (; depth_a > depth_b; --depth_a) up_a = machine.at(*up_a).parent;
  for (; depth_b > depth_a; --depth_b) up_b = machine.at(*up_b).parent;
  while (up_a && up_b && *up_a != *up_b) {
    up_a = machine.at(*up_a).parent;
    up_b = machine.at(*up_b).parent;
  }
  if (!up_a || !up_b || machine.at(*up_a).kind != PciKind::Switch) return std::nullopt;
  return up_a;
}

PathClass path_class(Machine const& machine, PciId a, PciId b) {
  if (a == b) return PathClass::Self;
  if (machine.host_of(a) != machine.host_of(b)) return PathClass::Network;
  if (auto const meet = common_switch(machine, a, b)) {
    bool const single = machine.at(a).parent == meet && machine.at(b).parent == meet;
    return single ? PathClass::Pix : PathClass::Pxb;
  }
  if (machine.at(a).host_bridge == machine.at(b).host_bridge) return PathClass::Phb;
  return machine.numa_of(a) == machine.numa_of(b) ? PathClass::Node : PathClass::Sys;
}

PathClass path_class(Machine const& machine, PciId a, NumaId memory) {
  if (machine.host_of(a) != machine.host_of(Place(memory))) return PathClass::Network;
  if (machine.numa_of(a) == memory) return PathClass::Phb;
  return machine.socket_of(a) == machine.at(memory).socket ? PathClass::Node : PathClass::Sys;
}

std::optional<PcieLink> assumed_link(Machine const& machine, PciId id) {
  if (machine.at(id).max_link) return machine.at(id).max_link;
  auto const* part = machine.part_of(id);
  if (part == nullptr || !part->pcie.link) return std::nullopt;
  auto link = *part->pcie.link;
  auto const parent = machine.at(id).parent;
  if (parent && machine.at(*parent).kind == PciKind::Switch) {
    auto const* above = machine.part_of(*parent);
    return above != nullptr && above->pcie.link ? negotiated(link, *above->pcie.link) : link;
  }
  auto const* cpu = machine.part_of(machine.socket_of(id));
  if (cpu != nullptr && cpu->cpu.root_port_generation)
    link.generation = std::min(link.generation, *cpu->cpu.root_port_generation);
  return link;
}

int nvlink_count(Machine const& machine, PciId a, PciId b) {
  int count = 0;
  for (auto const& bundle : bundles_of(machine, machine.host_of(a)))
    if (joins(bundle, a, b)) count += bundle.count;
  for (auto const& domain : machine.nvswitches)
    if (auto const of_a = links_of(machine, domain, a); of_a > 0) count += std::min(of_a, links_of(machine, domain, b));
  return count;
}

std::string path_between(Machine const& machine, Place const& from, Place const& to) {
  auto const* a = std::get_if<PciId>(&from);
  auto const* b = std::get_if<PciId>(&to);
  if (a != nullptr && b != nullptr) {
    auto const links = nvlink_count(machine, *a, *b);
    return links > 0 ? fmt::format("NV{}", links) : std::string(to_string(path_class(machine, *a, *b)));
  }
  if (a != nullptr) return std::string(to_string(path_class(machine, *a, std::get<NumaId>(to))));
  if (b != nullptr) return std::string(to_string(path_class(machine, *b, std::get<NumaId>(from))));
  return from == to ? "X" : "SYS";
}

}  // namespace lanewise
