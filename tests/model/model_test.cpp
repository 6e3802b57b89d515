#include "lanewise/model/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "core/model/quirks.hpp"
#include "core/model/resources/overheads.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/machines.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::machine_from;
using test::part;
using test::pci;
using ::testing::HasSubstr;

// Every figure that the sums below use stands here.
Machine test_machine() {
  return machine_from(R"(lanewise: machine/1
machine: test_machine
settings: {acs: off, iommu: pt, virtualization: none}
parts:
  cpu: {kind: cpu, vendor: amd, host_bridges: per_root_port, max_payload: 256 B, memory_bandwidth: 200 GB/s, memory_latency: 60 ns, root_complex_latency: 370 ns,
        core_copy_bandwidth: 9 GB/s, peer_write_forwarding: any, peer_read_forwarding: any, iommu_walks: 20 M/s, iommu_walk_latency: 280 ns}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, compute_capability: "8.0", link: gen4 x16, max_payload: 256 B, max_read_request: 512 B, tags: 256, latency: 130 ns,
        memory_bandwidth: 1000 GB/s, bar1: 128 GiB, copy_engines: 3, max_peers: 8, nvlink_ports: 12}
  sw: {kind: switch, link: gen4 x16, max_payload: 256 B, latency: 105 ns}
  upi: {kind: link, family: socket, rate: 20 GB/s, latency: 100 ns}
  nvlink: {kind: link, family: nvlink, generation: 3, rate: 25 GB/s, copy_efficiency: 0.9, load_store_efficiency: 0.8, latency: 700 ns}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: sw
        ports:
          - {gpu: gpu0, part: gpu}
          - {gpu: gpu1, part: gpu}
          - switch: sw1
            part: sw
            ports: [{gpu: gpu2, part: gpu}]
      - {root_port: rp1, gpu: gpu3, part: gpu}
      - {root_port: rp2, gpu: gpu4, part: gpu}
      - {root_port: rp3, gpu: blank, part: unknown}
  - socket: cpu1
    part: cpu
    pcie:
      - {root_port: rp4, gpu: gpu5, part: gpu}
socket_links: [{between: [cpu0, cpu1], part: upi, count: 2}]
nvlinks: [{between: [gpu3, gpu4], part: nvlink, count: 2}]
)");
}

double const kGen4 = 16 * 16 * (128.0 / 130) / 8 * (256.0 / 286) * 0.93;  // GB/s, one direction of x16

Demand lower(Model const& model, std::string const& from, std::string const& to, Way const& way, Op op = Op::Copy,
             Bytes bytes = 256_MiB) {
  auto const& machine = model.machine();
  return model.lower(machine.place(from), machine.place(to), bytes, op, way);
}
Demand push(Model const& model, std::string const& from, std::string const& to) {
  return lower(model, from, to, {.mechanism = Mechanism::PcieP2p});
}
Demand pull(Model const& model, std::string const& from, std::string const& to) {
  return lower(model, from, to, {.mechanism = Mechanism::PcieP2p, .drive = Drive::Pull});
}

// The weight with which a demand takes a resource; 0 where it does not.
double weight(Model const& model, Demand const& demand, std::string const& name) {
  for (auto const& use : demand.uses)
    if (model.resources().at(use.resource).name == name) return use.weight.ratio();
  return 0;
}
double capacity(Model const& model, Demand const& demand, std::string const& name) {
  for (auto const& use : demand.uses)
    if (model.resources().at(use.resource).name == name)
      return model.resources().at(use.resource).capacity->value() / 1e9;
  return 0;
}
double ns(Seconds time) { return time.value() * 1e9; }
double rate_of(Model const& model, Demand const& demand, Bytes bytes = 256_MiB) {
  return model.cost(demand, bytes)->rate.value() / 1e9;
}

// ---------------------------------------------------------------------------------------------------------- latencies

TEST(PeerLatency, IsTheSumOfWhatLiesOnTheWay) {
  Model const model(test_machine());
  EXPECT_NEAR(ns(push(model, "gpu0", "gpu1").path), 130 + 105 + 130, 1e-6);
  EXPECT_NEAR(ns(push(model, "gpu2", "gpu0").path), 130 + 105 + 105 + 130, 1e-6);  // two switches
  EXPECT_NEAR(ns(push(model, "gpu3", "gpu4").path), 130 + 370 + 130, 1e-6);        // root complex
  EXPECT_NEAR(ns(push(model, "gpu0", "gpu3").path), 130 + 105 + 370 + 130, 1e-6);
  EXPECT_NEAR(ns(push(model, "gpu3", "gpu5").path), 130 + 370 + 100 + 130, 1e-6);  // and a socket hop
  EXPECT_NEAR(ns(push(model, "gpu0", "gpu1").start), 1300, 1e-6);                  // the copy engine
}

TEST(PeerLatency, OfAReadIsTheRoundTrip) {
  Model const model(test_machine());
  EXPECT_NEAR(ns(pull(model, "gpu0", "gpu1").path), 2 * (130 + 105 + 130), 1e-6);
  EXPECT_NEAR(ns(pull(model, "gpu3", "gpu4").path), 2 * (130 + 370 + 130), 1e-6);
}

