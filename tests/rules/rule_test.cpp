#include "core/rules/rule.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using M = Mechanism;
using test::Server;

// A way by names, on one server, or between two nodes of it when there is a fabric.
struct Asked {
  Server server = {};
  M mechanism = M::PcieP2p;
  std::string from = "gpu0";
  std::string to = "gpu1";
  Op op = Op::Copy;
  Drive drive = Drive::Push;
  std::string relay = {};
  std::string relay_to = {};
  std::string nic_from = {};
  std::string nic_to = {};
  Bytes bytes{1 << 20};
  int peers = 0;
  std::string fabric = {};
};

// A rule with an attempt that it speaks of, and one that differs in the one thing it asks for.
struct Row {
  std::string rule;
  Asked hit;
  Asked miss;
};

Machine machine_of(Asked const& asked) { return asked.fabric.empty() ? test::machine_of(asked.server) : test::cluster_of(asked.server, asked.fabric); }

Attempt attempt(Asked const& asked, Machine const& machine) {
  auto const function = [&](std::string const& name) { return name.empty() ? std::nullopt : machine.find_function(name); };
  Way way{.mechanism = asked.mechanism, .drive = asked.drive};
  way.relay = function(asked.relay);
  way.relay_to = function(asked.relay_to);
  way.nic_from = function(asked.nic_from);
  way.nic_to = function(asked.nic_to);
  return {machine, machine.place(asked.from), machine.place(asked.to), asked.op, way, asked.bytes, asked.peers, 0};
}

Asked gdr(Server const& server, std::string const& from = "gpu0", std::string const& nic = "nic0") {
  return {.server = server, .mechanism = M::Gdr, .from = from, .to = nic, .nic_from = nic};
}
Asked p2p(Server const& server, std::string const& from = "gpu0", std::string const& to = "gpu1", Drive drive = Drive::Push) {
  return {.server = server, .from = from, .to = to, .drive = drive};
}

constexpr char kBridge[] = "{between: [gpu0, gpu1], part: nvlink, count: 4}";
constexpr char kCrossbar[] = "{switch: s, switch_part: nvswitch, part: nvlink, count: 4, gpus: [gpu0..gpu3]}";
constexpr char kGuest[] = "acs: off, iommu: vfio, virtualization: {kind: passthrough}";
constexpr char kOldCpu[] = "vendor: intel, root_port_generation: 4, peer_write_forwarding: same_socket, peer_read_forwarding: none, p2pdma: no";

