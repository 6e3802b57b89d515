// Choices and plans of single transfers on every bundled machine, limits on peers, NICs of clusters, and the checks of
// plans.
#include "lanewise/planner/planner.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "core/machine/path_class.hpp"
#include "core/planner/nic_selection.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::machine_from;
using test::pci;
using ::testing::HasSubstr;

Catalogue& bundled_catalogue() {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue;
}

Machine with(Machine machine, std::vector<std::string> const& settings) {
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), bundled_catalogue());
  return machine;
}

std::vector<Place> places_of(Machine const& machine) {
  std::vector<Place> places;
  for (auto const kind : {PciKind::Gpu, PciKind::Nic, PciKind::Nvme})
    for (auto const id : machine.all(kind)) places.emplace_back(id);
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i) places.emplace_back(NumaId(i));
  return places;
}

bool is_pipelined(Mechanism mechanism) {
  return mechanism == Mechanism::HostStaged || mechanism == Mechanism::NetStaged ||
         mechanism == Mechanism::StorageStaged || mechanism == Mechanism::NvlinkRelay ||
         mechanism == Mechanism::GdrRelay;
}

// For a read, a push counts only if no pull is legal.
bool is_push_for_read(Request const& request, Choice const& choice, EvaluatedWay const& evaluated) {
  auto const is_p2p = [](EvaluatedWay const& one, Drive drive) {
    return one.way.mechanism == Mechanism::PcieP2p && one.way.drive == drive;
  };
  return request.op == Op::Read && is_p2p(evaluated, Drive::Push) &&
         std::any_of(choice.evaluated.begin(), choice.evaluated.end(),
                     [&](EvaluatedWay const& one) { return is_p2p(one, Drive::Pull) && one.refused_by == nullptr; });
}

void expect_good_choice(Request const& request, Choice const& choice) {
  std::optional<Seconds> best;
  bool any_legal = false;
  for (auto const& evaluated : choice.evaluated) {
    EXPECT_FALSE(evaluated.refused_by != nullptr && evaluated.cost);
    if (evaluated.refused_by != nullptr) continue;
    any_legal = true;
    if (is_pipelined(evaluated.way.mechanism) && request.bytes > 8_MiB) {
      auto const chunk = evaluated.way.chunk.value();
      EXPECT_TRUE((chunk & (chunk - 1)) == 0 && chunk >= 64 << 10 && chunk <= 16 << 20) << chunk;
    }
    if (!evaluated.cost) continue;
    EXPECT_TRUE(std::isfinite(evaluated.cost->time.value()) && evaluated.cost->time > Seconds(0));
    EXPECT_GT(evaluated.cost->rate, BytesPerSecond(0));
    if (!is_push_for_read(request, choice, evaluated))
      best = best ? std::min(*best, evaluated.cost->time) : evaluated.cost->time;
  }
  EXPECT_EQ(choice.chosen.has_value(), any_legal);
  if (!choice.chosen) return;
  auto const& chosen = choice.evaluated.at(*choice.chosen);
  EXPECT_EQ(chosen.refused_by, nullptr);
  EXPECT_FALSE(is_push_for_read(request, choice, chosen));
  if (!best) return;
  ASSERT_TRUE(chosen.cost);
  EXPECT_LE(chosen.cost->time.value(), best->value() * 1.0011);
}

std::string text_of(Machine const& machine, Request const& request) {
  return fmt::format("{} -> {} {} {}", machine.name_of(request.from), machine.name_of(request.to),
                     request.bytes.value(), to_string(request.op));
}