TEST(PeerLatency, OfARedirectedWriteTurnsAtTheRootComplex) {
  auto machine = test_machine();
  machine.hosts.front().settings.acs = AcsControl::on();
  Model const model(machine);
  EXPECT_NEAR(ns(push(model, "gpu0", "gpu1").path), 130 + 105 + 370 + 105 + 130, 1e-6);
}

TEST(HostLatency, IsHalfARootComplexAndForReadsARoundTripWithDram) {
  Model const model(test_machine());
  EXPECT_NEAR(ns(lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma}).path), 130 + 185, 1e-6);
  EXPECT_NEAR(ns(lower(model, "gpu0", "numa0", {.mechanism = Mechanism::HostDma}).path), 130 + 105 + 185, 1e-6);
  EXPECT_NEAR(ns(lower(model, "gpu3", "numa1", {.mechanism = Mechanism::HostDma}).path), 130 + 185 + 100, 1e-6);
  EXPECT_NEAR(ns(lower(model, "numa0", "gpu3", {.mechanism = Mechanism::HostDma}).path), 2 * (130 + 185) + 60, 1e-6);
}

// ---------------------------------------------------------------------------------------------------------- PCIe paths

TEST(PeerPath, BelowASwitchTakesTheTwoLinks) {
  Model const model(test_machine());
  auto const demand = push(model, "gpu0", "gpu1");
  EXPECT_EQ(demand.uses.size(), 2U);
  EXPECT_EQ(weight(model, demand, "gpu0.pcie.up"), 1);
  EXPECT_EQ(weight(model, demand, "gpu1.pcie.down"), 1);
  EXPECT_EQ(model.text_of(demand.route), "gpu0 > sw0 > gpu1");
  EXPECT_NEAR(rate_of(model, demand), kGen4, 1e-9);
  auto const cost = *model.cost(demand, 256_MiB);
  EXPECT_NEAR(cost.time.value(), 1.665e-6 + 268435456 / (kGen4 * 1e9), 1e-12);
}

TEST(PeerPath, RedirectedGoesUpAndDownTheUplink) {
  auto machine = test_machine();
  machine.functions[index(pci(machine, "gpu0"))].acs = AcsControl::on();
  Model const model(machine);
  auto const there = push(model, "gpu0", "gpu1");
  for (auto const* name : {"gpu0.pcie.up", "sw0.pcie.up", "sw0.pcie.down", "gpu1.pcie.down"})
    EXPECT_EQ(weight(model, there, name), 1) << name;
  EXPECT_EQ(model.text_of(there.route), "gpu0 > sw0 > rp0 > cpu0 > rp0 > sw0 > gpu1");
  auto const back = push(model, "gpu1", "gpu0");
  EXPECT_EQ(weight(model, back, "sw0.pcie.up"), 0);
  EXPECT_EQ(back.uses.size(), 2U);
}

// A read asks against the data: 24 B for 512 B, a twentieth.
TEST(PeerPath, OfAReadCarriesRequestsTheOtherWay) {
  Model const model(test_machine());
  auto const demand = pull(model, "gpu0", "gpu1");
  EXPECT_EQ(weight(model, demand, "gpu0.pcie.up"), 1);
  EXPECT_EQ(weight(model, demand, "gpu1.pcie.down"), 1);
  EXPECT_DOUBLE_EQ(weight(model, demand, "gpu1.pcie.up"), 0.05);
  EXPECT_DOUBLE_EQ(weight(model, demand, "gpu0.pcie.down"), 0.05);
}

TEST(PeerPath, OfAReadIsBoundByOutstandingRequests) {
  auto machine = test_machine();
  part(machine, "gpu").pcie.tags = 32;
  Model const model(machine);
  auto const demand = pull(model, "gpu3", "gpu4");
  EXPECT_NEAR(rate_of(model, demand), 32 * 512 / 1260.0, 1e-9);  // round trip 2 x (130 + 370 + 130) ns
  EXPECT_EQ(model.text_of_binding(*model.cost(demand, 1_MiB)), "outstanding reads");
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "gpu4")), kGen4, 1e-9);
}

TEST(PeerPath, ReadsThroughTheRootComplexMayBeSlow) {
  auto machine = test_machine();
  part(machine, "cpu").cpu.peer_read_bandwidth = 3.5_GBps;
  Model const model(machine);
  EXPECT_NEAR(rate_of(model, pull(model, "gpu3", "gpu4")), 3.5, 1e-9);
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "gpu4")), kGen4, 1e-9);
  EXPECT_NEAR(rate_of(model, pull(model, "gpu0", "gpu1")), kGen4, 1e-9);  // the switch turns these
}

