#pragma once
// Machines and scenarios made of random choices: valid files, odd contents. One seed of bytes gives one pair.
#include <fmt/format.h>
#include <fuzzer/FuzzedDataProvider.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

struct RandomMachine {
  std::string text;
  std::vector<std::string> places;  // GPUs, host memories, NICs and drives
  std::vector<std::string> gpus;
};

class RandomFiles {
 public:
  RandomFiles(std::uint8_t const* data, std::size_t size) : random_(data, size) {}

  RandomMachine machine() {
    RandomMachine made;
    auto& text = made.text;
    text = fmt::format("lanewise: machine/1\nmachine: random\nsettings: {{acs: {}, iommu: {}}}\n",
                       one_of({"off", "on", "unknown"}), one_of({"off", "pt", "lazy", "strict"}));
    text += fmt::format("software: {{cuda: true, peermem: {}, dma_buf: {}, gdrcopy: {}, gpudirect_storage: {}}}\n",
                        flag(), flag(), flag(), flag());
    parts(text);
    auto const sockets = 1 + below(2);
    text += "sockets:\n";
    for (std::size_t s = 0; s < sockets; ++s) socket(made, s);
    if (sockets == 2)
      text += fmt::format("socket_links: [{{between: [cpu0, cpu1], part: upi, count: {}}}]\n", 1 + below(4));
    nvlinks(made);
    return made;
  }

  // Transfers between places of the machine, or a collective among its GPUs.
  std::string scenario(RandomMachine const& machine) {
    std::string text = fmt::format("lanewise: scenario/1\nscenario: random\nobjective: {}\n",
                                   one_of({"makespan", "each", "slowdown"}));
    if (machine.gpus.size() > 1 && below(4) == 0) return text + collective(machine);
    text += "transfers:\n";
    auto const count = 1 + below(8);
    for (std::size_t i = 0; i < count; ++i) {
      text += fmt::format("  - {{id: t{}, from: {}, to: {}, bytes: {}, op: {}", i, any(machine.places),
                          any(machine.places), size(), one_of({"copy", "copy", "copy", "write", "read", "load_store"}));
      if (i > 0 && below(3) == 0) text += fmt::format(", after: [t{}]", below(i));
      text += "}\n";
    }
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return random_.ConsumeIntegralInRange<std::size_t>(0, count - 1); }
  std::string_view one_of(std::initializer_list<std::string_view> words) {
    return *(words.begin() + below(words.size()));
  }
  std::string any(std::vector<std::string> const& names) { return names[below(names.size())]; }
  std::string_view flag() { return random_.ConsumeBool() ? "true" : "false"; }
  std::string_view link() {
    return one_of({"gen3 x8", "gen3 x16", "gen4 x4", "gen4 x8", "gen4 x16", "gen5 x8", "gen5 x16", "gen6 x16"});
  }
  std::string size() { return fmt::format("{} {}", 1 + below(1024), one_of({"B", "KiB", "KiB", "MiB", "MiB", "MiB"})); }
  // A figure, now and then an unknown one.
  std::string figure(std::size_t low, std::size_t high, std::string_view unit) {
    if (below(24) == 0) return "unknown";
    return fmt::format("{} {}", low + below(high - low + 1), unit);
  }

