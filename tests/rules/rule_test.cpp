#include "lanewise/rules/rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/rules/conditions.hpp"
#include "tests/rules/rule_machine.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::numa;
using test::part;
using test::pci;
using test::rule_machine;
using M = Mechanism;

// A transfer in words; names are looked up on the machine as the case made it.
struct Ask {
  M mechanism;
  std::string from, to;
  Op op = Op::Copy;
  Drive drive = Drive::Push;
  std::string relay = {}, relay_to = {}, nic_from = {}, nic_to = {};
  Bytes bytes = 1_MiB;
  int peers_of_source = 0, peers_of_target = 0;
  Carrier carrier = Carrier::Verbs;
};

using Change = std::function<void(Machine&)>;

// The same transfer on two machines that differ in one thing: the rule speaks of the first and not of the second.
struct Case {
  std::string id;
  Ask ask;
  Change speaks;
  Change silent = [](Machine&) {};
};

struct Asked {
  Machine machine;
  Attempt attempt;
  Asked(Ask const& ask, Change const& change)
      : machine(changed(change)),
        attempt{machine,   machine.place(ask.from), machine.place(ask.to), ask.op, way_of(ask),
                ask.bytes, ask.peers_of_source,     ask.peers_of_target} {}

 private:
  static Machine changed(Change const& change) {
    auto made = rule_machine();
    change(made);
    return made;
  }
  Way way_of(Ask const& ask) const {
    auto const named = [&](std::string const& name) {
      return name.empty() ? std::nullopt : machine.find_function(name);
    };
    Way way{.mechanism = ask.mechanism, .drive = ask.drive};
    way.relay = named(ask.relay);
    way.relay_to = named(ask.relay_to);
    way.nic_from = named(ask.nic_from);
    way.nic_to = named(ask.nic_to);
    way.staging = NumaId(0);
    way.carrier = ask.carrier;
    return way;
  }
};

PartId add_part(Machine& machine, std::string const& name, PartKind kind) {
  Part made;
  made.name = name;
  made.kind = kind;
  machine.parts.push_back(made);
  return PartId(machine.parts.size() - 1);
}
void join(Machine& m, std::string const& a, std::string const& b) {
  m.nvlinks.push_back({pci(m, a), pci(m, b), add_part(m, "nvlink", PartKind::Link), 2});
}
void join_cpu(Machine& m, std::string const& gpu) {
  m.nvlinks.push_back({pci(m, gpu), SocketId(0), add_part(m, "nvlink", PartKind::Link), 2});
}
void nvswitch(Machine& m) {
  auto const link = add_part(m, "nvlink", PartKind::Link);
  NvSwitch domain{"nvswitch", HostId(0), add_part(m, "nvswitch", PartKind::NvSwitch), link, {}, 0};
  for (auto const* gpu : {"gpu0", "gpu1", "gpu2"}) domain.ports.push_back({pci(m, gpu), 12});
  m.nvswitches.push_back(domain);
}
// cpu1 becomes a node of its own.
void second_node(Machine& m) {
  m.hosts.push_back(m.hosts.front());
  m.sockets[1].host = HostId(1);
}
void cable(Machine& m) {
  second_node(m);
  m.fabric = Fabric{};
  m.fabric->networks.push_back({"", "direct", Routing::Adaptive, 1});
  m.fabric->switches.push_back({"leaf0", 0, 1, std::nullopt});
  for (auto const* nic : {"nic0", "nic2"}) m.fabric->attachments.push_back({pci(m, nic), 0, std::nullopt});
}
// A domain joins gpu0 of one node with gpu4 of another.
void domain(Machine& m) {
  second_node(m);
  nvswitch(m);
  m.nvswitches.back().host.reset();
  m.nvswitches.back().ports = {{pci(m, "gpu0"), 12}, {pci(m, "gpu4"), 12}};
}
Software& software(Machine& m) { return m.hosts.front().software; }
Settings& settings(Machine& m) { return m.hosts.front().settings; }
void acs(Machine& m, std::string const& below, AcsControl control) { m.functions[index(pci(m, below))].acs = control; }
// The drive of the server becomes a capture card.
void to_card(Machine& m) {
  auto const drive = m.all(PciKind::Nvme).front();
  m.functions[index(drive)].kind = PciKind::Device;
  software(m).peermem = true;
}
void guest(Machine& m) { settings(m).virtualization.passthrough = true; }
void translated(Machine& m) {
  guest(m);
  settings(m).iommu = IommuMode::Vfio;
  settings(m).virtualization.ats = true;
  settings(m).acs = {true, AcsControl::kTranslationBlocking};
}
void forward(Machine& m, Forwarding writes, Forwarding reads) {
  for (auto const* cpu : {"cpu", "other-cpu"}) {
    part(m, cpu).cpu.forwarding = writes;
    part(m, cpu).cpu.read_forwarding = reads;
  }
}
void old_gpu(Machine& m, std::string const& capability) { part(m, "gpu").gpu.compute_capability = capability; }