// An Intel root complex sends peer packets on in 64 B: (256/286) / (64/94) more of the link.
TEST(PeerPath, SmallForwardedPacketsTakeMoreOfTheLinkDown) {
  auto machine = test_machine();
  part(machine, "cpu").cpu.peer_payload = 64_B;
  Model const model(machine);
  double const penalty = (256.0 / 286) / (64.0 / 94);
  auto const demand = push(model, "gpu3", "gpu4");
  EXPECT_NEAR(rate_of(model, demand), kGen4 / penalty, 1e-9);
  EXPECT_EQ(weight(model, demand, "gpu3.pcie.up"), 1);
  EXPECT_NEAR(weight(model, demand, "gpu4.pcie.down"), penalty, 0.025);
  EXPECT_EQ(model.text_of_binding(*model.cost(demand, 1_MiB)), "packet payload");
  EXPECT_NEAR(rate_of(model, push(model, "gpu0", "gpu1")), kGen4, 1e-9);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "gpu3", {.mechanism = Mechanism::HostDma})), kGen4,
              1e-9);  // memory is no peer
}

TEST(PeerPath, AcrossSocketsTakesTheirLink) {
  auto machine = test_machine();
  Model const wide(machine);
  auto const demand = push(wide, "gpu3", "gpu5");
  EXPECT_EQ(weight(wide, demand, "cpu0-cpu1.forth"), 1);
  EXPECT_EQ(weight(wide, demand, "cpu0-cpu1.back"), 0);
  EXPECT_NEAR(capacity(wide, demand, "cpu0-cpu1.forth"), 40, 1e-9);  // two links of 20
  EXPECT_EQ(weight(wide, push(wide, "gpu5", "gpu3"), "cpu0-cpu1.back"), 1);
  part(machine, "cpu").cpu.socket_peer_bandwidth = 12.0_GBps;
  part(machine, "cpu").cpu.socket_peer_bandwidth_both = 18.0_GBps;
  Model const narrow(machine);
  EXPECT_NEAR(rate_of(narrow, push(narrow, "gpu3", "gpu5")), 12, 1e-9);
  EXPECT_EQ(weight(narrow, push(narrow, "gpu3", "gpu5"), "cpu0-cpu1.peer.both"), 1);
  EXPECT_NEAR(rate_of(narrow, lower(narrow, "gpu3", "numa1", {.mechanism = Mechanism::HostDma})), kGen4,
              1e-9);  // memory traffic is not peer traffic
}

TEST(PeerPath, ThroughAHostBridgeIsBoundByIt) {
  auto machine = test_machine();
  part(machine, "cpu").cpu.host_bridge_peer_bandwidth = 9.0_GBps;
  Model const bridged(machine);
  EXPECT_NEAR(rate_of(bridged, push(bridged, "gpu3", "gpu4")), 9, 1e-9);
}

TEST(PeerPath, BetweenSocketsIsBoundByTheRootPortsOfBothEnds) {
  auto machine = test_machine();
  part(machine, "cpu").cpu.socket_peer_port_bandwidth = 11.0_GBps;
  part(machine, "cpu").cpu.socket_peer_port_bandwidth_both = 15.0_GBps;
  Model const model(machine);
  auto const demand = push(model, "gpu3", "gpu5");
  EXPECT_NEAR(rate_of(model, demand), 11, 1e-9);
  EXPECT_EQ(weight(model, demand, "gpu3.remote.out"), 1);
  EXPECT_EQ(weight(model, demand, "gpu5.remote.in"), 1);
  EXPECT_EQ(weight(model, demand, "gpu5.remote.both"), 1);
  EXPECT_NEAR(capacity(model, demand, "cpu0-cpu1.peer.forth"), 40 * 0.8, 1e-9);  // all ports of a socket
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "gpu4")), kGen4, 1e-9);         // the same socket
  EXPECT_EQ(weight(model, lower(model, "gpu3", "numa1", {.mechanism = Mechanism::HostDma}), "gpu3.remote.out"), 0);
}

// ---------------------------------------------------------------------------------------------- host memory under load

TEST(HostAccess, WritesReadsAndBothHaveLimitsOfTheirOwn) {
  auto machine = test_machine();
  auto& cpu = part(machine, "cpu").cpu;
  cpu.host_write_bandwidth = 7.0_GBps;
  cpu.host_read_bandwidth = 8.0_GBps;
  cpu.host_traffic_bandwidth = 13.0_GBps;
  Model const model(machine);
  auto const write = lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma});
  auto const read = lower(model, "numa0", "gpu3", {.mechanism = Mechanism::HostDma});
  EXPECT_NEAR(rate_of(model, write), 7, 1e-9);
  EXPECT_NEAR(rate_of(model, read), 8, 1e-9);
  EXPECT_EQ(weight(model, write, "cpu0.host.writes"), 1);
  EXPECT_EQ(weight(model, write, "cpu0.host.reads"), 0);
  EXPECT_EQ(weight(model, read, "cpu0.host.reads"), 1);
  EXPECT_NEAR(capacity(model, read, "cpu0.host.traffic"), 13, 1e-9);
  EXPECT_EQ(weight(model, write, "cpu0.host.traffic"), 1);
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "gpu4")), kGen4, 1e-9);  // peers do not meet host memory
}

