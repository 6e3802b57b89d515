#pragma once
// The machine of the target of plan files: two sockets, three GPUs, two NICs and a drive, with NVLink between two GPUs.

namespace lanewise {

inline constexpr char kPlanMachine[] = R"(lanewise: machine/1
machine: small
settings: {acs: off, iommu: pt}
software: {cuda: true, peermem: true, dma_buf: true, gdrcopy: true, gpudirect_storage: true}
parts:
  cpu: {kind: cpu, vendor: amd, root_port_generation: 4, host_bridges: per_root_port, memory_bandwidth: 200 GB/s,
    memory_latency: 60 ns, core_copy_bandwidth: 10 GB/s, root_complex_latency: 370 ns, peer_write_forwarding: any,
    peer_read_forwarding: any, p2pdma: yes}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, compute_capability: "8.0", link: gen4 x16, latency: 130 ns, tags: 256,
    max_read_request: 512 B, memory_bandwidth: 2000 GB/s, bar1: 128 GiB, max_peers: 8, nvlink_ports: 12}
  nic: {kind: nic, link: gen4 x16, latency: 130 ns, link_layer: infiniband, rate: 200 Gb/s, mtu: 4096 B, wire_latency: 600 ns}
  pcie-switch: {kind: switch, link: gen4 x16, latency: 105 ns}
  drive: {kind: nvme, link: gen4 x4, latency: 130 ns, read_bandwidth: 7 GB/s, write_bandwidth: 4 GB/s, read_latency: 80 us}
  nvlink: {kind: link, family: nvlink, generation: 3, rate: 25 GB/s, copy_efficiency: 0.9, load_store_efficiency: 0.8,
    latency: 700 ns}
  upi: {kind: link, family: socket, rate: 20 GB/s, latency: 100 ns}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pcie-switch
        ports: [{gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}, {nic: nic0, part: nic}]
      - {root_port: rp1, nvme: nvme0, part: drive}
  - socket: cpu1
    part: cpu
    pcie: [{root_port: rp2, gpu: gpu2, part: gpu}, {root_port: rp3, nic: nic1, part: nic}]
socket_links: [{between: [cpu0, cpu1], part: upi, count: 1}]
nvlinks: [{between: [gpu0, gpu1], part: nvlink, count: 4}]
)";

}  // namespace lanewise