// Random requests get a good choice or a PlanError. Those with a legal way make one plan that is read back from JSON.
void expect_properties(Machine const& machine, std::mt19937& random, int count) {
  Model const model(machine);
  Planner const planner(model);
  auto const places = places_of(machine);
  auto const pick = [&](auto const& from) { return from[random() % from.size()]; };
  std::vector<Bytes> const sizes{1_B, 4_KiB, 1_MiB, 64_MiB, 256_MiB, 4_GiB};
  std::vector<Op> const ops{Op::Copy, Op::Copy, Op::Write, Op::Read, Op::LoadStore, Op::Atomic};
  std::vector<Request> answered;
  for (int i = 0; i < count; ++i) {
    Request request{
        .id = fmt::format("t{}", i), .from = pick(places), .to = pick(places), .bytes = pick(sizes), .op = pick(ops)};
    SCOPED_TRACE(text_of(machine, request));
    try {
      auto const choice = planner.choose(request);
      expect_good_choice(request, choice);
      if (choice.chosen) answered.push_back(request);
    } catch (PlanError const&) {  // no mechanism moves data between such places
    }
  }
  if (answered.size() > 6) answered.resize(6);
  for (std::size_t i = 1; i < answered.size(); ++i) answered[i].after = {random() % i};
  auto const plan = planner.plan(answered);
  auto const text = to_json(plan, machine).dump();
  EXPECT_EQ(plan_from_json(nlohmann::ordered_json::parse(text), machine), plan);
}

std::vector<std::vector<std::string>> const& variants() {
  static std::vector<std::vector<std::string>> const all{{},
                                                         {"acs=on"},
                                                         {"acs=unknown"},
                                                         {"acs=off", "iommu=pt"},
                                                         {"iommu=translated"},
                                                         {"nvlink=off"},
                                                         {"virtualization=passthrough", "iommu=vfio"},
                                                         {"nvlink=off", "acs=on", "software.gdrcopy=true"}};
  return all;
}

TEST(EveryMachine, GetsGoodChoicesUnderEverySetting) {
  std::mt19937 random(20240607);
  ASSERT_FALSE(bundled_catalogue().machine_names().empty());
  for (auto const& name : bundled_catalogue().machine_names()) {
    auto const machine = bundled_catalogue().machine(name);
    for (auto const& variant : variants()) {
      SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(variant, " ")));
      expect_properties(with(machine, variant), random, test::rounds(40, 1'000));
    }
  }
}