std::vector<Case> const& cases() {
  auto const on_same_switch = Ask{M::PcieP2p, "gpu0", "gpu1"};
  auto const on_same_socket = Ask{M::PcieP2p, "gpu0", "gpu2"};
  auto const on_two_sockets = Ask{M::PcieP2p, "gpu0", "gpu4"};
  auto const read_same_socket =
      Ask{.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu2", .op = Op::Read, .drive = Drive::Pull};
  auto const atomic = Ask{M::PcieP2p, "gpu0", "gpu1", Op::Atomic};
  auto const eighth = Ask{.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu1", .peers_of_source = 8};
  auto const eighth_of_target = Ask{.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu1", .peers_of_target = 8};
  auto const nvlink = Ask{M::Nvlink, "gpu0", "gpu1"};
  auto const relay = Ask{.mechanism = M::NvlinkRelay, .from = "gpu0", .to = "gpu2", .relay = "gpu1"};
  auto const to_host = Ask{M::HostDma, "gpu0", "numa0"};
  auto const bar = Ask{M::BarCopy, "numa0", "gpu0"};
  auto const rdma = Ask{.mechanism = M::Rdma, .from = "numa0", .to = "nic0", .nic_from = "nic0"};
  auto const rdma_by_mpi =
      Ask{.mechanism = M::Rdma, .from = "numa0", .to = "nic0", .nic_from = "nic0", .carrier = Carrier::Mpi};
  auto const gdr_by_mpi =
      Ask{.mechanism = M::Gdr, .from = "gpu0", .to = "nic0", .nic_from = "nic0", .carrier = Carrier::Mpi};
  auto const across = Ask{.mechanism = M::Gdr, .from = "gpu0", .to = "gpu4", .nic_from = "nic0", .nic_to = "nic2"};
  auto const gdr = Ask{.mechanism = M::Gdr, .from = "gpu0", .to = "nic0", .nic_from = "nic0"};
  auto const gdr_far = Ask{.mechanism = M::Gdr, .from = "gpu0", .to = "nic1", .nic_from = "nic1"};
  auto const gdr_relay =
      Ask{.mechanism = M::GdrRelay, .from = "gpu0", .to = "nic1", .relay = "gpu2", .nic_from = "nic1"};
  auto const from_drive = Ask{M::StorageDirect, "nvme0", "gpu0"};
  auto const& from_card = from_drive;  // on a machine whose drive is a capture card
  auto const large = Ask{.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu1", .bytes = 224_MiB + 1_B};
  static std::vector<Case> const all{
      {"DEVICE-OFF", to_host, [](Machine& m) { m.functions[index(pci(m, "gpu0"))].off = true; },
       [](Machine& m) { m.functions[index(pci(m, "gpu1"))].off = true; }},
      {"GPU-RUNTIME", to_host, [](Machine& m) { software(m).cuda = false; }},
      {"P2P-MIG", on_same_switch, [](Machine& m) { m.functions[index(pci(m, "gpu1"))].mig = true; },
       [](Machine& m) { m.functions[index(pci(m, "gpu2"))].mig = true; }},
      {"ATOMIC-PCIE", atomic, [](Machine&) {},
       [](Machine& m) { part(m, "gpu").gpu.pcie_atomics = part(m, "gpu-too").gpu.pcie_atomics = true; }},
      {"NVLINK-NONE", nvlink, [](Machine& m) { join(m, "gpu0", "gpu2"); }, [](Machine& m) { join(m, "gpu0", "gpu1"); }},
      {"HOST-NVLINK-FIRST", to_host, [](Machine& m) { join_cpu(m, "gpu0"); }, [](Machine& m) { join_cpu(m, "gpu1"); }},
      {"NVLINK-FABRIC", nvlink,
       [](Machine& m) {
         nvswitch(m);
         software(m).fabric_manager = false;
       },
       nvswitch},
      {"LINK-RDMA-ONLY", Ask{M::Nvlink, "gpu0", "gpu1", Op::Write},
       [](Machine& m) {
         join(m, "gpu0", "gpu1");
         m.parts[index(m.nvlinks.back().part)].link.family = LinkFamily::GpuRoce;
       },
       [](Machine& m) { join(m, "gpu0", "gpu1"); }},
      {"NVLINK-IMEX", Ask{M::Nvlink, "gpu0", "gpu4"},
       [](Machine& m) {
         domain(m);
         m.hosts[1].software.imex = false;
       },
       domain},
      {"RELAY-NEIGHBOUR", relay, [](Machine& m) { join(m, "gpu0", "gpu1"); },
       [](Machine& m) {
         join(m, "gpu0", "gpu1");
         join(m, "gpu1", "gpu2");
       }},
      {"P2P-NVSWITCH-NO-FALLBACK", on_same_switch,
       [](Machine& m) {
         nvswitch(m);
         software(m).fabric_manager = false;
       }},
      {"P2P-NVLINK-FIRST", on_same_switch, [](Machine& m) { join(m, "gpu0", "gpu1"); },
       [](Machine& m) { join(m, "gpu0", "gpu2"); }},
      {"P2P-PRODUCT", on_same_switch, [](Machine& m) { part(m, "gpu").gpu.pcie_peer = false; }},
      {"P2P-CHIP", on_same_switch, [](Machine& m) { part(m, "gpu-too").gpu.chip = "ga102"; }},
      {"P2P-GUEST", on_same_socket, guest,
       [](Machine& m) {
         guest(m);
         settings(m).virtualization.cliques = {{"gpu0", "gpu2"}};
       }},
      {"P2P-GUEST", on_same_socket,
       [](Machine& m) {
         guest(m);
         settings(m).virtualization.cliques = {{"gpu0", "gpu1"}, {"gpu2", "gpu4"}};
       },
       [](Machine& m) {
         guest(m);
         settings(m).virtualization.approval = true;
       }},
      {"P2P-PEER-LIMIT", eighth, [](Machine&) {}, [](Machine& m) { part(m, "gpu").gpu.max_peers = 9; }},
      {"P2P-PEER-LIMIT", eighth_of_target, [](Machine&) {}, [](Machine& m) { part(m, "gpu-too").gpu.max_peers = 9; }},
      {"P2P-IOMMU-TRANSLATED", on_same_switch, [](Machine& m) { settings(m).iommu = IommuMode::Lazy; },
       [](Machine& m) {
         settings(m).iommu = IommuMode::Vfio;
         guest(m);
       }},
      {"P2P-ACS-BLOCKED", on_same_switch, translated,
       [](Machine& m) {
         translated(m);
         settings(m).virtualization.ats = false;
       }},
      {"P2P-RC-UNKNOWN", on_same_socket, [](Machine& m) { m.sockets[0].part.reset(); }},
      {"P2P-SOCKET", on_two_sockets, [](Machine& m) { forward(m, Forwarding::SameSocket, Forwarding::Any); }},
      {"P2P-RC-WRITE", on_same_socket, [](Machine& m) { forward(m, Forwarding::SameHostBridge, Forwarding::Any); },
       [](Machine& m) { forward(m, Forwarding::SameSocket, Forwarding::None); }},
      {"P2P-RC-READ", read_same_socket, [](Machine& m) { forward(m, Forwarding::Any, Forwarding::None); },
       [](Machine& m) { forward(m, Forwarding::None, Forwarding::SameSocket); }},
      {"BAR-GDRCOPY", bar, [](Machine& m) { software(m).gdrcopy = false; }},
      {"BAR-NONE", bar, [](Machine& m) { part(m, "gpu").gpu.bar1.reset(); }},
      {"BAR-NONE", bar, [](Machine& m) { part(m, "gpu").gpu.bar1 = 32_MiB; },
       [](Machine& m) { part(m, "gpu").gpu.bar1 = 64_MiB; }},
      {"NET-NONE", across, second_node, cable},
      {"NET-VERBS", rdma, [](Machine& m) { part(m, "nic").nic.rdma = false; }},
      {"MPI-CUDA", gdr_by_mpi, [](Machine&) {}, [](Machine& m) { software(m).cuda_aware_mpi = true; }},
      {"MPI-MESSAGES", rdma_by_mpi, [](Machine& m) { part(m, "nic").nic.rdma = false; }},
      {"GDR-NIC", gdr, [](Machine& m) { part(m, "nic").nic.gpudirect = false; }},
      {"GDR-PRODUCT", gdr, [](Machine& m) { part(m, "gpu").gpu.rdma = false; }},
      {"GDR-REGISTRATION", gdr, [](Machine& m) { software(m).peermem = software(m).dma_buf = false; },
       [](Machine& m) { software(m).peermem = false; }},
      {"GDR-IOMMU-TRANSLATED", gdr,
       [](Machine& m) {
         software(m).dma_buf = false;
         settings(m).iommu = IommuMode::Strict;
       },
       [](Machine& m) { settings(m).iommu = IommuMode::Strict; }},
      {"GDR-P2PDMA", gdr_far,
       [](Machine& m) {
         software(m).peermem = false;
         part(m, "cpu").cpu.p2pdma = P2pdma::No;
       },
       [](Machine& m) { software(m).peermem = false; }},
      {"GDR-P2PDMA", gdr_far,
       [](Machine& m) {
         software(m).peermem = false;
         part(m, "cpu").cpu.p2pdma = P2pdma::SameHostBridge;
       },
       [](Machine& m) {
         software(m).peermem = false;
         part(m, "cpu").cpu.p2pdma = P2pdma::SameHostBridge;
         for (auto& f : m.functions) f.host_bridge = HostBridgeId(0);
       }},
      {"GDR-P2PDMA", gdr,
       [](Machine& m) {  // a redirect that the NIC's requests never meet
         software(m).peermem = false;
         part(m, "cpu").cpu.p2pdma = P2pdma::No;
         m.functions[index(pci(m, "gpu0"))].acs = AcsControl::on();
       },
       [](Machine& m) {
         software(m).peermem = false;
         part(m, "cpu").cpu.p2pdma = P2pdma::No;
       }},
      {"GDR-READ-PRE-AMPERE", gdr_far,
       [](Machine& m) {
         old_gpu(m, "7.0");
         part(m, "gpu").gpu.nvlink_ports = 0;
       },
       [](Machine& m) { old_gpu(m, "7.0"); }},
      {"GDR-READ-PRE-AMPERE", gdr_far,
       [](Machine& m) {
         old_gpu(m, "7.5");
         part(m, "gpu").gpu.nvlink_ports = 0;
       },
       [](Machine& m) { part(m, "gpu").gpu.nvlink_ports = 0; }},
      {"GDR-RELAY-NEIGHBOUR", gdr_relay, [](Machine& m) { join(m, "gpu0", "gpu1"); },
       [](Machine& m) { join(m, "gpu0", "gpu2"); }},
      {"GDS-SOFTWARE", from_drive, [](Machine& m) { software(m).gpudirect_storage = false; }},
      {"GDS-IOMMU", from_drive, [](Machine& m) { settings(m).iommu = IommuMode::Lazy; }},
      {"GDS-IOMMU", from_drive, [](Machine& m) { part(m, "cpu").cpu.vendor = "nvidia"; },
       [](Machine& m) {
         part(m, "cpu").cpu.vendor = "nvidia";
         settings(m).iommu = IommuMode::Strict;
       }},
      {"DEV-REGISTRATION", from_card,
       [](Machine& m) {
         to_card(m);
         software(m).peermem = software(m).dma_buf = false;
       },
       to_card},
      {"DEV-IOMMU-TRANSLATED", from_card,
       [](Machine& m) {
         to_card(m);
         software(m).dma_buf = false;
         settings(m).iommu = IommuMode::Lazy;
       },
       [](Machine& m) {
         to_card(m);
         software(m).dma_buf = true;
         settings(m).iommu = IommuMode::Lazy;
       }},
      {"P2P-ACS-REDIRECT", on_same_switch, [](Machine& m) { acs(m, "gpu0", AcsControl::on()); },
       [](Machine& m) { acs(m, "gpu1", AcsControl::on()); }},
      {"P2P-ACS-UNKNOWN", on_same_switch, [](Machine& m) { acs(m, "gpu0", AcsControl::unknown()); },
       [](Machine& m) { acs(m, "gpu1", AcsControl::unknown()); }},
      {"BAR1-WINDOW", large, [](Machine& m) { part(m, "gpu").gpu.bar1 = 256_MiB; },
       [](Machine& m) { part(m, "gpu").gpu.bar1 = 512_MiB; }},
      {"ATOMIC-STAGED", {M::HostStaged, "gpu0", "gpu1", Op::Atomic}, [](Machine&) {}},
  };
  return all;
}

bool remarked(Attempt const& attempt, Rule const* rule) {
  auto const found = remarks(attempt);
  return std::find(found.begin(), found.end(), rule) != found.end();
}

std::string said(Rule const* rule) { return rule == nullptr ? "legal" : std::string(rule->id); }

TEST(Rules, EachSpeaksWhereItShouldAndOnlyThere) {
  for (auto const& one : cases()) {
    SCOPED_TRACE(one.id);
    auto const* rule = find_rule(one.id);
    ASSERT_NE(rule, nullptr);
    Asked const yes(one.ask, one.speaks);
    EXPECT_TRUE(rule->applies(yes.attempt));
    EXPECT_EQ(said(refusal(yes.attempt)), rule->refuses ? one.id : "legal");
    EXPECT_EQ(remarked(yes.attempt, rule), !rule->refuses);
    if (one.id == "ATOMIC-STAGED" || one.id == "MPI-MESSAGES") continue;  // no machine changes them; below
    Asked const no(one.ask, one.silent);
    EXPECT_FALSE(rule->applies(no.attempt));
    EXPECT_EQ(said(refusal(no.attempt)), "legal");
    EXPECT_FALSE(remarked(no.attempt, rule));
  }
}

TEST(Rules, HaveACaseEach) {
  std::set<std::string_view> covered;
  for (auto const& one : cases()) covered.insert(one.id);
  for (auto const& rule : all_rules()) EXPECT_TRUE(covered.contains(rule.id)) << rule.id;
  EXPECT_EQ(covered.size(), all_rules().size());
}

TEST(Rules, SayWhatTheyMeanAndWhereItIsFrom) {
  std::set<std::string_view> ids;
  for (auto const& rule : all_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.sentence.empty() || rule.source.empty()) << rule.id;
    EXPECT_EQ(find_rule(rule.id), &rule);
  }
  EXPECT_EQ(find_rule("P2P-NOBODY"), nullptr);
}

TEST(Rules, EachIsAskedForSomeMechanism) {
  std::set<Rule const*> asked;
  for (auto const mechanism : all_mechanisms())
    for (auto const* rule : rules_of(mechanism)) {
      ASSERT_NE(rule, nullptr) << to_string(mechanism);
      asked.insert(rule);
    }
  EXPECT_EQ(asked.size(), all_rules().size());
}

TEST(Rules, OnlyMessagesAreSaidToBeMessages) {
  auto const* rule = find_rule("MPI-MESSAGES");
  Asked const by_verbs({.mechanism = M::Rdma, .from = "numa0", .to = "nic0", .nic_from = "nic0"}, [](Machine&) {});
  EXPECT_FALSE(rule->applies(by_verbs.attempt));
  EXPECT_FALSE(remarked(by_verbs.attempt, rule));
}

TEST(Rules, AnAtomicIsRefusedByEveryFormThatStages) {
  for (auto const mechanism : {M::HostStaged, M::SharedHost}) {
    Asked const atomic({mechanism, "gpu0", "gpu1", Op::Atomic}, [](Machine&) {});
    EXPECT_EQ(said(refusal(atomic.attempt)), "ATOMIC-STAGED") << to_string(mechanism);
    Asked const copy({mechanism, "gpu0", "gpu1", Op::Copy}, [](Machine&) {});
    EXPECT_EQ(said(refusal(copy.attempt)), "legal") << to_string(mechanism);
  }
  Asked const linked({M::Nvlink, "gpu0", "gpu1", Op::Atomic}, [](Machine& m) { join(m, "gpu0", "gpu1"); });
  EXPECT_EQ(said(refusal(linked.attempt)), "legal");
}

// physics of old Xeons: writes within a socket go through, reads do not.
TEST(Rules, WritesAndReadsAreForwardedApart) {
  auto const writes_only = [](Machine& m) { forward(m, Forwarding::SameSocket, Forwarding::None); };
  Asked const push({.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu2"}, writes_only);
  EXPECT_EQ(said(refusal(push.attempt)), "legal");
  Asked const pull({.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu2", .drive = Drive::Pull}, writes_only);
  EXPECT_EQ(said(refusal(pull.attempt)), "P2P-RC-READ");
  Asked const send({.mechanism = M::Gdr, .from = "gpu0", .to = "nic1", .nic_from = "nic1"}, writes_only);
  EXPECT_EQ(said(refusal(send.attempt)), "P2P-RC-READ");
  Asked const receive({.mechanism = M::Gdr, .from = "nic1", .to = "gpu0", .nic_to = "nic1"}, writes_only);
  EXPECT_EQ(said(refusal(receive.attempt)), "legal");
}

TEST(Rules, ACompletionRedirectIsRemarkedOnReadsOnly) {
  auto const redirected = [](Machine& m) { acs(m, "gpu0", {true, AcsControl::kCompletionRedirect}); };
  auto const* rule = find_rule("P2P-ACS-REDIRECT");
  for (auto const drive : {Drive::Push, Drive::Pull}) {
    Asked const asked({.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu1", .drive = drive}, redirected);
    EXPECT_EQ(remarked(asked.attempt, rule), drive == Drive::Pull);
  }
}

// The root complex decides where ACS sends packets up, as if no switch joined the two.
TEST(Rules, ARedirectedAccessNeedsARootComplexThatForwards) {
  auto const redirected = [](Machine& m) {
    settings(m).acs = AcsControl::on();
    forward(m, Forwarding::None, Forwarding::None);
  };
  Asked const asked({.mechanism = M::PcieP2p, .from = "gpu0", .to = "gpu1"}, redirected);
  EXPECT_EQ(said(refusal(asked.attempt)), "P2P-RC-WRITE");
}

TEST(PeerAccesses, AreWhatTheMechanismDoesOverPcie) {
  Asked const across({.mechanism = M::Gdr, .from = "gpu0", .to = "gpu4", .nic_from = "nic0", .nic_to = "nic2"}, cable);
  auto const both = peer_accesses(across.attempt);
  EXPECT_EQ(both.count, 2);
  EXPECT_EQ(both.first.initiator, pci(across.machine, "nic0"));
  EXPECT_EQ(both.first.target, pci(across.machine, "gpu0"));
  EXPECT_TRUE(both.first.read);
  EXPECT_EQ(both.second.initiator, pci(across.machine, "nic2"));
  EXPECT_FALSE(both.second.read);
  Asked const to_drive({M::StorageDirect, "gpu0", "nvme0"}, [](Machine&) {});
  auto const fetched = peer_accesses(to_drive.attempt);
  EXPECT_EQ(fetched.first.initiator, pci(to_drive.machine, "nvme0"));
  EXPECT_TRUE(fetched.first.read);
  EXPECT_EQ(peer_accesses(Asked({M::HostStaged, "gpu0", "gpu1"}, [](Machine&) {}).attempt).count, 0);
}

TEST(Bar1Window, LeavesOutWhatTheDriverKeeps) {
  Part gpu;
  EXPECT_FALSE(bar1_window(gpu));
  gpu.gpu.bar1 = 256_MiB;
  EXPECT_EQ(bar1_window(gpu), 224_MiB);
  gpu.gpu.bar1 = 16_MiB;
  EXPECT_EQ(bar1_window(gpu), 0_B);
  gpu.gpu.bar1 = 80_GiB;
  EXPECT_EQ(bar1_window(gpu), 80_GiB);
}

}  // namespace
}  // namespace lanewise