std::vector<Row> rows() {
  std::vector<Row> table;
  auto const add = [&](std::string rule, Asked hit, Asked miss) { table.push_back({std::move(rule), std::move(hit), std::move(miss)}); };

  add("GPU-RUNTIME", p2p({.software = "cuda: false"}), p2p({}));
  add("P2P-MIG", p2p({.at_gpu1 = "mig: true"}), p2p({.at_gpu2 = "mig: true"}));
  add("ATOMIC-PCIE", {.op = Op::Atomic}, {.server = {.more_gpu = "pcie_atomics: true"}, .op = Op::Atomic});
  add("ATOMIC-STAGED", {.mechanism = M::HostStaged, .op = Op::Atomic}, {.mechanism = M::HostStaged, .op = Op::Copy});

  add("NVLINK-NONE", {.mechanism = M::Nvlink}, {.server = {.nvlinks = kBridge}, .mechanism = M::Nvlink});
  add("HOST-NVLINK-FIRST", {.server = {.nvlinks = "{between: [gpu0, cpu0], part: nvlink, count: 4}"}, .mechanism = M::HostDma, .to = "numa0"},
      {.server = {.nvlinks = kBridge}, .mechanism = M::HostDma, .to = "numa0"});
  add("NVLINK-FABRIC", {.server = {.software = "fabric_manager: false", .nvlinks = kCrossbar}, .mechanism = M::Nvlink},
      {.server = {.software = "fabric_manager: false", .nvlinks = kBridge}, .mechanism = M::Nvlink});
  auto const two_bridges = std::string(kBridge) + ", {between: [gpu1, gpu2], part: nvlink, count: 4}";
  add("RELAY-NEIGHBOUR", {.server = {.nvlinks = kBridge}, .mechanism = M::NvlinkRelay, .to = "gpu2", .relay = "gpu1"},
      {.server = {.nvlinks = two_bridges}, .mechanism = M::NvlinkRelay, .to = "gpu2", .relay = "gpu1"});
  add("P2P-NVSWITCH-NO-FALLBACK", p2p({.nvlinks = kCrossbar}), p2p({.nvlinks = "{switch: s, switch_part: nvswitch, part: nvlink, count: 4, gpus: [gpu0, gpu2]}"}));
  add("P2P-NVLINK-FIRST", p2p({.nvlinks = kBridge}), p2p({.nvlinks = kBridge}, "gpu0", "gpu2"));

  add("P2P-PRODUCT", p2p({.more_gpu = "pcie_peer: false"}), p2p({.more_gpu = "pcie_peer: true"}));
  add("P2P-CHIP", p2p({.other_gpu = "chip: gh100"}), p2p({.other_gpu = "chip: ga100"}));
  add("P2P-GUEST", p2p({.settings = kGuest}, "gpu0", "gpu2"), p2p({.settings = kGuest}));  // a switch that the guest sees
  add("P2P-GUEST", p2p({.settings = "iommu: vfio, virtualization: {kind: passthrough, cliques: [[gpu0, gpu1], [gpu2, gpu3]]}"}, "gpu0", "gpu2"),
      p2p({.settings = "iommu: vfio, virtualization: {kind: passthrough, cliques: [[gpu0, gpu2]]}"}, "gpu0", "gpu2"));
  add("P2P-GUEST", p2p({.settings = kGuest}, "gpu0", "gpu2"),
      p2p({.settings = "iommu: vfio, virtualization: {kind: passthrough, approval: true}"}, "gpu0", "gpu2"));
  Asked const in_node{.server = {.settings = "iommu: vfio, virtualization: {kind: passthrough, clique: [gpu0, gpu2]}"},
                      .from = "node1/gpu0",
                      .to = "node1/gpu2",
                      .fabric = "kind: direct"};  // a clique of the node's file is one of each node
  auto outside = in_node;
  outside.to = "node1/gpu3";
  add("P2P-GUEST", outside, in_node);
  add("P2P-PEER-LIMIT", {.peers = 8}, {.peers = 7});
  add("P2P-IOMMU-TRANSLATED", p2p({.settings = "acs: off, iommu: strict"}), p2p({.settings = "acs: off, iommu: pt"}));
  add("P2P-IOMMU-TRANSLATED", p2p({.settings = "acs: off, iommu: lazy"}), p2p({.settings = kGuest}));

  std::string const ats = "iommu: vfio, virtualization: {kind: passthrough, approval: true, ats: true}";
  add("P2P-ACS-BLOCKED", p2p({.settings = "acs: [TB], " + ats}), p2p({.settings = "acs: [DT], " + ats}));
  add("P2P-RC-UNKNOWN", p2p({.cpu0 = "unknown"}, "gpu0", "gpu2"), p2p({.cpu0 = "unknown"}));
  add("P2P-SOCKET", p2p({.cpu = kOldCpu}, "gpu0", "gpu3"), p2p({.cpu = kOldCpu}, "gpu0", "gpu2"));
  add("P2P-RC-WRITE", p2p({.cpu = "peer_write_forwarding: same_host_bridge"}, "gpu0", "gpu2"),
      p2p({.cpu = "peer_write_forwarding: same_host_bridge, host_bridges: per_socket"}, "gpu0", "gpu2"));
  add("P2P-RC-READ", p2p({.cpu = kOldCpu}, "gpu0", "gpu2", Drive::Pull), p2p({.cpu = kOldCpu}, "gpu0", "gpu2", Drive::Push));
  add("P2P-ACS-REDIRECT", p2p({.settings = "acs: on"}), p2p({.settings = "acs: [SV, UF]"}));
  add("P2P-ACS-REDIRECT", p2p({.settings = "acs: [CR]"}, "gpu0", "gpu1", Drive::Pull), p2p({.settings = "acs: [SV]"}, "gpu0", "gpu1", Drive::Pull));
  add("P2P-ACS-UNKNOWN", p2p({.settings = "acs: unknown"}), p2p({.settings = "acs: unknown"}, "gpu0", "gpu2"));
  auto large = p2p({.more_gpu = ""});
  large.server.gpu = "chip: ga100, bar1: 256 MiB";  // 32 MiB are the driver's own
  large.bytes = Bytes((224 << 20) + 1);
  auto small = large;
  small.bytes = Bytes(224 << 20);
  add("BAR1-WINDOW", large, small);

  add("BAR-GDRCOPY", {.server = {.software = "gdrcopy: false"}, .mechanism = M::BarCopy}, {.server = {.software = "gdrcopy: true"}, .mechanism = M::BarCopy});
  add("BAR-NONE", {.server = {.gpu = "chip: ga100"}, .mechanism = M::BarCopy}, {.server = {.gpu = "chip: ga100, bar1: 16 GiB"}, .mechanism = M::BarCopy});

  Asked const across{.mechanism = M::Rdma, .from = "node0/numa0", .to = "node1/numa0", .nic_from = "node0/nic0", .nic_to = "node1/nic0", .fabric = "kind: single_switch"};
  auto unattached = across;
  unattached.fabric = "kind: single_switch, nics: [nic1]";
  add("NET-NONE", unattached, across);
  add("NET-VERBS", {.server = {.more_nic = "verbs: false"}, .mechanism = M::Rdma, .from = "numa0", .to = "nic0", .nic_from = "nic0"},
      {.mechanism = M::Rdma, .from = "numa0", .to = "nic0", .nic_from = "nic0"});
  add("NET-VERBS", {.server = {.more_nic = "verbs: false"}, .mechanism = M::SharedHost, .to = "nic0", .nic_from = "nic0"},
      {.mechanism = M::SharedHost, .to = "nic0", .nic_from = "nic0"});

  add("GDR-NIC", gdr({.more_nic = "gpudirect: false"}), gdr({}));
  add("GDR-PRODUCT", gdr({.more_gpu = "rdma: false"}), gdr({}));
  add("GDR-REGISTRATION", gdr({.software = "peermem: false, dma_buf: false"}), gdr({.software = "peermem: false, dma_buf: true"}));
  add("GDR-IOMMU-TRANSLATED", gdr({.settings = "acs: off, iommu: lazy", .software = "peermem: true, dma_buf: false"}),
      gdr({.settings = "acs: off, iommu: lazy", .software = "peermem: true, dma_buf: true"}));
  std::string const slow_bridge = "peer_write_forwarding: any, peer_read_forwarding: any, p2pdma: ";
  add("GDR-P2PDMA", gdr({.software = "dma_buf: true", .cpu = slow_bridge + "no"}, "gpu2"), gdr({.software = "dma_buf: true", .cpu = slow_bridge + "no"}));
  add("GDR-P2PDMA", gdr({.software = "dma_buf: true", .cpu = slow_bridge + "same_host_bridge"}, "gpu2"),
      gdr({.software = "dma_buf: true", .cpu = slow_bridge + "same_host_bridge, host_bridges: per_socket"}, "gpu2"));
  add("GDR-P2PDMA", gdr({.software = "dma_buf: true", .cpu = slow_bridge + "no"}, "gpu2"),
      gdr({.software = "dma_buf: true, peermem: true", .cpu = slow_bridge + "no"}, "gpu2"));  // peermem does not ask
  std::string const pascal = "chip: gp100, compute_capability: \"6.0\", bar1: 16 GiB";
  add("GDR-READ-PRE-AMPERE", gdr({.gpu = pascal}, "gpu2"), gdr({.gpu = pascal}, "gpu0"));
  add("GDR-READ-PRE-AMPERE", gdr({.gpu = pascal}, "gpu2"), gdr({.gpu = pascal + ", nvlink_ports: 4"}, "gpu2"));
  add("GDR-RELAY-NEIGHBOUR", {.mechanism = M::GdrRelay, .from = "gpu2", .to = "nic0", .relay = "gpu0", .nic_from = "nic0"},
      {.server = {.nvlinks = "{between: [gpu0, gpu2], part: nvlink, count: 4}"}, .mechanism = M::GdrRelay, .from = "gpu2", .to = "nic0", .relay = "gpu0", .nic_from = "nic0"});
  add("GDS-SOFTWARE", {.server = {.software = "gpudirect_storage: false"}, .mechanism = M::StorageDirect, .from = "nvme0", .to = "gpu2"},
      {.mechanism = M::StorageDirect, .from = "nvme0", .to = "gpu2"});
  return table;
}