TEST(HostAccess, AHostBridgeCarriesItsDevicesMemoryTrafficInEachDirection) {
  auto machine = test_machine();
  part(machine, "cpu").cpu.host_bridge_memory_bandwidth = 6.0_GBps;
  Model const model(machine);
  EXPECT_NEAR(rate_of(model, lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma})), 6, 1e-9);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "gpu3", {.mechanism = Mechanism::HostDma})), 6, 1e-9);
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "gpu4")), kGen4, 1e-9);
}

// 20 M walks a second of 4 KiB pages.
TEST(Iommu, TranslatedTrafficPassesTheWalker) {
  auto machine = test_machine();
  Model const passed(machine);
  EXPECT_EQ(weight(passed, lower(passed, "gpu3", "numa0", {.mechanism = Mechanism::HostDma}), "cpu0.iommu"), 0);
  machine.hosts.front().settings.iommu = IommuMode::Lazy;
  Model const walked(machine);
  auto const demand = lower(walked, "gpu3", "numa0", {.mechanism = Mechanism::HostDma});
  EXPECT_EQ(weight(walked, demand, "cpu0.iommu"), 1);
  EXPECT_NEAR(capacity(walked, demand, "cpu0.iommu"), 20e6 * 4096 / 1e9, 1e-9);
  EXPECT_NEAR(ns(demand.path), 130 + 185 + 280, 1e-6);
  EXPECT_EQ(weight(walked, push(walked, "gpu0", "gpu1"), "cpu0.iommu"), 0);  // never reaches the root complex
  EXPECT_EQ(weight(walked, push(walked, "gpu3", "gpu4"), "cpu0.iommu"), 1);
  machine.hosts.front().settings.iommu_page = 2_MiB;
  Model const large(machine);
  EXPECT_NEAR(capacity(large, lower(large, "gpu3", "numa0", {.mechanism = Mechanism::HostDma}), "cpu0.iommu"),
              20e6 * 2097152 / 1e9, 1e-6);
  machine.hosts.front().settings.virtualization.ats = true;
  Model const cached(machine);
  auto const by_device = lower(cached, "gpu3", "numa0", {.mechanism = Mechanism::HostDma});
  EXPECT_EQ(weight(cached, by_device, "cpu0.iommu"), 0);
  EXPECT_NEAR(ns(by_device.path), 130 + 185, 1e-6);
}

// ------------------------------------------------------------------------------------------------------ other
// mechanisms

TEST(NvlinkPath, IsRateTimesLinksTimesWhatPacketsLeave) {
  Model const model(test_machine());
  auto const copied = lower(model, "gpu3", "gpu4", {.mechanism = Mechanism::Nvlink});
  EXPECT_NEAR(rate_of(model, copied), 2 * 25 * 0.9, 1e-9);
  EXPECT_NEAR(ns(copied.path), 2 * 700, 1e-6);  // the last write is answered
  auto const stored = lower(model, "gpu3", "gpu4", {.mechanism = Mechanism::Nvlink}, Op::LoadStore);
  EXPECT_NEAR(rate_of(model, stored), 2 * 25 * 0.8, 2 * 25 * 0.9 * 0.025);  // weights are twentieths
  EXPECT_NEAR(ns(stored.path), 700, 1e-6);
  EXPECT_TRUE(stored.engines.empty());
  EXPECT_EQ(copied.engines.size(), 1U);
}

TEST(NvlinkPath, DirectionsThatSlowEachOtherShareOneResource) {
  auto machine = test_machine();
  part(machine, "nvlink").link.duplex = 0.75;
  Model const model(machine);
  auto const demand = lower(model, "gpu3", "gpu4", {.mechanism = Mechanism::Nvlink});
  EXPECT_NEAR(capacity(model, demand, "gpu3-gpu4.nvlink.both"), 2 * 45 * 0.75, 1e-9);
  EXPECT_NEAR(rate_of(model, demand), 45, 1e-9);
}

// Read and written: half of 86 % of 1000 GB/s.
// In either GPU's stream the source's engine copies over NVLink; it is occupied until the last write is answered. A
// kernel that loads runs on the target.
TEST(NvlinkPath, CopiesUseTheEngineOfTheirSource) {
  Model const model(test_machine());
  auto const source = model.resources().peer_copy_engines(pci(model.machine(), "gpu3"));
  Way const push{.mechanism = Mechanism::Nvlink, .drive = Drive::Push};
  Way const pull{.mechanism = Mechanism::Nvlink, .drive = Drive::Pull};
  auto const from = model.machine().place("gpu3");
  auto const to = model.machine().place("gpu4");
  auto const pushed = model.lower(from, to, 4_B, Op::Copy, push);
  auto const pulled = model.lower(from, to, 4_B, Op::Copy, pull);
  ASSERT_EQ(pushed.engines.size(), 1U);
  ASSERT_EQ(pulled.engines.size(), 1U);
  EXPECT_EQ(*pushed.engines.begin(), source);
  EXPECT_EQ(*pulled.engines.begin(), source);
  EXPECT_NEAR((pulled.start - pushed.start).value(), overheads::kPulledStart.value(), 1e-12);
  EXPECT_NEAR(pushed.busy.value(), overheads::kCopyIntervalOfLargestChip.value() + 2 * 700e-9, 1e-12);
  EXPECT_TRUE(model.lower(from, to, 4_B, Op::LoadStore, pull).engines.empty());
}

