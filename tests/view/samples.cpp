#include "tests/view/samples.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise::test {

Machine cluster_from(std::string const& text, std::string const& node) {
  auto const* test = testing::UnitTest::GetInstance()->current_test_info();
  auto const folder =
      std::filesystem::path(testing::TempDir()) / (std::string("lanewise_") + test->test_suite_name() + test->name());
  std::filesystem::create_directories(folder / "machines");
  write_file(folder / "machines/node.yaml", node);
  auto cluster = Catalogue({folder}).machine_from(SourceText::from_memory("cluster.yaml", text));
  std::filesystem::remove_all(folder);
  return cluster;
}

Machine two_switch() {
  return machine_from(R"(lanewise: machine/1
machine: two-switch
title: Two virtual switches "of one chip"
notes: [The second drive is not stated.]
settings: {acs: off, iommu: pt, virtualization: none}
parts:
  cpu: {kind: cpu, title: Some CPU, host_bridges: per_root_port, root_port_generation: 4}
  gpu: {kind: gpu, title: Some GPU, vendor: nvidia, link: gen4 x16, nvlink_generation: 2, nvlink_ports: 6}
  nic: {kind: nic, title: Some NIC, link: gen4 x16, verbs: true, rate: 200 Gb/s}
  plain-nic: {kind: nic, title: Ethernet only, link: gen3 x8, verbs: false}
  pcie-switch: {kind: switch, title: Some switch, link: gen4 x16}
  drive: {kind: nvme, title: Some drive, link: gen4 x4}
  upi: {kind: link, family: socket, rate: 20 GB/s}
  nvlink-2: {kind: link, family: nvlink, generation: 2, rate: 25 GB/s}
sockets:
  - socket: cpu0
    part: cpu
    numa: [{node: 0, cores: "0-31,64-95"}]
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pcie-switch
        chip: chip0
        ports:
          - {gpu: gpu0, part: gpu, link: gen4 x16, bdf: "0000:3b:00.0"}
          - {gpu: gpu1, part: gpu, link: gen3 x8, max: gen4 x16, bdf: "0000:3c:00.0", acs: on, mig: true}
          - {nic: nic0, part: nic, acs: [RR, CR], device_name: mlx5_0}
      - root_port: rp1
        link: gen4 x16
        switch: sw1
        part: pcie-switch
        chip: chip0
        ports:
          - {gpu: gpu2, part: gpu, link: gen4 x16}
          - {nvme: nvme0, part: drive}
      - {root_port: rp2, nvme: nvme1, part: unknown, acs: unknown}
  - socket: cpu1
    part: unknown
    pcie:
      - {root_port: rp3, gpu: gpu3, part: gpu, link: gen4 x16}
      - {root_port: rp4, nic: nic1, part: plain-nic, device_name: eth0}
      - {root_port: rp5}
socket_links: [{between: [cpu0, cpu1], part: upi, count: 3}]
nvlinks:
  - {between: [gpu0, gpu1], generation: 2, count: 2}
  - {between: [gpu2, gpu3], generation: 2, count: 1}
software: {cuda: true, peermem: true}
overrides:
  - {from: gpu0, to: gpu2, op: write, bandwidth: 24.5 GB/s, source: a bench}
)");
}

std::string node_file() {
  return R"(lanewise: machine/1
machine: node
settings: {acs: on, iommu: lazy, virtualization: {kind: passthrough, hypervisor: kvm, ats: true}}
parts:
  cpu: {kind: cpu, host_bridges: per_socket}
  gpu: {kind: gpu, vendor: nvidia, link: gen5 x16, nvlink_generation: 4, nvlink_ports: 18}
  nic: {kind: nic, link: gen5 x16, verbs: true, rate: 400 Gb/s}
  nvlink-4: {kind: link, family: nvlink, generation: 4, rate: 25 GB/s}
  crossbar: {kind: nvswitch, title: Some NVSwitch}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - {root_port: rp0, gpu: gpu0, part: gpu, link: gen5 x16}
      - {root_port: rp1, gpu: gpu1, part: gpu, link: gen5 x16}
      - {root_port: rp2, nic: nic0, part: nic, link: gen5 x16}
      - {root_port: rp3, nic: nic1, part: nic, link: gen5 x16}
nvlinks: [{switch: nvswitch0, switch_part: crossbar, generation: 4, count: 18, gpus: [gpu0..gpu1]}]
)";
}

Machine small_cluster() {
  return cluster_from(R"(lanewise: cluster/1
cluster: pair
nodes: [{machine: node, count: 2}]
fabric: {kind: direct}
)",
                      node_file());
}

Machine huge_cluster() {
  return cluster_from(R"(lanewise: cluster/1
cluster: huge
nodes: [{machine: node, count: 96}]
fabric:
  kind: fat_tree
  by_rail: true
  tiers: [{tier: leaf, joins: 2}, {tier: pod, joins: 8, switches: 4, oversubscription: 2}, {tier: core, switches: 2}]
)",
                      node_file());
}

Machine big_cluster() {
  return cluster_from(R"(lanewise: cluster/1
cluster: rails
title: Six nodes
notes: [One cable is slow.]
nodes: [{machine: node, count: 6}]
fabric:
  kind: rail_optimised
  link_overrides: [{nic: node3/nic1, rate: 100 Gb/s}]
)",
                      node_file());
}

}  // namespace lanewise::test