TEST(Rules, EachSpeaksOfWhatItIsAboutAndOfNothingElse) {
  for (auto const& row : rows()) {
    SCOPED_TRACE(row.rule);
    auto const* rule = find_rule(row.rule);
    ASSERT_NE(rule, nullptr);
    auto const hit = machine_of(row.hit);
    auto const miss = machine_of(row.miss);
    auto const hitting = attempt(row.hit, hit);
    EXPECT_TRUE(rule->applies(hitting));
    EXPECT_FALSE(rule->applies(attempt(row.miss, miss)));
    if (rule->refuses) {
      ASSERT_NE(refusal(hitting), nullptr) << "the mechanism is not asked about this rule";
      EXPECT_EQ(refusal(hitting)->id, row.rule);
    } else {
      auto const found = remarks(hitting);
      EXPECT_NE(std::find(found.begin(), found.end(), rule), found.end());
      EXPECT_EQ(refusal(hitting), nullptr);
    }
    auto const* missed = refusal(attempt(row.miss, miss));
    EXPECT_EQ(missed, nullptr) << missed->id;
  }
}

TEST(Rules, EachIsInTheTableAbove) {
  std::set<std::string_view> covered;
  auto const table = rows();
  for (auto const& row : table) covered.insert(row.rule);
  for (auto const& rule : all_rules()) EXPECT_TRUE(covered.contains(rule.id)) << rule.id;
}