TEST(LocalCopy, ReadsAndWritesTheMemory) {
  Model const model(test_machine());
  EXPECT_NEAR(rate_of(model, lower(model, "gpu0", "gpu0", {})), 430, 1e-9);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "numa1", {})), 9, 1e-9);  // one core
}

TEST(BarCopy, RunsAtWhatACoreGetsThroughBar1) {
  Model const model(test_machine());
  Way const way{.mechanism = Mechanism::BarCopy, .staging = NumaId(0)};
  auto const out = lower(model, "gpu3", "numa0", way);
  EXPECT_NEAR(rate_of(model, out), 0.44, 1e-12);
  EXPECT_NEAR(ns(out.start), 1100, 1e-6);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "gpu3", way)), 10, 1e-12);
}

// Both legs at once after the first chunk: start 2 x 4 + 2 x 1.3 + 2.5 us, 4.8 us between chunks,
// memory written and read.
TEST(HostStaged, IsAPipelineOfTwoLegs) {
  Model const model(test_machine());
  Way const way{.mechanism = Mechanism::HostStaged, .staging = NumaId(0), .chunk = 1_MiB};
  auto const demand = lower(model, "gpu3", "gpu4", way);
  EXPECT_NEAR(ns(demand.start), 13100, 1e-6);
  EXPECT_EQ(weight(model, demand, "numa0.memory"), 2);
  EXPECT_NEAR(capacity(model, demand, "numa0.memory"), 200 * 0.84, 1e-9);
  double const fill = 1048576 / (kGen4 * 1e9);
  EXPECT_NEAR(demand.path.value(), (130 + 185) * 1e-9 + (2 * (130 + 185) + 60) * 1e-9 + fill, 1e-13);
  EXPECT_NEAR(rate_of(model, demand), 1048576 / (fill + 4.8e-6) / 1e9, 1e-9);
  EXPECT_EQ(model.text_of_binding(*model.cost(demand, 256_MiB)), "time between chunks");
  EXPECT_EQ(demand.engines.size(), 2U);
}

// The driver's own: 1 MiB chunks whose legs overlap, and 7.8 us after each in which nothing moves.
TEST(HostStaged, ByTheDriverPausesBetweenChunks) {
  Model const model(test_machine());
  Way const way{.mechanism = Mechanism::HostStaged, .staging = NumaId(0), .by_driver = true};
  auto const demand = lower(model, "gpu3", "gpu4", way);
  EXPECT_NEAR(ns(demand.start), 15600, 1e-6);  // it waits for both legs
  double const leg = 1048576 / (kGen4 * 1e9);
  EXPECT_NEAR(rate_of(model, demand), 1048576 / (leg + 7.8e-6) / 1e9, 1e-9);
  EXPECT_NEAR(capacity(model, demand, "gpu3.host.both"), 2 * 0.74 * kGen4, 1e-9);
  EXPECT_NEAR(weight(model, demand, "gpu3.host.both"), (leg + 7.8e-6) / leg, 0.05);  // a pause is nobody else's
  auto in_turn = test_machine();
  part(in_turn, "gpu").gpu.staged_legs = StagedLegs::InTurn;
  Model const slower(in_turn);
  EXPECT_NEAR(rate_of(slower, lower(slower, "gpu3", "gpu4", way)), 1048576 / (2 * leg + 7.8e-6) / 1e9, 1e-9);
  // Below one switch too: legs that take turns do not meet on the uplink.
  EXPECT_NEAR(rate_of(slower, lower(slower, "gpu0", "gpu1", way)), 1048576 / (2 * leg + 7.8e-6) / 1e9, 1e-9);
  EXPECT_EQ(weight(slower, lower(slower, "gpu0", "gpu1", way), "sw0.host.both"), 0);
}

TEST(HostDuplex, IsLessLostWithGenerationFive) {
  Model const model(test_machine());
  auto const out = lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma});
  EXPECT_NEAR(capacity(model, out, "gpu3.host.both"), 2 * 0.74 * kGen4, 1e-9);
  auto newer = test_machine();
  newer.functions[index(pci(newer, "gpu3"))].link = PcieLink{5, 16};
  Model const less(newer);
  auto const faster = lower(less, "gpu3", "numa0", {.mechanism = Mechanism::HostDma});
  EXPECT_NEAR(capacity(less, faster, "gpu3.host.both") / capacity(less, faster, "gpu3.pcie.up"), 2 * 0.92, 1e-9);
  part(newer, "cpu").cpu.host_duplex = 1.0;
  Model const without(newer);
  EXPECT_EQ(weight(without, lower(without, "gpu3", "numa0", {.mechanism = Mechanism::HostDma}), "gpu3.host.both"), 0);
}

