#include "lanewise/rules/mechanism.hpp"

#include "core/io/word.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, kMechanismCount> kMechanismNames{
    "local",    "nvlink", "nvlink_relay", "pcie_p2p",  "host_dma",   "host_staged",    "shared_host",
    "bar_copy", "rdma",   "gdr",          "gdr_relay", "net_staged", "storage_direct", "storage_staged"};

constexpr std::array<std::string_view, 2> kCarrierNames{"verbs", "mpi"};

}  // namespace

std::string_view to_string(Carrier carrier) { return kCarrierNames.at(static_cast<std::size_t>(carrier)); }

Parsed<Carrier> parse_carrier(std::string_view text) { return parse_word<Carrier>(text, kCarrierNames, "a carrier"); }

std::string_view to_string(Mechanism mechanism) { return kMechanismNames.at(static_cast<std::size_t>(mechanism)); }

Parsed<Mechanism> parse_mechanism(std::string_view text) {
  return parse_word<Mechanism>(text, kMechanismNames, "a mechanism");
}

std::string mechanism_pattern() { return fmt::format("^({})$", fmt::join(kMechanismNames, "|")); }

std::array<Mechanism, kMechanismCount> const& all_mechanisms() {
  static auto const all = [] {
    std::array<Mechanism, kMechanismCount> made{};
    for (std::size_t i = 0; i < kMechanismCount; ++i) made[i] = static_cast<Mechanism>(i);
    return made;
  }();
  return all;
}

}  // namespace lanewise