TEST(Rules, EachHasAnIdASentenceAndASource) {
  std::set<std::string_view> ids;
  for (auto const& rule : all_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(rule.sentence.ends_with(".")) << rule.id;
    EXPECT_FALSE(rule.source.empty()) << rule.id;
    EXPECT_EQ(find_rule(rule.id), &rule);
  }
  EXPECT_EQ(find_rule("P2P-MAGIC"), nullptr);
}

TEST(Rules, EachIsAskedByAMechanism) {
  std::set<std::string_view> asked;
  for (auto const mechanism : all_mechanisms())
    for (auto const* rule : rules_of(mechanism)) asked.insert(rule->id);
  for (auto const& rule : all_rules()) EXPECT_TRUE(asked.contains(rule.id)) << rule.id;
}

TEST(Rules, APlainServerIsLegal) {
  for (auto const& asked : {p2p({}), p2p({}, "gpu0", "gpu2"), p2p({}, "gpu0", "gpu3"), p2p({}, "gpu0", "gpu3", Drive::Pull), gdr({}), gdr({}, "gpu3")}) {
    auto const machine = machine_of(asked);
    auto const* rule = refusal(attempt(asked, machine));
    EXPECT_EQ(rule, nullptr) << asked.from << " to " << asked.to << ": " << rule->id;
    EXPECT_TRUE(remarks(attempt(asked, machine)).empty());
  }
}

// The first CPU's datasheet decides for requests that it must forward to the other socket; the target's does not.
TEST(Rules, AcrossSocketsReadsAndWritesAreRefusedAsOne) {
  auto const machine = test::machine_of({.cpu = kOldCpu});
  for (auto const drive : {Drive::Push, Drive::Pull}) {
    auto asked = p2p({}, "gpu0", "gpu3", drive);
    EXPECT_EQ(refusal(attempt(asked, machine))->id, "P2P-SOCKET");
  }
}

TEST(Mechanisms, NamesReadBack) {
  EXPECT_EQ(all_mechanisms().size(), kMechanismCount);
  for (auto const mechanism : all_mechanisms()) EXPECT_EQ(parse_mechanism(to_string(mechanism)).value, mechanism);
  EXPECT_THAT(parse_mechanism("pcie_p2b").problem, testing::HasSubstr("did you mean 'pcie_p2p'?"));
}

}  // namespace
}  // namespace lanewise
