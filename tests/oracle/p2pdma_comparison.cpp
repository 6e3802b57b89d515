#include "tests/oracle/p2pdma_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/path_class.hpp"
#include "core/rules/conditions.hpp"
#include "core/rules/p2pdma.hpp"
#include "tests/oracle/linux_pci.hpp"

namespace lanewise::oracle {
namespace {

constexpr std::size_t kMessages = 10;

bool is_endpoint(PciFunction const& function) {
  return function.kind != PciKind::RootPort && function.kind != PciKind::Switch;
}

std::string_view word(pci_p2pdma_map_type type) {
  switch (type) {
    case PCI_P2PDMA_MAP_NOT_SUPPORTED: return "not supported";
    case PCI_P2PDMA_MAP_BUS_ADDR: return "bus address";
    case PCI_P2PDMA_MAP_THRU_HOST_BRIDGE: return "through the host bridge";
    default: return "something unknown";
  }
}

pci_p2pdma_map_type as_linux(P2pdmaMapping mapping) {
  switch (mapping) {
    case P2pdmaMapping::BusAddress: return PCI_P2PDMA_MAP_BUS_ADDR;
    case P2pdmaMapping::ThroughHostBridge: return PCI_P2PDMA_MAP_THRU_HOST_BRIDGE;
    case P2pdmaMapping::NotSupported: return PCI_P2PDMA_MAP_NOT_SUPPORTED;
  }
  return PCI_P2PDMA_MAP_UNKNOWN;
}

// Whether devices get addresses that only the IOMMU knows, in other words that no switch routes.
bool addresses_are_translated(Machine const& machine) {
  auto const& settings = machine.hosts.front().settings;
  return translates(settings.iommu) && !settings.virtualization.passthrough && !settings.virtualization.ats;
}

// The switches above a function, nearest first.
std::vector<PciId> switches_above(Machine const& machine, PciId id) {
  std::vector<PciId> found;
  for (auto up = machine.at(id).parent; up; up = machine.at(*up).parent)
    if (machine.at(*up).kind == PciKind::Switch) found.push_back(*up);
  return found;
}

bool below_one_chip(Machine const& machine, PciId a, PciId b) {
  for (auto const x : switches_above(machine, a))
    for (auto const y : switches_above(machine, b))
      if (x != y && !machine.at(x).chip.empty() && machine.at(x).chip == machine.at(y).chip) return true;
  return false;
}

// A NIC's way to GPU memory, of which the rules are asked.
Attempt gpudirect(Machine const& machine, PciId gpu, PciId nic, bool read) {
  Way way;
  way.mechanism = Mechanism::Gdr;
  (read ? way.nic_from : way.nic_to) = nic;
  Place const memory = NumaId(0);
  return {.machine = machine,
          .from = read ? Place(gpu) : memory,
          .to = read ? memory : Place(gpu),
          .op = Op::Send,
          .way = way};
}

bool applies(std::string_view rule, Attempt const& attempt) { return find_rule(rule)->applies(attempt); }

}  // namespace

std::string_view reason_of(Difference difference) {
  switch (difference) {
    case Difference::NotPci:
      return "not PCI: the GPU's memory is reached over NVLink-C2C, as the CPU's own; p2pdma is not asked";
    case Difference::OneChip:
      return "one chip: virtual switches that share silicon pass packets inside it; Linux sees switches without a "
             "common bridge";
    case Difference::SameAddress:
      return "same address: a port redirects, but not the one where these packets would turn, and no IOMMU gives "
             "another address; they turn at the switch. Linux speaks of the mapping, we of the way";
    case Difference::OtherRules:
      return "other rules: Linux maps it, but the processor is not known to forward it (P2P-SOCKET, P2P-RC-*)";
    case Difference::Blocked:
      return "blocked: ACS translation blocking drops requests translated by ATS; Linux does not look at it";
  }
  return "";
}

void P2pdmaComparison::compare(Machine const& machine, std::string const& machine_name) {
  LinuxPci const seen(machine);
  for (std::size_t i = 0; i < machine.functions.size(); ++i)
    for (std::size_t j = 0; j < machine.functions.size(); ++j) {
      if (i == j || !is_endpoint(machine.functions[i]) || !is_endpoint(machine.functions[j])) continue;
      auto const provider = PciId(i);
      auto const client = PciId(j);
      Pair const pair{machine, machine_name, provider, client,
                      decide_(seen.at(provider), seen.at(client), seen.boot_cpu())};
      ++pairs_;
      if (coherent_with_cpu(machine, provider)) {
        compare_mapping(pair);
        note(Difference::NotPci);
        continue;
      }
      compare_mapping(pair);
      compare_legality(pair);
      compare_route(pair);
    }
}

void P2pdmaComparison::compare_mapping(Pair const& pair) {
  auto const ours = as_linux(p2pdma_mapping(pair.machine, pair.provider, pair.client));
  if (ours != pair.kernel) contradict(pair, fmt::format("our mapping is: {}", word(ours)));
}

void P2pdmaComparison::compare_legality(Pair const& pair) {
  if (pair.machine.at(pair.provider).kind != PciKind::Gpu || pair.machine.at(pair.client).kind != PciKind::Nic) return;
  bool const refused = pair.kernel == PCI_P2PDMA_MAP_NOT_SUPPORTED;
  for (bool const read : {false, true}) {
    auto const attempt = gpudirect(pair.machine, pair.provider, pair.client, read);
    if (applies("GDR-P2PDMA", attempt) != refused)
      contradict(pair, fmt::format("the rule GDR-P2PDMA {}", refused ? "lets it pass" : "refuses it"));
    if (refused) continue;
    auto const other = {"P2P-RC-UNKNOWN", "P2P-SOCKET", "P2P-RC-WRITE", "P2P-RC-READ"};
    if (std::any_of(other.begin(), other.end(), [&](auto const* rule) { return applies(rule, attempt); })) {
      note(Difference::OtherRules);
      if (!peer_route(pair.machine, pair.client, pair.provider).through_root_complex(read))
        contradict(pair, "a rule of root complexes refuses what does not pass one");
    }
  }
}

void P2pdmaComparison::compare_route(Pair const& pair) {
  auto const route = peer_route(pair.machine, pair.client, pair.provider);
  if (route.blocked) return note(Difference::Blocked);
  if (route.request == TurnPoint::Chip) {
    note(Difference::OneChip);
    if (!below_one_chip(pair.machine, pair.provider, pair.client)) contradict(pair, "we say that one chip joins them");
    return;
  }
  bool const through = route.request == TurnPoint::RootComplex;
  if (pair.kernel == PCI_P2PDMA_MAP_BUS_ADDR) {
    if (route.through_root_complex(true)) contradict(pair, "our route goes up to the root complex");
    return;
  }
  if (through) return;
  // Linux says that it goes through the host bridge, and we say that requests turn below it.
  auto const meeting = common_switch(pair.machine, pair.provider, pair.client);
  if (!meeting || addresses_are_translated(pair.machine)) return contradict(pair, "our route turns at a switch");
  note(Difference::SameAddress);
}

void P2pdmaComparison::contradict(Pair const& pair, std::string_view ours) {
  ++contradictions_;
  if (messages_.size() < kMessages)
    messages_.push_back(fmt::format("{}: memory of {}, reached by {}: Linux says: {}; {}", pair.machine_name,
                                    pair.machine.at(pair.provider).name, pair.machine.at(pair.client).name,
                                    word(pair.kernel), ours));
}

}  // namespace lanewise::oracle
