#pragma once
// A small server with its own parts, whose figures are simple enough to compute by hand:
//
//   cpu0 ── rp0 ── sw0 ── gpu0, gpu1, nic0          cpu1 ── rp2 ── gpu3
//        └─ rp1 ── sw1 ── gpu2, nvme0                    └─ rp3 ── nic1
//
// Every PCIe link is gen4 x16, except the drive's (x4); one UPI link joins the sockets.
#include <string>

#include "lanewise/machine/machine.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::test {

// The parts of the file that tests vary, as YAML.
struct Server {
  std::string settings = "acs: off, iommu: pt";
  std::string software = "cuda: true, peermem: true, dma_buf: true, gdrcopy: true, gpudirect_storage: true";
  std::string cpu =
      "vendor: amd, root_port_generation: 4, host_bridges: per_root_port, memory_bandwidth: 200 GB/s, "
      "memory_latency: 60 ns, core_copy_bandwidth: 10 GB/s, root_complex_latency: 370 ns, "
      "peer_write_forwarding: any, peer_read_forwarding: any, p2pdma: yes";
  std::string more_cpu = {};  // more figures: "peer_payload: 64 B"
  std::string gpu =
      "vendor: nvidia, chip: ga100, compute_capability: \"8.0\", link: gen4 x16, latency: 130 ns, tags: 256, "
      "max_read_request: 512 B, memory_bandwidth: 2000 GB/s, bar1: 128 GiB, max_peers: 8, nvlink_ports: 12";
  std::string more_gpu = {};   // "copy_engines: 3"
  std::string other_gpu = {};  // figures of a part of its own for gpu1; empty: the same part as the others
  std::string nic =
      "link: gen4 x16, latency: 130 ns, link_layer: infiniband, rate: 200 Gb/s, mtu: 4096 B, wire_latency: 600 ns";
  std::string more_nic = {};
  std::string pcie_switch = "link: gen4 x16, latency: 105 ns";
  std::string drive =
      "link: gen4 x4, latency: 130 ns, read_bandwidth: 7 GB/s, write_bandwidth: 4 GB/s, read_latency: 80 us";
  std::string nvlink = "rate: 25 GB/s, copy_efficiency: 0.9, load_store_efficiency: 0.8, latency: 700 ns";
  std::string cpu0 = "cpu";  // part of the first socket, and so on
  std::string at_sw0 = {};   // more keys of both switches: "chip: c0"
  std::string at_gpu0 = {};  // more keys of a port: "acs: [RR]", "mig: true"
  std::string at_gpu1 = {};
  std::string at_gpu2 = {};
  std::string at_gpu3 = {};
  std::string at_nic0 = {};
  std::string nvlinks = {};    // items: "{between: [gpu0, gpu1], part: nvlink, count: 4}"
  std::string overrides = {};  // items
};

std::string text_of(Server const& server);
Machine machine_of(Server const& server);

// A cluster of this server ("node0/gpu0", ...) with a fabric such as "kind: single_switch, switch: ib-switch". The
// switch takes 130 ns a pass.
Machine cluster_of(Server const& node, std::string const& fabric, int nodes = 2);

}  // namespace lanewise::test
