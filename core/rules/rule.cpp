#include "lanewise/rules/rule.hpp"

#include <array>
#include <vector>

namespace lanewise {
namespace {

// The rules of a mechanism, in the order in which they are asked: the first that refuses is the reason a user sees.
std::span<std::string_view const> ids_of(Mechanism mechanism) {
  static constexpr std::array<std::string_view, 2> kLocal{"DEVICE-OFF", "GPU-RUNTIME"};
  static constexpr std::array<std::string_view, 7> kNvlink{
      "DEVICE-OFF", "GPU-RUNTIME", "P2P-MIG", "NVLINK-NONE", "LINK-RDMA-ONLY", "NVLINK-FABRIC", "NVLINK-IMEX"};
  static constexpr std::array<std::string_view, 7> kRelay{
      "DEVICE-OFF", "GPU-RUNTIME", "ATOMIC-STAGED", "P2P-MIG", "RELAY-NEIGHBOUR", "LINK-RDMA-ONLY", "NVLINK-FABRIC"};
  static constexpr std::array<std::string_view, 19> kPcie{"DEVICE-OFF",
                                                          "GPU-RUNTIME",
                                                          "P2P-MIG",
                                                          "P2P-NVSWITCH-NO-FALLBACK",
                                                          "P2P-NVLINK-FIRST",
                                                          "P2P-PRODUCT",
                                                          "P2P-CHIP",
                                                          "ATOMIC-PCIE",
                                                          "P2P-GUEST",
                                                          "P2P-PEER-LIMIT",
                                                          "P2P-IOMMU-TRANSLATED",
                                                          "P2P-ACS-BLOCKED",
                                                          "P2P-RC-UNKNOWN",
                                                          "P2P-SOCKET",
                                                          "P2P-RC-WRITE",
                                                          "P2P-RC-READ",
                                                          "P2P-ACS-REDIRECT",
                                                          "P2P-ACS-UNKNOWN",
                                                          "BAR1-WINDOW"};
  static constexpr std::array<std::string_view, 3> kStaged{"DEVICE-OFF", "GPU-RUNTIME", "ATOMIC-STAGED"};
  static constexpr std::array<std::string_view, 4> kHostDma{"DEVICE-OFF", "GPU-RUNTIME", "ATOMIC-STAGED",
                                                            "HOST-NVLINK-FIRST"};
  static constexpr std::array<std::string_view, 5> kBar{"DEVICE-OFF", "ATOMIC-STAGED", "BAR-GDRCOPY", "BAR-NONE",
                                                        "BAR1-WINDOW"};
  static constexpr std::array<std::string_view, 5> kRdma{"DEVICE-OFF", "ATOMIC-STAGED", "NET-NONE", "NET-VERBS",
                                                         "MPI-MESSAGES"};
  static constexpr std::array<std::string_view, 6> kNetStaged{"DEVICE-OFF", "GPU-RUNTIME", "ATOMIC-STAGED",
                                                              "NET-NONE",   "NET-VERBS",   "MPI-MESSAGES"};
  static constexpr std::array<std::string_view, 5> kStorageStaged{"DEVICE-OFF", "GPU-RUNTIME", "ATOMIC-STAGED",
                                                                  "NET-NONE", "NET-VERBS"};
  static constexpr std::array<std::string_view, 21> kGdr{"DEVICE-OFF",
                                                         "ATOMIC-STAGED",
                                                         "NET-NONE",
                                                         "NET-VERBS",
                                                         "MPI-CUDA",
                                                         "GDR-NIC",
                                                         "GDR-PRODUCT",
                                                         "GDR-REGISTRATION",
                                                         "GDR-IOMMU-TRANSLATED",
                                                         "P2P-GUEST",
                                                         "P2P-ACS-BLOCKED",
                                                         "P2P-RC-UNKNOWN",
                                                         "P2P-SOCKET",
                                                         "P2P-RC-WRITE",
                                                         "P2P-RC-READ",
                                                         "GDR-P2PDMA",
                                                         "GDR-READ-PRE-AMPERE",
                                                         "P2P-ACS-REDIRECT",
                                                         "P2P-ACS-UNKNOWN",
                                                         "BAR1-WINDOW",
                                                         "MPI-MESSAGES"};
  static constexpr std::array<std::string_view, 23> kGdrRelay{"DEVICE-OFF",
                                                              "GPU-RUNTIME",
                                                              "ATOMIC-STAGED",
                                                              "P2P-MIG",
                                                              "NVLINK-FABRIC",
                                                              "GDR-RELAY-NEIGHBOUR",
                                                              "NET-NONE",
                                                              "NET-VERBS",
                                                              "MPI-CUDA",
                                                              "GDR-NIC",
                                                              "GDR-PRODUCT",
                                                              "GDR-REGISTRATION",
                                                              "GDR-IOMMU-TRANSLATED",
                                                              "P2P-GUEST",
                                                              "P2P-ACS-BLOCKED",
                                                              "P2P-RC-UNKNOWN",
                                                              "P2P-SOCKET",
                                                              "P2P-RC-WRITE",
                                                              "P2P-RC-READ",
                                                              "GDR-P2PDMA",
                                                              "P2P-ACS-REDIRECT",
                                                              "P2P-ACS-UNKNOWN",
                                                              "MPI-MESSAGES"};
  static constexpr std::array<std::string_view, 19> kStorageDirect{
      "DEVICE-OFF",      "DEV-REGISTRATION", "DEV-IOMMU-TRANSLATED",
      "GPU-RUNTIME",     "ATOMIC-STAGED",    "NET-NONE",
      "NET-VERBS",       "GDR-NIC",          "GDS-SOFTWARE",
      "GDR-PRODUCT",     "GDS-IOMMU",        "P2P-GUEST",
      "P2P-ACS-BLOCKED", "P2P-RC-UNKNOWN",   "P2P-SOCKET",
      "P2P-RC-WRITE",    "P2P-RC-READ",      "P2P-ACS-REDIRECT",
      "P2P-ACS-UNKNOWN"};
  switch (mechanism) {
    case Mechanism::Local: return kLocal;
    case Mechanism::Nvlink: return kNvlink;
    case Mechanism::NvlinkRelay: return kRelay;
    case Mechanism::PcieP2p: return kPcie;
    case Mechanism::HostDma: return kHostDma;
    case Mechanism::StorageStaged: return kStorageStaged;  // the drive may be another node's
    case Mechanism::SharedHost: return kNetStaged;         // the other device may be a NIC
    case Mechanism::HostStaged: return kStaged;
    case Mechanism::BarCopy: return kBar;
    case Mechanism::Rdma: return kRdma;
    case Mechanism::NetStaged: return kNetStaged;
    case Mechanism::Gdr: return kGdr;
    case Mechanism::GdrRelay: return kGdrRelay;
    case Mechanism::StorageDirect: return kStorageDirect;
  }
  return {};
}

}  // namespace

Rule const* find_rule(std::string_view id) {
  for (auto const& rule : all_rules())
    if (rule.id == id) return &rule;
  return nullptr;
}

std::span<Rule const* const> rules_of(Mechanism mechanism) {
  static auto const tables = [] {
    std::array<std::vector<Rule const*>, kMechanismCount> made;
    for (auto const m : all_mechanisms())
      for (auto const id : ids_of(m)) made[static_cast<std::size_t>(m)].push_back(find_rule(id));
    return made;
  }();
  return tables.at(static_cast<std::size_t>(mechanism));
}

Rule const* refusal(Attempt const& attempt) {
  for (auto const* rule : rules_of(attempt.way.mechanism))
    if (rule->refuses && rule->applies(attempt)) return rule;
  return nullptr;
}

std::vector<Rule const*> remarks(Attempt const& attempt) {
  std::vector<Rule const*> found;
  for (auto const* rule : rules_of(attempt.way.mechanism))
    if (!rule->refuses && rule->applies(attempt)) found.push_back(rule);
  return found;
}

}  // namespace lanewise