// 64 B at random over 4 MiB with 4 KiB pages: 1 - 64 x 4 KiB / 4 MiB of the DMAs walk, 20 million walks a second.
TEST(Iommu, SmallRandomDmaIsBoundByWalks) {
  auto machine = test_machine();
  machine.hosts.front().settings.iommu = IommuMode::Lazy;
  machine.hosts.front().settings.iommu_page = 4_KiB;
  Model const model(machine);
  auto const walked = [&](Bytes window) {
    return lower(model, "gpu3", "numa0",
                 {.mechanism = Mechanism::HostDma, .access = {.each = 64_B, .window = window, .random = true}});
  };
  EXPECT_NEAR(rate_of(model, walked(4_MiB)), 20e6 / (1 - 1.0 / 16) * 64 / 1e9, 1e-9);
  EXPECT_EQ(weight(model, walked(256_KiB), "cpu0.iommu"), 0);  // the IOTLB holds it
  EXPECT_NEAR(ns(walked(4_MiB).path) - ns(walked(256_KiB).path), 280 * 15.0 / 16, 1e-6);
}

// A write of 64 B takes 94 bytes of the wire, a full one 286 for 256.
TEST(DeviceDma, SmallPacketsTakeMoreOfTheLink) {
  Model const model(test_machine());
  auto const demand =
      lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma, .access = {.each = 64_B, .window = 4_KiB}});
  EXPECT_NEAR(rate_of(model, demand), kGen4 * (286.0 / 256) * (64.0 / 94), 1e-9);
  auto machine = test_machine();
  part(machine, "gpu").pcie.tags = 32;
  Model const few(machine);
  auto const read =
      lower(few, "numa0", "gpu3", {.mechanism = Mechanism::HostDma, .access = {.each = 64_B, .window = 4_KiB}});
  EXPECT_NEAR(rate_of(few, read), 32 * 64 / 690.0, 1e-9);  // tags x 64 B / round trip of 690 ns
}

TEST(LoadStore, ReadsInCacheLines) {
  auto machine = test_machine();
  part(machine, "gpu").pcie.tags = 128;
  Model const model(machine);
  Way const pull{.mechanism = Mechanism::PcieP2p, .drive = Drive::Pull};
  EXPECT_NEAR(rate_of(model, lower(model, "gpu3", "gpu4", pull, Op::LoadStore)), 128 * 128 / 1260.0, 1e-9);
  EXPECT_NEAR(rate_of(model, lower(model, "gpu0", "gpu1", pull)), kGen4, 1e-9);  // a copy engine asks for 512 B
}

// 2 MiB blocks: their bytes and 6 us, or 206 us where each is fetched by faults.
TEST(UnifiedMemory, PaysForEveryBlock) {
  Model const model(test_machine());
  Way const way{.mechanism = Mechanism::HostDma};
  double const bytes = 2097152 / (kGen4 * 1e9);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "gpu3", way, Op::Prefetch)), 2097152 / (bytes + 6e-6) / 1e9, 1e-9);
  EXPECT_NEAR(rate_of(model, lower(model, "numa0", "gpu3", way, Op::Fault)), 2097152 / (bytes + 206e-6) / 1e9, 1e-9);
  EXPECT_EQ(model.text_of_binding(*model.cost(lower(model, "numa0", "gpu3", way, Op::Fault), 1_GiB)), "page migration");
}

TEST(PageableMemory, IsCopiedByOneCoreOnTheWay) {
  Model const model(test_machine());
  auto const demand = lower(model, "numa0", "gpu3", {.mechanism = Mechanism::HostDma, .pageable = true});
  EXPECT_NEAR(rate_of(model, demand), 9, 1e-9);
  EXPECT_EQ(weight(model, demand, "numa0.memory"), 3);  // read, written, and read by the engine
}

TEST(HostMemory, IsCopiedByAsManyCoresAsThereAreUntilItIsBusy) {
  Model const model(test_machine());
  auto const by = [&](int cores) {
    return rate_of(model, lower(model, "numa0", "numa0", {.mechanism = Mechanism::Local, .cores = cores}));
  };
  auto const one = by(0);
  EXPECT_NEAR(one, 9, 1e-9);
  EXPECT_EQ(by(1), one);
  EXPECT_NEAR(by(3), 3 * one, 1e-9);
  auto const memory = lower(model, "numa0", "numa0", {.mechanism = Mechanism::Local, .cores = 1000});
  EXPECT_EQ(weight(model, memory, "numa0.memory"), 2);  // read and written
  EXPECT_EQ(model.text_of_binding(*model.cost(memory, 1_GiB)), "numa0.memory");
}

