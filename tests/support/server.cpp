#include "tests/support/server.hpp"

#include <fmt/format.h>

#include "lanewise/machine/catalogue.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::test {
namespace {

std::string more(std::string const& keys) { return keys.empty() ? "" : ", " + keys; }

}  // namespace

std::string text_of(Server const& s) {
  auto const gpu1 = s.other_gpu.empty() ? "gpu" : "other-gpu";
  auto text = fmt::format("lanewise: machine/1\nmachine: server\nsettings: {{{}}}\nsoftware: {{{}}}\nparts:\n",
                          s.settings, s.software);
  text += fmt::format("  cpu: {{kind: cpu, {}{}}}\n", s.cpu, more(s.more_cpu));
  text += fmt::format("  gpu: {{kind: gpu, {}{}}}\n", s.gpu, more(s.more_gpu));
  text += fmt::format("  other-gpu: {{kind: gpu, {}}}\n", s.other_gpu.empty() ? "chip: none" : s.other_gpu);
  text += fmt::format("  nic: {{kind: nic, {}{}}}\n", s.nic, more(s.more_nic));
  text += fmt::format("  pcie-switch: {{kind: switch, {}}}\n", s.pcie_switch);
  text += fmt::format("  drive: {{kind: nvme, {}}}\n", s.drive);
  text += fmt::format("  nvlink: {{kind: link, family: nvlink, generation: 3, {}}}\n", s.nvlink);
  text += "  nvswitch: {kind: nvswitch, latency: 100 ns}\n";
  text += "  upi: {kind: link, family: socket, rate: 20 GB/s, latency: 100 ns}\n";
  text += fmt::format(R"(sockets:
  - socket: cpu0
    part: {}
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pcie-switch
        ports:
          - {{gpu: gpu0, part: gpu, link: gen4 x16{}}}
          - {{gpu: gpu1, part: {}, link: gen4 x16{}}}
          - {{nic: nic0, part: nic, link: gen4 x16{}}}
)",
                      s.cpu0, more(s.at_gpu0), gpu1, more(s.at_gpu1), more(s.at_nic0));
  if (!s.at_sw0.empty()) text.insert(text.find("        ports:"), "        " + s.at_sw0 + "\n");
  text += "      - root_port: rp1\n        link: gen4 x16\n        switch: sw1\n        part: pcie-switch\n";
  if (!s.at_sw0.empty()) text += "        " + s.at_sw0 + "\n";
  text += fmt::format(R"(        ports:
          - {{gpu: gpu2, part: gpu, link: gen4 x16{}}}
          - {{nvme: nvme0, part: drive, link: gen4 x4}}
  - socket: cpu1
    part: cpu
    pcie:
      - {{root_port: rp2, gpu: gpu3, part: gpu, link: gen4 x16{}}}
      - {{root_port: rp3, nic: nic1, part: nic, link: gen4 x16}}
socket_links: [{{between: [cpu0, cpu1], part: upi, count: 1}}]
)",
                      more(s.at_gpu2), more(s.at_gpu3));
  if (!s.nvlinks.empty()) text += fmt::format("nvlinks: [{}]\n", s.nvlinks);
  if (!s.overrides.empty()) text += fmt::format("overrides: [{}]\n", s.overrides);
  return text;
}

Machine machine_of(Server const& server) { return machine_from(text_of(server)); }

Machine cluster_of(Server const& node, std::string const& fabric, int nodes) {
  TemporaryFolder const folder;
  (void)folder.with("machines/server.yaml", text_of(node));
  (void)folder.with("parts/ib-switch.yaml",
                    "lanewise: part/1\npart: ib-switch\nkind: network_switch\nlatency: 130 ns\nrate: 200 Gb/s\n");
  Catalogue catalogue({folder.path()});
  auto const text = fmt::format(
      "lanewise: cluster/1\ncluster: pod\nnodes: [{{machine: server, count: {}}}]\nfabric: {{{}}}\n", nodes, fabric);
  return catalogue.machine_from(SourceText::from_memory("cluster.yaml", text));
}

}  // namespace lanewise::test
