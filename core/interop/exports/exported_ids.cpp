#include "core/interop/exports/exported_ids.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

// Class codes: PCI Code and ID Assignment Specification.
constexpr std::uint32_t kBridge = 0x060400, kDisplay3d = 0x030200, kDisplayOther = 0x038000, kInfiniband = 0x020700,
                        kEthernet = 0x020000, kNvme = 0x010802, kOtherSystem = 0x088000;

std::string first_id(Part const* part, char const* otherwise) {
  return part == nullptr || part->pci_ids.empty() ? otherwise : part->pci_ids.front();
}

ExportedIds ids_of_device(Machine const& machine, PciId id) {
  auto const* part = machine.part_of(id);
  switch (machine.at(id).kind) {
    case PciKind::Gpu: {
      bool const amd = part != nullptr && part->gpu.vendor == "amd";
      bool const intel = part != nullptr && part->gpu.vendor == "intel";
      return {amd || intel ? kDisplayOther : kDisplay3d, first_id(part, amd     ? "1002:ffff"
                                                                        : intel ? "8086:ffff"
                                                                                : "10de:ffff")};
    }
    case PciKind::Nic: {
      bool const infiniband = part == nullptr || part->nic.link_layer == LinkLayer::InfiniBand;
      return {infiniband ? kInfiniband : kEthernet, first_id(part, "15b3:ffff")};
    }
    case PciKind::Nvme: return {kNvme, first_id(part, "144d:ffff")};
    default: return {kOtherSystem, first_id(part, "1af4:ffff")};
  }
}

}  // namespace

ExportedIds exported_ids(Machine const& machine, ExportedFunction const& function) {
  switch (function.port) {
    case ExportedPort::RootPort: return {kBridge, "8086:ffff"};
    case ExportedPort::SwitchUpstream: return {kBridge, first_id(machine.part_of(function.function), "1000:ffff")};
    case ExportedPort::SwitchDownstream: {
      auto const above = machine.at(function.function).parent;
      return {kBridge, first_id(above ? machine.part_of(*above) : nullptr, "1000:ffff")};
    }
    case ExportedPort::Endpoint: break;
  }
  return ids_of_device(machine, function.function);
}

std::optional<PcieLink> exported_link(Machine const& machine, ExportedFunction const& function) {
  auto of = function.function;
  if (function.port == ExportedPort::RootPort) {
    std::optional<PciId> below;
    for (std::size_t i = 0; i < machine.functions.size() && !below; ++i)
      if (machine.functions[i].parent == of) below = PciId(i);
    if (!below) return std::nullopt;
    of = *below;
  }
  return machine.at(of).link ? machine.at(of).link : assumed_link(machine, of);
}

std::vector<std::set<int>> exported_cores(Machine const& machine) {
  std::vector<std::set<int>> cores;
  int next = 0;
  for (auto const& numa : machine.numa_nodes) {
    auto const listed = numbers_of_list(numa.cores);
    cores.emplace_back(listed.begin(), listed.end());
    if (!listed.empty()) next = std::max(next, *cores.back().rbegin() + 1);
  }
  for (auto& list : cores)
    if (list.empty()) list.insert(next++);
  return cores;
}

std::string mask_text(std::set<int> const& numbers, std::string_view prefix) {
  constexpr int kBits = 32;
  std::vector<std::uint32_t> words(numbers.empty() ? 1 : static_cast<std::size_t>(*numbers.rbegin() / kBits) + 1);
  for (auto const number : numbers) words[static_cast<std::size_t>(number / kBits)] |= 1U << (number % kBits);
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    text += fmt::format("{}{}{:08x}", text.empty() ? "" : ",", prefix, *word);
  return text;
}

CpuidWords split_cpuid(std::string const& cpuid) {
  auto const first = cpuid.find('/');
  auto const second = cpuid.find('/', first == std::string::npos ? first : first + 1);
  if (second == std::string::npos) return {cpuid, "", ""};
  return {cpuid.substr(0, first), cpuid.substr(first + 1, second - first - 1), cpuid.substr(second + 1)};
}

}  // namespace lanewise