  void parts(std::string& text) {
    text += "parts:\n";
    text += fmt::format(
        "  cpu: {{kind: cpu, vendor: {}, root_port_generation: {}, host_bridges: {}, memory_bandwidth: {}, "
        "memory_latency: "
        "{}, core_copy_bandwidth: {}, root_complex_latency: {}, peer_write_forwarding: {}, peer_read_forwarding: {}, "
        "p2pdma: {}}}\n",
        one_of({"amd", "intel"}), 3 + below(3), one_of({"per_root_port", "per_socket"}), figure(20, 600, "GB/s"),
        figure(50, 200, "ns"), figure(2, 20, "GB/s"), figure(100, 900, "ns"),
        one_of({"any", "none", "same_host_bridge"}), one_of({"any", "none", "same_host_bridge"}),
        one_of({"yes", "no"}));
    text += fmt::format(
        "  gpu: {{kind: gpu, vendor: nvidia, chip: ga100, compute_capability: \"8.0\", link: {}, latency: {}, tags: "
        "{}, "
        "max_read_request: 512 B, memory_bandwidth: {}, bar1: {}, max_peers: 8, nvlink_ports: 18}}\n",
        link(), figure(50, 500, "ns"), 32 << below(4), figure(200, 8000, "GB/s"), one_of({"256 MiB", "128 GiB"}));
    text += fmt::format(
        "  nic: {{kind: nic, link: {}, latency: {}, link_layer: {}, rate: {}, mtu: 4096 B, wire_latency: {}}}\n",
        link(), figure(50, 500, "ns"), one_of({"infiniband", "ethernet"}), figure(10, 800, "Gb/s"),
        figure(100, 2000, "ns"));
    text += fmt::format("  pcie-switch: {{kind: switch, link: {}, latency: {}}}\n", link(), figure(50, 300, "ns"));
    text += fmt::format(
        "  drive: {{kind: nvme, link: gen4 x4, latency: {}, read_bandwidth: {}, write_bandwidth: {}, read_latency: "
        "{}}}\n",
        figure(50, 500, "ns"), figure(1, 14, "GB/s"), figure(1, 10, "GB/s"), figure(10, 200, "us"));
    text += fmt::format(
        "  nvlink: {{kind: link, family: nvlink, generation: 3, rate: {}, copy_efficiency: 0.{}, "
        "load_store_efficiency: "
        "0.{}, latency: {}}}\n",
        figure(10, 50, "GB/s"), 5 + below(5), 5 + below(5), figure(300, 2000, "ns"));
    text += fmt::format("  upi: {{kind: link, family: socket, rate: {}, latency: {}}}\n", figure(8, 60, "GB/s"),
                        figure(50, 300, "ns"));
  }

  std::string device(RandomMachine& made) {
    auto const add = [&](std::string_view kind, std::string_view part) {
      auto const name = fmt::format("{}{}", kind, devices_++);
      made.places.push_back(name);
      if (kind == "gpu") made.gpus.push_back(name);
      return fmt::format("{}: {}, part: {}", kind, name, part);
    };
    switch (below(6)) {
      case 0: return add("nic", "nic");
      case 1: return add("nvme", "drive");
      default: return add("gpu", "gpu");
    }
  }

  void socket(RandomMachine& made, std::size_t number) {
    made.places.push_back(fmt::format("cpu{}", number));
    made.text += fmt::format("  - socket: cpu{}\n    part: cpu\n    pcie:\n", number);
    auto const ports = 1 + below(4);
    for (std::size_t p = 0; p < ports; ++p) {
      auto const root = fmt::format("root_port: rp{}_{}", number, p);
      if (below(2) == 0) {
        made.text += fmt::format("      - {{{}, {}}}\n", root, device(made));
        continue;
      }
      made.text += fmt::format("      - {}\n        switch: sw{}_{}\n        part: pcie-switch\n        ports:\n", root,
                               number, p);
      auto const below_switch = 1 + below(4);
      for (std::size_t d = 0; d < below_switch; ++d) made.text += fmt::format("          - {{{}}}\n", device(made));
    }
  }

  void nvlinks(RandomMachine& made) {
    std::string items;
    for (std::size_t i = 0; i < made.gpus.size(); ++i)
      for (std::size_t k = i + 1; k < made.gpus.size(); ++k)
        if (i < 6 && k < 6 && below(4) == 0)
          items += fmt::format("{}{{between: [{}, {}], part: nvlink, count: {}}}", items.empty() ? "" : ", ",
                               made.gpus[i], made.gpus[k], 1 + below(3));
    if (!items.empty()) made.text += "nvlinks: [" + items + "]\n";
  }

  std::string collective(RandomMachine const& machine) {
    std::string among;
    for (auto const& gpu : machine.gpus) among += (among.empty() ? "" : ", ") + gpu;
    return fmt::format("collective: {{op: {}, among: [{}], bytes: {}}}\n",
                       one_of({"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce",
                               "scatter", "gather"}),
                       among, size());
  }

  FuzzedDataProvider random_;
  std::size_t devices_ = 0;
};

}  // namespace lanewise
