#include "core/rules/p2pdma.hpp"

#include <gtest/gtest.h>

#include "core/rules/peer_route.hpp"
#include "tests/rules/acs_controls.hpp"
#include "tests/rules/rule_machine.hpp"

namespace lanewise {
namespace {

using test::pci;
using test::rule_machine;

using namespace test::acs_controls;

void set_acs(Machine& machine, std::string const& function, AcsControl control) {
  machine.functions[index(pci(machine, function))].acs = control;
}

P2pdmaMapping mapping(Machine const& machine, std::string const& provider, std::string const& client) {
  return p2pdma_mapping(machine, pci(machine, provider), pci(machine, client));
}

void accept(Machine& machine, P2pdma cpu, P2pdma other_cpu) {
  for (auto& part : machine.parts) {
    if (part.name == "cpu") part.cpu.p2pdma = cpu;
    if (part.name == "other-cpu") part.cpu.p2pdma = other_cpu;
  }
}

TEST(P2pdmaMapping, BelowOneSwitchIsTheBusAddressOnEveryCpu) {
  auto machine = rule_machine();
  accept(machine, P2pdma::No, P2pdma::No);
  EXPECT_EQ(mapping(machine, "gpu0", "nic0"), P2pdmaMapping::BusAddress);
  EXPECT_EQ(mapping(machine, "gpu5", "nic0"), P2pdmaMapping::BusAddress);  // a switch below a switch
}

TEST(P2pdmaMapping, AnyRedirectOnAnyPortBetweenCounts) {
  for (auto const bit : {RR, CR, EC})
    for (auto const* port : {"gpu5", "sw0a", "nic0"}) {
      SCOPED_TRACE(port);
      auto machine = rule_machine();
      set_acs(machine, port, {true, bit});
      EXPECT_EQ(mapping(machine, "gpu5", "nic0"), P2pdmaMapping::ThroughHostBridge);
      EXPECT_EQ(mapping(machine, "nic0", "gpu5"), P2pdmaMapping::ThroughHostBridge);
      accept(machine, P2pdma::No, P2pdma::No);
      EXPECT_EQ(mapping(machine, "gpu5", "nic0"), P2pdmaMapping::NotSupported);
    }
}

TEST(P2pdmaMapping, PortsElsewhereAndOtherBitsDoNotCount) {
  auto machine = rule_machine();
  for (auto const* elsewhere : {"sw0", "gpu0", "sw1", "gpu6"}) set_acs(machine, elsewhere, AcsControl::on());
  set_acs(machine, "gpu5",
          {true, AcsControl::kSourceValidation | AcsControl::kTranslationBlocking | AcsControl::kUpstreamForwarding |
                     AcsControl::kDirectTranslated});
  EXPECT_EQ(mapping(machine, "gpu5", "nic0"), P2pdmaMapping::BusAddress);
}

TEST(P2pdmaMapping, WhatNobodyCouldReadCountsAsARedirect) {
  auto machine = rule_machine();
  set_acs(machine, "gpu0", AcsControl::unknown());
  EXPECT_EQ(mapping(machine, "gpu0", "nic0"), P2pdmaMapping::ThroughHostBridge);
}

TEST(P2pdmaMapping, BetweenHostBridgesBothCpusMustBeOnTheList) {
  auto machine = rule_machine();
  EXPECT_EQ(mapping(machine, "gpu0", "nic2"), P2pdmaMapping::ThroughHostBridge);
  accept(machine, P2pdma::Yes, P2pdma::No);
  EXPECT_EQ(mapping(machine, "gpu0", "nic2"), P2pdmaMapping::NotSupported);
  EXPECT_EQ(mapping(machine, "gpu4", "nic0"), P2pdmaMapping::NotSupported);
  accept(machine, P2pdma::SameHostBridge, P2pdma::Yes);
  EXPECT_EQ(mapping(machine, "gpu0", "nic1"), P2pdmaMapping::NotSupported);  // a host bridge for each root port
  set_acs(machine, "gpu0", AcsControl::on());
  EXPECT_EQ(mapping(machine, "gpu0", "nic0"), P2pdmaMapping::ThroughHostBridge);
  machine.sockets[0].part.reset();
  EXPECT_EQ(mapping(machine, "gpu0", "nic0"), P2pdmaMapping::NotSupported);
}

TEST(PeerRoute, WithAnIommuARedirectAnywhereTakesRequestsUp) {
  auto machine = rule_machine();
  set_acs(machine, "gpu5", {true, RR});
  auto const request = [&] { return peer_route(machine, pci(machine, "nic0"), pci(machine, "gpu5")).request; };
  EXPECT_EQ(request(), TurnPoint::Switch);  // passthrough: the address is the same, and nic0's port lets it through
  machine.hosts[0].settings.iommu = IommuMode::Strict;
  EXPECT_EQ(request(), TurnPoint::RootComplex);
  machine.hosts[0].settings.virtualization.ats = true;
  EXPECT_EQ(request(), TurnPoint::Switch);  // the device translates by itself
  machine.hosts[0].settings.virtualization.ats = false;
  set_acs(machine, "gpu5", AcsControl::off());
  EXPECT_EQ(request(), TurnPoint::Switch);  // Linux gives the bus address
}

}  // namespace
}  // namespace lanewise
