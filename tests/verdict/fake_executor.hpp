#pragma once
// An executor whose times are what the test says: a step takes as long as its mechanism, alone or not.
#include <algorithm>
#include <map>
#include <memory>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/verdict/scenario_check.hpp"

namespace lanewise::test {

using Durations = std::map<Mechanism, Seconds>;

class FakeExecutor : public Executor {
 public:
  explicit FakeExecutor(Durations durations) : durations_(std::move(durations)) {}

  Trace run(Plan const& plan) override {
    Trace trace;
    trace.mode = "fake";
    trace.machine = plan.machine;
    trace.fingerprint = plan.fingerprint;
    for (auto const& step : plan.steps) {
      Seconds start{0};
      for (auto const before : step.after) start = std::max(start, trace.steps[index(before)].end);
      auto const end = start + durations_.at(step.way.mechanism);
      trace.steps.push_back({step.transfer, start, end, step.bytes, std::nullopt});
      trace.makespan = std::max(trace.makespan, end);
    }
    return trace;
  }

 private:
  Durations durations_;
};

// Two GPUs and a NIC below one switch, a third GPU on a root port of its own; every figure of PCIe is known.
inline Machine pair_machine() {
  return Catalogue({}).machine_from(SourceText::from_memory("pair.yaml", R"(lanewise: machine/1
machine: pair
settings: {acs: off, iommu: off, virtualization: none}
parts:
  cpu: {kind: cpu, host_bridges: per_root_port, root_port_generation: 4, memory_bandwidth: 200 GB/s, peer_write_forwarding: any, peer_read_forwarding: any}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, link: gen4 x16, copy_engines: 2, memory_bandwidth: 1500 GB/s, bar1: 128 GiB, memory: 80 GiB, pcie_peer: true}
  pcie-switch: {kind: switch, link: gen4 x16}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pcie-switch
        ports:
          - {gpu: gpu0, part: gpu, link: gen4 x16}
          - {gpu: gpu1, part: gpu, link: gen4 x16}
      - {root_port: rp1, gpu: gpu2, part: gpu, link: gen4 x16}
)"));
}

// Checks a scenario text on `pair` with steps that take what `durations` says.
inline ScenarioVerdict check(std::string const& text, Durations const& durations) {
  Catalogue catalogue({});
  CheckContext const context{[](std::string const&) { return pair_machine(); },
                             [&](Model const&) { return std::make_unique<FakeExecutor>(durations); }, catalogue,
                             "fake"};
  return check_scenario(read_scenario(SourceText::from_memory("s.yaml", text)), context);
}

inline Durations usual_durations() {
  using namespace literals;
  return {{Mechanism::PcieP2p, 2000.0_us},
          {Mechanism::HostStaged, 1000.0_us},
          {Mechanism::SharedHost, 4000.0_us},
          {Mechanism::HostDma, 500.0_us},
          {Mechanism::Local, 250.0_us}};
}

}  // namespace lanewise::test