TEST(EveryCluster, GetsGoodChoices) {
  std::mt19937 random(20240608);
  for (auto const& name : bundled_catalogue().cluster_names()) {
    SCOPED_TRACE(name);
    expect_properties(bundled_catalogue().machine(name), random, test::rounds(60, 2'000));
  }
}

// A request for one mechanism gets that one or nothing.
TEST(Choose, KeepsToTheMechanismAskedFor) {
  Model const model(bundled_catalogue().machine("a100x8-pcie-4sw"));
  auto const& machine = model.machine();
  Request request{
      .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 64_MiB, .only = Mechanism::HostStaged};
  for (auto const& evaluated : Planner(model).choose(request).evaluated)
    EXPECT_EQ(evaluated.way.mechanism, Mechanism::HostStaged);
  request.only = Mechanism::Gdr;
  EXPECT_THROW(static_cast<void>(Planner(model).choose(request)), PlanError);
}

Machine twelve() {
  std::string ports;
  for (int i = 0; i < 12; ++i) ports += fmt::format("      - {{root_port: rp{0}, gpu: gpu{0}, part: gpu}}\n", i);
  return machine_from(R"(lanewise: machine/1
machine: twelve
settings: {acs: off, iommu: pt, virtualization: none}
parts:
  cpu: {kind: cpu, vendor: amd, host_bridges: per_root_port, memory_bandwidth: 400 GB/s, peer_write_forwarding: any, peer_read_forwarding: any}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, compute_capability: "8.0", link: gen4 x16, memory_bandwidth: 1500 GB/s, bar1: 128 GiB, copy_engines: 3, max_peers: 8}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
)" + ports);
}

Request between(Machine const& machine, std::string const& from, std::string const& to) {
  return {.id = from + to, .from = machine.place(from), .to = machine.place(to), .bytes = 64_MiB};
}

std::vector<Mechanism> mechanisms_of(Plan const& plan) {
  std::vector<Mechanism> found;
  for (auto const& step : plan.steps) found.push_back(step.way.mechanism);
  return found;
}

TEST(PeerLimit, TheNinthPeerGoesThroughTheHost) {
  Model const model(twelve());
  std::vector<Request> requests;
  for (int i = 1; i < 12; ++i) requests.push_back(between(model.machine(), "gpu0", fmt::format("gpu{}", i)));
  auto const plan = Planner(model).plan(requests);
  std::vector<Mechanism> expected(8, Mechanism::PcieP2p);
  expected.resize(11, Mechanism::HostStaged);
  EXPECT_EQ(mechanisms_of(plan), expected);
  for (auto const& candidate : plan.decisions.back().candidates)
    if (candidate.way.mechanism == Mechanism::PcieP2p) {
      EXPECT_EQ(candidate.refused_by, "P2P-PEER-LIMIT");
    }
}

// Four GPUs below each of four switches, of which two share a host bridge with gpu15.
TEST(PeerLimit, TheNearestPeersAreMapped) {
  Model const model(bundled_catalogue().machine("rtx6000pro-x16-3root"));
  std::vector<Request> requests;
  for (int i = 0; i < 15; ++i) requests.push_back(between(model.machine(), "gpu15", fmt::format("gpu{}", i)));
  std::vector<Mechanism> expected(1, Mechanism::PcieP2p);
  expected.resize(8, Mechanism::HostStaged);
  expected.resize(15, Mechanism::PcieP2p);
  EXPECT_EQ(mechanisms_of(Planner(model).plan(requests)), expected);
}

TEST(PeerLimit, WhatCanOnlyUsePeerAccessIsMappedFirst) {
  Model const model(twelve());
  std::vector<Request> requests;
  for (int i = 1; i < 12; ++i) requests.push_back(between(model.machine(), "gpu0", fmt::format("gpu{}", i)));
  requests.back().only = Mechanism::PcieP2p;
  std::vector<Mechanism> expected(7, Mechanism::PcieP2p);
  expected.resize(10, Mechanism::HostStaged);
  expected.push_back(Mechanism::PcieP2p);
  EXPECT_EQ(mechanisms_of(Planner(model).plan(requests)), expected);
}

TEST(PeerLimit, CountsAPairOnceAndAtBothEnds) {
  Model const model(twelve());
  auto const& machine = model.machine();
  std::vector<Request> requests;
  for (int i = 1; i <= 8; ++i)
    requests.push_back(between(machine, fmt::format("gpu{}", i), "gpu0"));  // gpu0 is the target: full
  requests.push_back(between(machine, "gpu0", "gpu3"));                     // the same pair again
  requests.push_back(between(machine, "gpu9", "gpu0"));                     // a ninth
  requests.push_back(between(machine, "gpu9", "gpu10"));                    // others have room
  std::vector<Mechanism> expected(9, Mechanism::PcieP2p);
  expected.push_back(Mechanism::HostStaged);
  expected.push_back(Mechanism::PcieP2p);
  EXPECT_EQ(mechanisms_of(Planner(model).plan(requests)), expected);
}

TEST(ReadOverPcie, IsAPushIfNoPullIsLegal) {
  auto machine = twelve();
  auto const chosen = [](Machine const& on) {
    Model const model(on);
    auto request = between(on, "gpu0", "gpu1");
    request.op = Op::Read;
    auto const choice = Planner(model).choose(request);
    return choice.evaluated.at(*choice.chosen).way;
  };
  EXPECT_EQ(chosen(machine).drive, Drive::Pull);
  test::part(machine, "cpu").cpu.read_forwarding = Forwarding::None;
  EXPECT_EQ(chosen(machine).mechanism, Mechanism::PcieP2p);
  EXPECT_EQ(chosen(machine).drive, Drive::Push);
}

Way chosen_way(Model const& model, std::string const& from, std::string const& to) {
  auto const choice = Planner(model).choose(between(model.machine(), from, to));
  return choice.evaluated.at(choice.chosen.value()).way;
}

// Each switch of a node has two GPUs and two NICs; one crossbar of network ports joins all NICs.
TEST(ClusterOfTwo, TakesTheNearestNicAndItsRail) {
  Model const model(bundled_catalogue().machine("hgx-h100-2"));
  auto const& machine = model.machine();
  for (int gpu = 0; gpu < 8; ++gpu) {
    SCOPED_TRACE(gpu);
    auto const from = fmt::format("node0/gpu{}", gpu);
    auto const to = fmt::format("node1/gpu{}", gpu);
    auto const way = chosen_way(model, from, to);
    EXPECT_EQ(way.mechanism, Mechanism::Gdr);
    ASSERT_TRUE(way.nic_from && way.nic_to);
    EXPECT_EQ(path_class(machine, pci(machine, from), *way.nic_from), PathClass::Pix);
    EXPECT_EQ(path_class(machine, pci(machine, to), *way.nic_to), PathClass::Pix);
    EXPECT_EQ(machine.at(*way.nic_from).rail, machine.at(*way.nic_to).rail);
  }
}

TEST(ClusterOfTwo, TakesTheNicNearestToEachEndIfASwitchJoinsAllRails) {
  Model const model(bundled_catalogue().machine("hgx-h100-2"));
  auto const& machine = model.machine();
  auto const way = chosen_way(model, "node0/gpu0", "node1/gpu6");
  EXPECT_EQ(way.mechanism, Mechanism::Gdr);
  EXPECT_EQ(path_class(machine, pci(machine, "node0/gpu0"), way.nic_from.value()), PathClass::Pix);
  EXPECT_EQ(path_class(machine, pci(machine, "node1/gpu6"), way.nic_to.value()), PathClass::Pix);
}

TEST(ClusterOfTwo, TakesTheNicsThatTheRequestNames) {
  Model const model(bundled_catalogue().machine("hgx-h100-2"));
  auto const& machine = model.machine();
  Request request{"a", pci(machine, "node0/gpu0"), pci(machine, "node1/gpu5"), 256_MiB};
  request.nics = named_nics(machine, request.from, request.to, "node0/nic3", "node1/nic2");
  auto const choice = Planner(model).choose(request);
  ASSERT_TRUE(choice.chosen);
  for (auto const& evaluated : choice.evaluated) {
    EXPECT_EQ(evaluated.way.nic_from, pci(machine, "node0/nic3"));
    EXPECT_EQ(evaluated.way.nic_to, pci(machine, "node1/nic2"));
  }
  auto const refusal = [&](std::string const& to, std::string const& nic_from, std::string const& nic_to) {
    return test::input_error([&] { named_nics(machine, request.from, machine.place(to), nic_from, nic_to); });
  };
  EXPECT_THAT(refusal("node1/gpu5", "node0/gpu3", "node1/nic2"), HasSubstr("'node0/gpu3' is no NIC"));
  EXPECT_THAT(refusal("node1/gpu5", "node1/nic3", "node1/nic2"), HasSubstr("'node1/nic3' is not in the node of"));
  EXPECT_THAT(refusal("node0/gpu5", "node0/nic3", "node0/nic2"), HasSubstr("of transfers between nodes"));
}

TEST(ClusterOfTwo, StaysOnOneRailIfCablesJoinTheNodes) {
  Model const model(bundled_catalogue().machine("soft-roce-2"));
  auto const& machine = model.machine();
  auto const from = machine.find_place("node0/numa0").value();
  auto const to = machine.find_place("node1/numa1").value();  // the nearest NICs are on different rails
  auto const choice = Planner(model).choose({"a", from, to, 64_KiB});
  ASSERT_EQ(choice.evaluated.size(), 2U);
  for (auto const& evaluated : choice.evaluated)
    EXPECT_EQ(machine.at(*evaluated.way.nic_from).rail, machine.at(*evaluated.way.nic_to).rail);
}

TEST(ClusterOfTwo, StagesIfGpuMemoryCannotBeRegistered) {
  Model const model(
      with(bundled_catalogue().machine("hgx-h100-2"), {"software.peermem=false", "software.dma_buf=false"}));
  EXPECT_EQ(chosen_way(model, "node0/gpu0", "node1/gpu0").mechanism, Mechanism::NetStaged);
}

Plan small_plan(Model const& model) {
  return Planner(model).plan({between(model.machine(), "gpu0", "gpu1"), between(model.machine(), "gpu1", "gpu2")});
}

template <class Change>
std::string verify_error(Model const& model, Change change) {
  auto plan = small_plan(model);
  change(plan);
  try {
    plan.verify(model.machine());
  } catch (PlanError const& error) {
    return error.what();
  }
  return "";
}

TEST(PlanVerify, RefusesPlansThatCannotRun) {
  Model const model(twelve());
  EXPECT_EQ(verify_error(model, [](Plan&) {}), "");
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].bytes = Bytes(-1); }), HasSubstr("negative"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].after = {StepId(7)}; }), HasSubstr("not in the plan"));
  EXPECT_THAT(verify_error(model,
                           [](Plan& plan) {
                             plan.steps[0].after = {StepId(1)};
                             plan.steps[1].after = {StepId(0)};
                           }),
              HasSubstr("circle"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].after = {StepId(0)}; }), HasSubstr("circle"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].to = NumaId(0); }), HasSubstr("between two GPUs"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].way = {.mechanism = Mechanism::HostStaged}; }),
              HasSubstr("host memory"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].way = {.mechanism = Mechanism::NvlinkRelay}; }),
              HasSubstr("through a third"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.steps[0].way = {.mechanism = Mechanism::Gdr}; }),
              HasSubstr("needs a NIC"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.decisions[0].chosen = 99; }), HasSubstr("outside the plan"));
  EXPECT_THAT(verify_error(model, [](Plan& plan) { plan.decisions[0].step = StepId(99); }),
              HasSubstr("outside the plan"));
  EXPECT_THAT(
      verify_error(model,
                   [](Plan& plan) { plan.decisions[0].candidates[plan.decisions[0].chosen].refused_by = "P2P-MIG"; }),
      HasSubstr("illegal way"));
}