TEST(SetUp, IsPaidOnceAndNotInTheTime) {
  Model const model(test_machine());
  auto const peer = push(model, "gpu0", "gpu1");
  EXPECT_NEAR(peer.once.value(), 131e-3, 1e-12);
  EXPECT_LT(model.cost(peer, 4_KiB)->time.value(), 1e-5);
  EXPECT_EQ(lower(model, "gpu3", "numa0", {.mechanism = Mechanism::HostDma}).once.value(), 0);
}

TEST(Handover, FromAGpuToANicTakesTheCpu) {
  auto machine = test_machine();
  Model const model(machine);
  auto const gpu0 = machine.place("gpu0");
  Way const copied{.mechanism = Mechanism::PcieP2p};
  Way const sent{.mechanism = Mechanism::Gdr, .nic_from = PciId(0)};
  EXPECT_NEAR(ns(model.handover(gpu0, copied, sent)), 6500, 1e-6);
  EXPECT_EQ(model.handover(gpu0, copied, copied).value(), 0);
  EXPECT_EQ(model.handover(gpu0, sent, sent).value(), 0);
  // A staged send begins with a copy of the same stream; a core's copy and a drive's read are no GPU's work.
  EXPECT_EQ(model.handover(gpu0, copied, {.mechanism = Mechanism::NetStaged, .nic_from = PciId(0)}).value(), 0);
  EXPECT_EQ(model.handover(machine.place("numa0"), {.mechanism = Mechanism::Local}, sent).value(), 0);
  EXPECT_EQ(model.handover(gpu0, {.mechanism = Mechanism::StorageDirect}, sent).value(), 0);
  machine.hosts.front().software.gpudirect_async = true;
  EXPECT_EQ(Model(machine).handover(gpu0, copied, sent).value(), 0);
}

