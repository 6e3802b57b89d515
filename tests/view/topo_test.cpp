#include "core/view/machine/topo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A DGX-1 with V100 as NVIDIA describes it: each switch holds two GPUs and an adapter, one host bridge for each socket,
// and the hybrid cube mesh of NVLinks.
constexpr char kDgx1[] = R"(lanewise: machine/1
machine: dgx-1
parts:
  cpu: {kind: cpu, host_bridges: per_socket}
  gpu: {kind: gpu, vendor: nvidia, nvlink_generation: 2, nvlink_ports: 6}
  nic: {kind: nic, verbs: true}
  pcie-switch: {kind: switch}
  nvlink-2: {kind: link, family: nvlink, generation: 2}
sockets:
  - socket: cpu0
    part: cpu
    numa: [{node: 0, cores: "0-19,40-59"}]
    pcie:
      - {root_port: rp0, switch: sw0, part: pcie-switch, ports: [
          {gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}, {nic: nic0, part: nic, device_name: mlx5_0}]}
      - {root_port: rp1, switch: sw1, part: pcie-switch, ports: [
          {gpu: gpu2, part: gpu}, {gpu: gpu3, part: gpu}, {nic: nic1, part: nic, device_name: mlx5_1}]}
  - socket: cpu1
    part: cpu
    numa: [{node: 1, cores: "20-39,60-79"}]
    pcie:
      - {root_port: rp2, switch: sw2, part: pcie-switch, ports: [
          {gpu: gpu4, part: gpu}, {gpu: gpu5, part: gpu}, {nic: nic2, part: nic, device_name: mlx5_2}]}
      - {root_port: rp3, switch: sw3, part: pcie-switch, ports: [
          {gpu: gpu6, part: gpu}, {gpu: gpu7, part: gpu}, {nic: nic3, part: nic, device_name: mlx5_3}]}
nvlinks:
  - {between: [gpu0, gpu1], generation: 2, count: 1}
  - {between: [gpu0, gpu2], generation: 2, count: 1}
  - {between: [gpu0, gpu3], generation: 2, count: 2}
  - {between: [gpu0, gpu4], generation: 2, count: 2}
  - {between: [gpu1, gpu2], generation: 2, count: 2}
  - {between: [gpu1, gpu3], generation: 2, count: 1}
  - {between: [gpu1, gpu5], generation: 2, count: 2}
  - {between: [gpu2, gpu3], generation: 2, count: 2}
  - {between: [gpu2, gpu6], generation: 2, count: 1}
  - {between: [gpu3, gpu7], generation: 2, count: 1}
  - {between: [gpu4, gpu5], generation: 2, count: 1}
  - {between: [gpu4, gpu6], generation: 2, count: 1}
  - {between: [gpu4, gpu7], generation: 2, count: 2}
  - {between: [gpu5, gpu6], generation: 2, count: 2}
  - {between: [gpu5, gpu7], generation: 2, count: 1}
  - {between: [gpu6, gpu7], generation: 2, count: 2}
)";

// The cells are those of a DGX-1 in microsoft/msccl-tools, tests/test_topologies.py, which an older driver printed; its
// adapters here in the order of this file, named as drivers from 535 on do.
constexpr char kDgx1Matrix[] =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\tGPU NUMA "
    "ID\n"
    "GPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\tPHB\tSYS\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU1\tNV1\t X \tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\tPIX\tPHB\tSYS\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU2\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tNV1\tSYS\tPHB\tPIX\tSYS\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU3\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tSYS\tNV1\tPHB\tPIX\tSYS\tSYS\t0-19,40-59\t0\t\tN/A\n"
    "GPU4\tNV2\tSYS\tSYS\tSYS\t X \tNV1\tNV1\tNV2\tSYS\tSYS\tPIX\tPHB\t20-39,60-79\t1\t\tN/A\n"
    "GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\t X \tNV2\tNV1\tSYS\tSYS\tPIX\tPHB\t20-39,60-79\t1\t\tN/A\n"
    "GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tPHB\tPIX\t20-39,60-79\t1\t\tN/A\n"
    "GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tPHB\tPIX\t20-39,60-79\t1\t\tN/A\n"
    "NIC0\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\tSYS\tSYS\t X \tPHB\tSYS\tSYS\t\t\t\t\n"
    "NIC1\tPHB\tPHB\tPIX\tPIX\tSYS\tSYS\tSYS\tSYS\tPHB\t X \tSYS\tSYS\t\t\t\t\n"
    "NIC2\tSYS\tSYS\tSYS\tSYS\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\t X \tPHB\t\t\t\t\n"
    "NIC3\tSYS\tSYS\tSYS\tSYS\tPHB\tPHB\tPIX\tPIX\tSYS\tSYS\tPHB\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n";

TEST(Topo, ADgx1AsPublished) { EXPECT_THAT(topo_matrix(test::machine_from(kDgx1)), StartsWith(kDgx1Matrix)); }

TEST(Topo, AdaptersAreNamedBelow) {
  EXPECT_THAT(topo_matrix(test::machine_from(kDgx1)),
              HasSubstr("bonded set of # NVLinks\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: mlx5_2\n  "
                        "NIC3: mlx5_3\n\n"));
}

TEST(Topo, OnlyAdaptersWithAnRdmaDeviceAreListed) {
  auto const text = topo_matrix(test::two_switch());
  EXPECT_THAT(text, HasSubstr("NIC0: mlx5_0"));
  EXPECT_THAT(text, Not(HasSubstr("eth0")));
  test::expect_golden("view/golden/two_switch.topo", text);
}

TEST(Topo, UnknownCoresAreNotAvailable) {
  EXPECT_THAT(topo_matrix(test::two_switch()), HasSubstr("\tN/A\t1\t\tN/A\n"));
}

TEST(Topo, NvlinkToACpuIsNoNvlinkBetweenGpus) {
  auto machine = test::machine_from(kDgx1);
  auto const part = machine.nvlinks.front().part;
  machine.nvlinks = {{PciId{2}, SocketId{0}, part, 3}, {PciId{3}, SocketId{0}, part, 3}};
  EXPECT_THAT(topo_matrix(machine), Not(HasSubstr("NV3")));
}

TEST(Topo, GpusOfOtherNamesAreExplained) {
  auto machine = test::two_switch();
  EXPECT_THAT(topo_matrix(machine), Not(HasSubstr("GPU Legend")));
  machine.functions[index(*machine.find_function("gpu0"))].name = "left";
  EXPECT_THAT(topo_matrix(machine), HasSubstr("GPU Legend:\n\n  GPU0: left\n  GPU1: gpu1\n"));
}

TEST(Topo, AClusterHasOneMatrixForEachKindOfNode) {
  test::expect_golden("view/golden/big_cluster.topo", topo_matrix(test::big_cluster()));
}

}  // namespace
}  // namespace lanewise