TEST(PlanVerify, RefusesPlacesThatTheMechanismDoesNotServe) {
  Model const model(twelve());
  for (auto const mechanism : {Mechanism::Local, Mechanism::Nvlink, Mechanism::HostDma, Mechanism::BarCopy,
                               Mechanism::StorageDirect, Mechanism::StorageStaged}) {
    auto const error = verify_error(model, [&](Plan& plan) {
      plan.steps[0].way = {.mechanism = mechanism, .staging = NumaId(0)};
      if (mechanism == Mechanism::Nvlink || mechanism == Mechanism::BarCopy)
        plan.steps[0].from = plan.steps[0].to = NumaId(0);
    });
    EXPECT_FALSE(error.empty()) << to_string(mechanism);
  }
}

TEST(PlanVerify, RefusesOtherDevicesAsRelayOrNic) {
  Model const model(twelve());
  auto const port = pci(model.machine(), "rp0");
  auto const gpu = pci(model.machine(), "gpu5");
  EXPECT_THAT(verify_error(
                  model, [&](Plan& plan) { plan.steps[0].way = {.mechanism = Mechanism::NvlinkRelay, .relay = port}; }),
              HasSubstr("a relay is a GPU"));
  EXPECT_THAT(
      verify_error(model, [&](Plan& plan) { plan.steps[0].way = {.mechanism = Mechanism::Gdr, .nic_from = gpu}; }),
      HasSubstr("only a NIC"));
}