TEST(PostedWriteCollapse, NeedsTwoSourcesAndTwoOtherRootPorts) {
  auto machine = test_machine();
  auto const writes = [&](std::vector<std::pair<char const*, char const*>> const& pairs) {
    std::vector<PostedWrites> made;
    for (auto const& [from, to] : pairs) made.push_back({made.size(), pci(machine, from), pci(machine, to)});
    return posted_write_collapses(machine, made);
  };
  EXPECT_TRUE(writes({{"gpu0", "gpu3"}, {"gpu1", "gpu4"}}).empty());  // off unless the part carries it
  part(machine, "sw").pcie_switch.posted_write_collapse = 2.7_GBps;
  auto const found = writes({{"gpu0", "gpu3"}, {"gpu1", "gpu4"}, {"gpu3", "gpu0"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "sw0.posted_write_collapse");
  EXPECT_EQ(found[0].members, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(found[0].capacity, 2.7_GBps);
  EXPECT_TRUE(writes({{"gpu0", "gpu3"}, {"gpu1", "gpu3"}}).empty());  // one target
  EXPECT_TRUE(writes({{"gpu0", "gpu3"}, {"gpu0", "gpu4"}}).empty());  // one source
  EXPECT_TRUE(writes({{"gpu0", "gpu1"}, {"gpu1", "gpu2"}}).empty());  // below the uplink
}

TEST(SharedHost, LetsItsLegsTakeTurns) {
  Model const model(test_machine());
  auto const demand = lower(model, "gpu3", "gpu4", {.mechanism = Mechanism::SharedHost, .staging = NumaId(0)});
  EXPECT_NEAR(rate_of(model, demand), kGen4 / 2, 1e-9);
}

// sqrt(bytes x 1.3 us x rate), down to a power of two, 64 KiB to 8 MiB.
TEST(BestChunk, IsTheSquareRoot) {
  EXPECT_EQ(Model::best_chunk(256_MiB, 1.3_us, 25.0_GBps), 2_MiB);  // 2.95 MB
  EXPECT_EQ(Model::best_chunk(1_MiB, 1.3_us, 25.0_GBps), 128_KiB);  // 185 kB
  EXPECT_EQ(Model::best_chunk(1_KiB, 1.3_us, 25.0_GBps), 64_KiB);
  EXPECT_EQ(Model::best_chunk(64_GiB, 1.3_us, 50.0_GBps), 16_MiB);
  for (std::int64_t bytes = 1; bytes < (std::int64_t{1} << 40); bytes *= 3) {
    auto const chunk = Model::best_chunk(Bytes(bytes), 1.3_us, 26.2_GBps).value();
    EXPECT_EQ(chunk & (chunk - 1), 0) << bytes;
    auto const ideal = std::sqrt(static_cast<double>(bytes) * 1.3e-6 * 26.2e9);
    if (chunk > 64 << 10 && chunk < 8 << 20) {
      EXPECT_TRUE(static_cast<double>(chunk) <= ideal && ideal < 2.0 * static_cast<double>(chunk)) << bytes;
    }
  }
}

// ----------------------------------------------------------------------------------------------- overrides and
// unknowns

Machine measured(std::optional<Op> op, std::optional<BytesPerSecond> bandwidth, std::optional<Seconds> latency) {
  auto machine = test_machine();
  machine.overrides.push_back({machine.place("gpu0"), machine.place("gpu1"), op, bandwidth, latency, "a bench"});
  return machine;
}

TEST(OverrideOfAPair, WinsBelowAndAboveTheModel) {
  for (auto const rate : {5.0_GBps, 24.0_GBps, 27.5_GBps, 40.0_GBps, 400.0_GBps}) {
    Model const model(measured(std::nullopt, rate, 3.0_us));
    auto const demand = push(model, "gpu0", "gpu1");
    auto const cost = *model.cost(demand, 256_MiB);
    EXPECT_DOUBLE_EQ(cost.rate.value(), rate.value());
    EXPECT_NEAR(cost.time.value(), 3e-6 + 268435456 / rate.value(), 1e-12);
    EXPECT_EQ(model.text_of_binding(cost), "a measured override");
  }
}

TEST(OverrideOfAPair, IsOfItsDirectionItsOpAndItsFigure) {
  Model const model(measured(Op::Write, 5.0_GBps, std::nullopt));
  EXPECT_NEAR(rate_of(model, push(model, "gpu0", "gpu1")), kGen4, 1e-9);  // a copy, not a write
  auto const written = lower(model, "gpu0", "gpu1", {.mechanism = Mechanism::PcieP2p}, Op::Write);
  EXPECT_NEAR(rate_of(model, written), 5, 1e-9);
  EXPECT_NEAR(ns(written.path), 365, 1e-6);
  EXPECT_NEAR(rate_of(model, lower(model, "gpu1", "gpu0", {.mechanism = Mechanism::PcieP2p}, Op::Write)), kGen4, 1e-9);
  Model const quick(measured(std::nullopt, std::nullopt, 1.0_us));
  EXPECT_NEAR(ns(push(quick, "gpu0", "gpu1").latency()), 1000, 1e-6);
  EXPECT_NEAR(rate_of(quick, push(quick, "gpu0", "gpu1")), kGen4, 1e-9);
}

TEST(UnknownFigure, IsNamedAndHasNoCost) {
  Model const model(test_machine());
  auto const demand = push(model, "gpu3", "blank");
  ASSERT_TRUE(demand.unknown);
  EXPECT_EQ(model.resources().at(*demand.unknown).name, "blank.pcie.down");
  EXPECT_THAT(model.resources().at(*demand.unknown).missing, HasSubstr("the link of 'blank'"));
  EXPECT_FALSE(model.cost(demand, 1_MiB));
  auto machine = test_machine();
  part(machine, "upi").link.rate.reset();
  Model const unmeasured(machine);
  auto const across = push(unmeasured, "gpu3", "gpu5");
  ASSERT_TRUE(across.unknown);
  EXPECT_THAT(unmeasured.resources().at(*across.unknown).missing, HasSubstr("the rate of 'upi'"));
}

TEST(UnknownFigure, AnOverrideStandsInForIt) {
  auto machine = test_machine();
  machine.overrides.push_back(
      {machine.place("gpu3"), machine.place("blank"), std::nullopt, 11.0_GBps, std::nullopt, "a bench"});
  Model const model(machine);
  EXPECT_NEAR(rate_of(model, push(model, "gpu3", "blank")), 11, 1e-9);
}

// What two ends can do is assumed where the description does not say what they negotiated.
TEST(AssumedLink, IsTheLesserOfBothEnds) {
  auto machine = test_machine();
  part(machine, "sw").pcie.link = PcieLink{3, 8};
  Model const model(machine);
  EXPECT_NEAR(rate_of(model, push(model, "gpu0", "gpu1")), 8 * 8 * (128.0 / 130) / 8 * (256.0 / 286) * 0.93, 1e-9);
}

TEST(Payload, IsTheLesserOfBothEnds) {
  auto machine = test_machine();
  part(machine, "sw").pcie.max_payload = 128_B;
  Model const model(machine);
  EXPECT_NEAR(rate_of(model, push(model, "gpu0", "gpu1")), 16 * 16 * (128.0 / 130) / 8 * (128.0 / 158) * 0.93, 1e-9);
}

// Legs of a way share resources; two nodes have hundreds.
TEST(Demand, UsesEachResourceOnce) {
  for (auto const* name : {"a100x8-pcie-4sw", "dgx-1-v100", "gh200x4-2", "hgx-h100-2"}) {
    auto const machine = test::bundled().machine(name);
    Model const model(machine);
    Planner const planner(model);
    std::size_t ways = 0;
    for (auto const from : machine.all(PciKind::Gpu))
      for (auto const to : machine.all(PciKind::Gpu))
        for (auto const& evaluated : planner.choose({.from = from, .to = to, .bytes = 1_MiB}).evaluated) {
          if (evaluated.refused_by != nullptr) continue;
          std::set<ResourceId> used;
          for (auto const& use : model.lower(from, to, 1_MiB, Op::Copy, evaluated.way).uses)
            EXPECT_TRUE(used.insert(use.resource).second) << name << ": " << model.resources().at(use.resource).name;
          ++ways;
        }
    EXPECT_GT(ways, 100U) << name;
  }
}

}  // namespace
}  // namespace lanewise
