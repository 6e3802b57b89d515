#pragma once
// A machine for tests of rules: two switches on one socket, one on the other. No rule refuses anything on it.
#include "tests/support/machines.hpp"

namespace lanewise::test {

inline Machine rule_machine() {
  return machine_from(R"(lanewise: machine/1
machine: rule_machine
settings: {acs: off, iommu: pt, virtualization: none}
parts:
  cpu: {kind: cpu, vendor: amd, host_bridges: per_root_port, peer_write_forwarding: any, peer_read_forwarding: any, p2pdma: "yes"}
  other-cpu: {kind: cpu, vendor: amd, host_bridges: per_root_port, peer_write_forwarding: any, peer_read_forwarding: any, p2pdma: "yes"}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, compute_capability: "8.0", link: gen4 x16, bar1: 128 GiB, max_peers: 8, nvlink_ports: 12}
  gpu-too: {kind: gpu, vendor: nvidia, chip: ga100, compute_capability: "8.0", link: gen4 x16, bar1: 128 GiB, max_peers: 8, nvlink_ports: 12}
  nic: {kind: nic, link: gen4 x16, rate: 200 Gb/s, verbs: true, gpudirect: true}
  sw: {kind: switch, link: gen4 x16}
  drive: {kind: nvme, link: gen4 x4, read_bandwidth: 6 GB/s, write_bandwidth: 4 GB/s}
  upi: {kind: link, family: socket, rate: 20 GB/s}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        switch: sw0
        part: sw
        ports:
          - {gpu: gpu0, part: gpu}
          - {gpu: gpu1, part: gpu-too}
          - {nic: nic0, part: nic}
          - {nvme: nvme0, part: drive}
          - switch: sw0a
            part: sw
            ports: [{gpu: gpu5, part: gpu}, {gpu: gpu6, part: gpu}]
      - root_port: rp1
        switch: sw1
        part: sw
        ports:
          - {gpu: gpu2, part: gpu}
          - {nic: nic1, part: nic}
  - socket: cpu1
    part: other-cpu
    pcie:
      - root_port: rp2
        switch: sw2
        part: sw
        ports: [{gpu: gpu4, part: gpu}, {nic: nic2, part: nic}]
socket_links: [{between: [cpu0, cpu1], part: upi}]
software: {cuda: true, peermem: true, dma_buf: true, gdrcopy: true, gpudirect_storage: true, fabric_manager: true}
)");
}

}  // namespace lanewise::test