TEST(PlanJson, OfAnotherMachineOrOtherSettingsIsRefused) {
  Model const model(twelve());
  auto const json = to_json(small_plan(model), model.machine());
  EXPECT_EQ(plan_from_json(json, model.machine()), small_plan(model));
  auto const refused = [&](Machine const& machine) {
    try {
      static_cast<void>(plan_from_json(json, machine));
    } catch (InputError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused(bundled_catalogue().machine("a100x8-pcie-4sw")), HasSubstr("the plan was made for 'twelve'"));
  for (auto const* setting : {"acs=on", "iommu=lazy", "virtualization=passthrough", "software.gdrcopy=true",
                              "link@gpu3=gen3 x8", "acs@gpu3=on", "mig@gpu3=true"})
    EXPECT_THAT(refused(with(twelve(), {setting})), HasSubstr("other hardware or settings")) << setting;
}

// "A short text that changes whenever anything in the machine does."
TEST(Fingerprint, ChangesWithEveryFigureThatAPlanRestsOn) {
  auto const original = twelve();
  auto const before = fingerprint(original);
  EXPECT_EQ(fingerprint(twelve()), before);
  auto const changed = [&](auto change) {
    auto machine = original;
    change(machine);
    return fingerprint(machine) != before;
  };
  EXPECT_TRUE(changed([](Machine& m) { test::part(m, "gpu").gpu.max_peers = 4; }));
  EXPECT_TRUE(changed([](Machine& m) { test::part(m, "cpu").cpu.read_forwarding = Forwarding::None; }));
  EXPECT_TRUE(changed([](Machine& m) {
    m.overrides.push_back({m.place("gpu0"), m.place("gpu1"), std::nullopt, 1.0_GBps, std::nullopt, "a bench"});
  }));
  auto const ends = [](std::string const& other) {
    auto machine = twelve();
    machine.nvlinks.push_back({pci(machine, "gpu0"), pci(machine, other), PartId(0), 1});
    return fingerprint(machine);
  };
  EXPECT_NE(ends("gpu1"), ends("gpu2"));
}

TEST(PlanJson, ThatIsNoPlanIsRefused) {
  auto const machine = twelve();
  EXPECT_THROW(static_cast<void>(plan_from_json(nlohmann::ordered_json::object(), machine)), InputError);
  Model const model(machine);
  auto json = to_json(small_plan(model), machine);
  json["steps"][0]["from"] = "gpu99";
  EXPECT_THROW(static_cast<void>(plan_from_json(json, machine)), InputError);
  json = to_json(small_plan(model), machine);
  json["steps"][0]["way"]["mechanism"] = "magic";
  EXPECT_THROW(static_cast<void>(plan_from_json(json, machine)), InputError);
  json = to_json(small_plan(model), machine);
  json["steps"][1]["way"].erase("drive");
  EXPECT_EQ(test::input_error([&] { static_cast<void>(plan_from_json(json, machine)); }),
            "not a plan: step 1: it has no 'drive'");
}

TEST(PlanOfRequests, NamesTheRequestWithoutAWay) {
  Model const model(twelve());
  auto request = between(model.machine(), "gpu0", "gpu1");
  request.op = Op::Atomic;
  try {
    static_cast<void>(Planner(model).plan({request}));
    FAIL() << "atomics have no way over PCIe";
  } catch (PlanError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'gpu0gpu1'"));
  }
}

// One core copies 10 GB/s at each end. The threshold is what it copies during a round trip.
TEST(Rendezvous, BeginsWhereTwoCopiesTakeAsLongAsARoundTrip) {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  Model const model(catalogue.machine("hgx-h100-2"));
  auto const& machine = model.machine();
  Request const request{.from = machine.place("node0/numa0"), .to = machine.place("node1/numa0"), .bytes = Bytes(8)};
  Planner const planner(model);
  auto const choice = planner.choose(request);
  auto const candidate = planner.describe(request, choice.evaluated[choice.chosen.value()]);
  ASSERT_TRUE(candidate.rendezvous.has_value());
  EXPECT_NEAR(static_cast<double>(candidate.rendezvous->value()), 2 * candidate.latency->value() / (2 / 10e9), 2);
  EXPECT_GT(candidate.rendezvous->value(), 8 << 10);  // MPI libraries switch between 8 and 64 KiB
  EXPECT_LT(candidate.rendezvous->value(), 64 << 10);
}

}  // namespace
}  // namespace lanewise
