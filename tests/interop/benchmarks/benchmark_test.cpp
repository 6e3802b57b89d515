// Tests the readers of benchmark output; all samples are our own, in the tools' formats.
#include "core/interop/benchmarks/benchmark.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measurement/measurement_writer.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Measurement read(Benchmark tool, std::string const& text, std::string const& machine, BenchmarkOptions options = {}) {
  auto catalogue = bundled();
  auto const made = read_benchmark(tool, SourceText::from_memory("out.txt", text), catalogue.machine(machine), options);
  auto const written = write_measurement(made);
  EXPECT_EQ(write_measurement(read_measurement(SourceText::from_memory("again.yaml", written))), written);
  EXPECT_EQ(detect_benchmark(text), tool);
  return made;
}

std::string problem_of(Benchmark tool, std::string const& text, std::string const& machine,
                       BenchmarkOptions options = {}) {
  auto catalogue = bundled();
  try {
    read_benchmark(tool, SourceText::from_memory("out.txt", text), catalogue.machine(machine), options);
  } catch (InputError const& error) {
    return error.what();
  }
  return "was read";
}

MeasuredSeries series_of(Measurement const& m, std::string const& name) {
  for (auto const& series : m.series)
    if (series.name == name) return series;
  ADD_FAILURE() << "no series " << name;
  return {};
}

// --------------------------------------------------------------------------------------------------------- nvbandwidth

constexpr auto* kNvbandwidth = R"(nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 12080
CUDA Driver Version: 12080
Driver Version: 570.86.15

Device 0: NVIDIA A100 80GB PCIe (00000000:17:00)
Device 1: NVIDIA A100 80GB PCIe (00000000:65:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     25.11     12.60

SUM host_to_device_memcpy_ce 37.71

Running device_to_host_bidirectional_memcpy_ce.
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)
           0         1
 0     19.50     18.90

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A     21.50
 1       N/A       N/A

Running device_to_device_bidirectional_memcpy_write_ce.
memcpy CE GPU(row) <-> GPU(column) Write1 bandwidth (GB/s)
           0         1
 0       N/A     11.00
 1     11.00       N/A

memcpy CE GPU(row) <-> GPU(column) Write2 bandwidth (GB/s)
           0         1
 0       N/A     12.00
 1     12.00       N/A

memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)
           0         1
 0       N/A     23.00
 1     23.50       N/A

Running all_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     24.00     24.10

Running all_to_one_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     24.20     24.30

Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0         1
 0    772.58    780.10

Running device_local_copy.
memcpy local GPU(column) bandwidth (GB/s)
           0         1
 0    830.00    831.00

Running multinode_device_to_device_memcpy_read_ce.
Waived:
)";

TEST(Nvbandwidth, TheNameOfATestSaysWhatItMeasures) {
  auto const m = read(Benchmark::Nvbandwidth, kNvbandwidth, "a100x8-pcie-4sw");
  EXPECT_EQ(m.environment.at("driver"), "570.86.15");
  EXPECT_EQ(m.environment.at("nvbandwidth"), "v0.8");
  Bytes const size(512 << 20);

  auto const down = series_of(m, "host_to_device_memcpy_ce");
  ASSERT_EQ(down.points.size(), 2U);
  EXPECT_THAT(down.points[1].flows, ElementsAre(MeasuredFlow{"numa0", "gpu1"}));
  EXPECT_DOUBLE_EQ(down.points[1].value, 12.6e9);
  EXPECT_EQ(down.points[1].bytes, size);
  EXPECT_EQ(down.points[1].pos.line, 14);

  // One direction is printed, while twice as much goes the other way.
  auto const both = series_of(m, "device_to_host_bidirectional_memcpy_ce");
  EXPECT_TRUE(both.of_first);
  EXPECT_THAT(both.points[0].flows,
              ElementsAre(MeasuredFlow{"gpu0", "numa0", size}, MeasuredFlow{"numa0", "gpu0", size * 2}));

  // The row's GPU reads from the column's.
  auto const reads = series_of(m, "device_to_device_memcpy_read_ce-pcie");
  ASSERT_EQ(reads.points.size(), 1U);
  EXPECT_THAT(reads.points[0].flows, ElementsAre(MeasuredFlow{"gpu1", "gpu0"}));
  EXPECT_TRUE(reads.pulled);
  EXPECT_EQ(reads.mechanism, Mechanism::PcieP2p);

  auto const total = series_of(m, "device_to_device_bidirectional_memcpy_write_ce-pcie");
  ASSERT_EQ(total.points.size(), 2U);
  EXPECT_DOUBLE_EQ(total.points[0].value, 23e9);
  EXPECT_THAT(total.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}, MeasuredFlow{"gpu1", "gpu0"}));

  auto const all = series_of(m, "all_to_host_memcpy_ce");
  EXPECT_TRUE(all.of_first);
  EXPECT_THAT(all.points[1].flows,
              ElementsAre(MeasuredFlow{"gpu1", "numa0", size}, MeasuredFlow{"gpu0", "numa0", size * 2}));
  EXPECT_THAT(series_of(m, "all_to_one_write_ce-pcie").points[0].flows, ElementsAre(MeasuredFlow{"gpu1", "gpu0"}));

  auto const latency = series_of(m, "host_device_latency_sm");
  EXPECT_EQ(latency.quantity, MeasuredQuantity::Latency);
  EXPECT_EQ(latency.op, Op::Read);
  EXPECT_NEAR(latency.points[0].value, 772.58e-9, 1e-15);
  EXPECT_EQ(series_of(m, "device_local_copy").mechanism, Mechanism::Local);
  EXPECT_THAT(m.notes, testing::Contains(HasSubstr("multinode_device_to_device_memcpy_read_ce has no figures")));
}

TEST(Nvbandwidth, PairsWithoutAccessBecomeFacts) {
  auto const m = read(Benchmark::Nvbandwidth, kNvbandwidth, "a100x8-pcie-4sw");
  auto const refused = std::count_if(m.facts.begin(), m.facts.end(), [](MeasuredFact const& f) { return !f.legal; });
  EXPECT_EQ(refused, 1);
  EXPECT_GE(m.facts.size(), 2U);
}

TEST(Nvbandwidth, JsonGivesTheSameAsText) {
  auto const m = read(
      Benchmark::Nvbandwidth, R"json({
   "nvbandwidth" : {
      "CUDA Runtime Version" : 12080, "Driver Version" : "570.86.15", "version" : "v0.8",
      "GPU Device list" : ["0: NVIDIA H100 80GB HBM3 (00000000:1b:00)"],
      "testcases" : [
         {"name" : "device_to_host_memcpy_sm", "status" : "Passed", "sum" : 105.2,
          "bandwidth_description" : "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)",
          "bandwidth_matrix" : [["52.5", "52.7"]]},
         {"name" : "device_to_device_memcpy_write_ce", "status" : "Passed",
          "bandwidth_matrix" : [["N/A", "391.5"], ["392.5", "N/A"]]},
         {"name" : "device_to_device_bidirectional_memcpy_read_ce", "status" : "Passed",
          "bandwidth_matrix" : [["N/A", "1"], ["1", "N/A"], ["N/A", "2"], ["2", "N/A"], ["N/A", "780"], ["781", "N/A"]]},
         {"name" : "host_to_device_memcpy_ce", "status" : "Waived"}
      ]
}
})json",
      "hgx-h100",
      {.machine = "", .gpus = {"gpu4", "gpu5"}, .numa = "numa0", .from = "", .to = "", .bytes = {}, .collective = {}});
  auto const up = series_of(m, "device_to_host_memcpy_sm");
  EXPECT_EQ(up.op, Op::LoadStore);
  EXPECT_THAT(up.points[1].flows, ElementsAre(MeasuredFlow{"gpu5", "numa0"}));
  auto const writes = series_of(m, "device_to_device_memcpy_write_ce");
  EXPECT_EQ(writes.mechanism, Mechanism::Nvlink);
  EXPECT_THAT(writes.points[0].flows, ElementsAre(MeasuredFlow{"gpu4", "gpu5"}));
  EXPECT_DOUBLE_EQ(series_of(m, "device_to_device_bidirectional_memcpy_read_ce").points[0].value, 780e9);
  EXPECT_EQ(m.environment.at("nvbandwidth"), "v0.8");
}

TEST(Nvbandwidth, ErrorsNameLineAndColumn) {
  std::string const head = "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n";
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head + "   0  1\n0  25.1\n", "hgx-h100"),
              HasSubstr("out.txt:4:1: error: expected a row of 2 figures"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head + "   0\n0  fast\n", "hgx-h100"),
              HasSubstr("out.txt:4:4: error: 'fast': expected a number or N/A"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head, "hgx-h100"), HasSubstr("the numbers of the columns"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head + "  0 1\n0 1 2\n", "gh200"), HasSubstr("'gh200' has no gpu1"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, "nothing\n", "gh200"), HasSubstr("no figure of nvbandwidth"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head + "  0\n0 0.0\n", "gh200"), HasSubstr("more than nothing"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, head + "  0\n0 2e70\n", "gh200"),
              HasSubstr("out.txt:4:3: error: no transfer is as fast as 1000000 TB/s"));
  EXPECT_THAT(problem_of(Benchmark::Nvbandwidth, "{\"nvbandwidth\": {}}", "gh200"), HasSubstr("testcases"));
}

// ------------------------------------------------------------------------------------------------------------ p2p-test

constexpr auto* kP2p = R"([P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA A100 80GB PCIe, pciBusID: 17, pciDeviceID: 0, pciDomainID:0
Device: 1, NVIDIA A100 80GB PCIe, pciBusID: 65, pciDeviceID: 0, pciDomainID:0
Device=0 CAN Access Peer Device=1

P2P Connectivity Matrix
     D\D     0     1     2
     0	     1     1     0
     1	     1     1     1
     2	     0     1     1
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\D     0      1      2
     0 1200.00  11.11  11.20
     1  11.30 1210.00  11.40
     2  11.50  11.60 1220.00
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\D     0      1      2
     0 1200.00  25.10  11.00
     1  25.20 1210.00  20.00
     2  11.10  20.10 1220.00
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
   D\D     0      1      2
     0 1200.00  50.10  17.00
     1  50.20 1210.00  20.00
     2  17.10  20.10 1220.00
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1      2
     0   2.30   1.30  15.00
     1   1.31   2.31   1.50
     2  15.10   1.60   2.20

   CPU     0      1      2
     0   2.30   1.30  15.00
     1   1.31   2.31   1.50
     2  15.10   1.60   2.20

NOTE: The CUDA Samples are not meant for performance measurements.
)";

TEST(P2pTest, TablesAreStagedOrPeerCopies) {
  auto const m = read(Benchmark::P2pTest, kP2p, "a100x8-pcie-4sw");
  auto const staged = series_of(m, "p2p-disabled-bandwidth");
  EXPECT_EQ(staged.mechanism, Mechanism::HostStaged);
  EXPECT_TRUE(staged.by_driver);
  EXPECT_EQ(staged.points.size(), 6U);
  EXPECT_EQ(staged.points[0].bytes, Bytes(160'000'000));

  auto const peers = series_of(m, "p2p-enabled-bandwidth-pcie");
  EXPECT_EQ(peers.points.size(), 4U);
  EXPECT_THAT(peers.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}));
  EXPECT_DOUBLE_EQ(peers.points[0].value, 25.1e9);
  EXPECT_EQ(series_of(m, "p2p-enabled-bandwidth-without-access").points.size(), 2U);
  EXPECT_EQ(series_of(m, "p2p-enabled-both-ways-bandwidth-pcie").points[0].flows.size(), 2U);

  auto const latency = series_of(m, "p2p-enabled-latency-pcie");
  EXPECT_EQ(latency.quantity, MeasuredQuantity::Latency);
  EXPECT_EQ(latency.points.size(), 4U);  // the CPU's table is left out
  EXPECT_NEAR(latency.points[0].value, 1.3e-6, 1e-15);
  EXPECT_EQ(latency.points[0].bytes, Bytes(16));

  // The diagonal counts what is read and what is written.
  EXPECT_DOUBLE_EQ(series_of(m, "local-bandwidth").points[0].value, 600e9);
  EXPECT_EQ(std::count_if(m.facts.begin(), m.facts.end(), [](MeasuredFact const& f) { return !f.legal; }), 2);
  EXPECT_EQ(m.environment.at("gpu"), "NVIDIA A100 80GB PCIe");
}

TEST(P2pTest, ErrorsNameLineAndColumn) {
  std::string const title = "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n";
  EXPECT_THAT(problem_of(Benchmark::P2pTest, title + " D\\D 0 1\n 0 1 2\n", "a100x8-pcie-4sw"),
              HasSubstr("out.txt:1:1: error: expected 2 rows, found 1"));
  EXPECT_THAT(problem_of(Benchmark::P2pTest, title + " D\\D 0 1\n 0 1 2\n 1 x 1\n", "a100x8-pcie-4sw"),
              HasSubstr("out.txt:4:4: error: 'x': expected a number"));
  EXPECT_THAT(problem_of(Benchmark::P2pTest, title, "a100x8-pcie-4sw"), HasSubstr("numbers of the columns"));
}

// ------------------------------------------------------------------------------------------------------ bandwidth-test

TEST(BandwidthTest, AFigureWithoutItsUnitIsInMegabytes) {
  auto const read_back =
      read(Benchmark::BandwidthTest, "bandwidthTest-H2D-Pinned, Size = 1000 Bandwidth = 2000\n", "hgx-h100");
  EXPECT_DOUBLE_EQ(read_back.series[0].points[0].value, 2000.0 * (1 << 20));
}

TEST(BandwidthTest, TablesAndLinesOfNumbers) {
  auto const m = read(Benchmark::BandwidthTest, R"([CUDA Bandwidth Test] - Starting...
Running on...

 Device 1: NVIDIA A100-PCIE-40GB
 Quick Mode

 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)	Bandwidth(GB/s)
   32000000			24.6

 Device to Host Bandwidth, 1 Device(s)
 PAGEABLE Memory Transfers
   Transfer Size (Bytes)	Bandwidth(MB/s)
   33554432			1000.0

 Device to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)	Bandwidth(GB/s)
   32000000			1200.0

Result = PASS
bandwidthTest-H2D-Pinned, Bandwidth = 24.5 GB/s, Time = 0.00130 s, Size = 32000000 bytes, NumDevsUsed = 1
)",
                      "a100x8-pcie-4sw");
  auto const down = series_of(m, "host-to-device-pinned");
  ASSERT_EQ(down.points.size(), 2U);
  EXPECT_THAT(down.points[0].flows, ElementsAre(MeasuredFlow{"numa0", "gpu1"}));
  EXPECT_DOUBLE_EQ(down.points[0].value, 24.6e9);
  EXPECT_DOUBLE_EQ(down.points[1].value, 24.5e9);
  auto const up = series_of(m, "device-to-host-pageable");
  EXPECT_TRUE(up.pageable);
  EXPECT_DOUBLE_EQ(up.points[0].value, 1000.0 * 1048576);
  EXPECT_DOUBLE_EQ(series_of(m, "device-to-device").points[0].value, 600e9);
}

TEST(BandwidthTest, SumsOverDevicesAreRefused) {
  EXPECT_THAT(problem_of(Benchmark::BandwidthTest, "[CUDA Bandwidth Test]\n Host to Device Bandwidth, 8 Device(s)\n",
                         "a100x8-pcie-4sw"),
              HasSubstr("out.txt:2:1: error: the sum over several devices"));
}

// ---------------------------------------------------------------------------------------------------------- nccl-tests

std::string const kRanks =
    "# nThread 1 nGpus 2 minBytes 33554432 maxBytes 67108864 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid    77 on      node device  0 [0000:17:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid    77 on      node device  1 [0000:65:00] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n";

TEST(NcclTests, SendAndReceiveIsAShiftOfAllRanks) {
  auto const m =
      read(Benchmark::NcclTests,
           "# Collective test starting: sendrecv_perf\n" + kRanks +
               "    33554432       8388608     float    none      -1    110.5  303.7  303.7      0    111.5  "
               "300.9  300.9    N/A\n"
               "        1024           256     float    none      -1     10.5    0.1    0.1      0     10.5    "
               "0.1    0.1    N/A\n",
           "hgx-h100");
  auto const large = series_of(m, "sendrecv");
  EXPECT_EQ(large.quantity, MeasuredQuantity::Makespan);
  EXPECT_THAT(large.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}, MeasuredFlow{"gpu1", "gpu0"}));
  EXPECT_NEAR(large.points[0].value, 110.5e-6, 1e-12);
  EXPECT_EQ(large.points[0].bytes, Bytes(33554432));
  EXPECT_FALSE(series_of(m, "sendrecv-small").doubtful.empty());
}

TEST(NcclTests, ACollectiveHasItsRanksItsLibraryAndItsSizes) {
  auto const m =
      read(Benchmark::NcclTests,
           "# nccl-tests version 2.19.6 nccl-headers=22102 nccl-library=22102\n# Collective test starting: "
           "all_gather_perf\n" +
               kRanks +
               "host:1:1 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n"
               "    33554432       4194304     float    none      -1    110.5  303.7  151.8      0    111.5  300.9 "
               " 150.4      0\n"
               "        1024           128     float    none      -1     10.5    0.1    0.1      0     10.5    "
               "0.1    0.1      0\n",
           "hgx-h100");
  auto const large = series_of(m, "all-gather-2");
  ASSERT_TRUE(large.collective);
  EXPECT_EQ(large.collective->op, CollectiveOp::AllGather);
  EXPECT_THAT(large.collective->among, ElementsAre("gpu0", "gpu1"));
  EXPECT_EQ(large.collective->library, (Library{LibraryKind::Nccl, 2, 21}));
  EXPECT_NEAR(large.points[0].value, 110.5e-6, 1e-12);
  EXPECT_EQ(large.points[0].bytes, Bytes(33554432));
  EXPECT_THAT(large.settings, ElementsAre(Setting{"library.env.NCCL_NVLS_ENABLE", "0"}));
  EXPECT_FALSE(series_of(m, "all-gather-2-small").doubtful.empty());
}

// Two ranks' all_reduce has the columns and the factor of sendrecv_perf.
TEST(NcclTests, WhatTheColumnsDoNotTellMustBeSaid) {
  auto const row =
      "    33554432       8388608     float     sum      -1    110.5  303.7  303.7      0    111.5  300.9  300.9    "
      "0\n";
  EXPECT_THAT(problem_of(Benchmark::NcclTests, kRanks + row, "hgx-h100"), HasSubstr("--collective OP, or --sendrecv"));
  BenchmarkOptions options;
  options.sendrecv = true;
  EXPECT_FALSE(read(Benchmark::NcclTests, kRanks + row, "hgx-h100", options).series.at(0).collective);
  options = {};
  options.collective = CollectiveOp::AllReduce;
  EXPECT_TRUE(read(Benchmark::NcclTests, kRanks + row, "hgx-h100", options).series.at(0).collective);
}

TEST(NcclTests, OldColumnsHaveNoRootAndBlankRedops) {
  auto const old =
      "# nThread 1 nGpus 2\n"
      "#   Rank  0 Pid  77 on node device  0 [0x07] NVIDIA H100 80GB HBM3\n"
      "#   Rank  1 Pid  77 on node device  1 [0x0f] NVIDIA H100 80GB HBM3\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  "
      "error\n"
      "    33554432       4194304   float             110.5  303.7  151.8  0e+00    111.5  300.9  150.4  0e+00\n";
  BenchmarkOptions options;
  options.collective = CollectiveOp::AllGather;
  auto const m = read(Benchmark::NcclTests, old, "hgx-h100", options);
  EXPECT_NEAR(m.series.at(0).points.at(0).value, 110.5e-6, 1e-12);
}

// People often paste rows without what stands above them. Of n ranks busbw is 2 (n - 1) / n times algbw.
TEST(NcclTests, WithoutAListOfRanksBandwidthsTellTheirNumber) {
  std::string const beginning =
      "# nThread 1 nGpus 8\n  1073741824     268435456     float     sum      -1   4000.0  268.44  ";
  auto const m = read(Benchmark::NcclTests,
                      beginning + "469.76      0   4001.0  268.37  469.65      0\n" +
                          "           8             2     float     sum      -1     9.00    0.00    0.00      0\n",
                      "hgx-h100");
  auto const large = series_of(m, "all-reduce-8");
  ASSERT_TRUE(large.collective);
  EXPECT_EQ(large.collective->op, CollectiveOp::AllReduce);
  EXPECT_EQ(large.collective->among.size(), 8U);
  EXPECT_THAT(m.notes, testing::Contains("no ranks are listed; taken for 8 of the 8 GPUs, as busbw and algbw say"));
  EXPECT_EQ(
      series_of(read(Benchmark::NcclTests, beginning + "402.66      0\n", "hgx-h100"), "all-reduce-4").points.size(),
      1U);
  EXPECT_THAT(problem_of(Benchmark::NcclTests, beginning + "503.32      0\n", "hgx-h100"),
              HasSubstr("busbw and algbw differ as with 16 ranks, and hgx-h100 has 8 GPUs"));
}

TEST(NcclTests, AListOfRanksThatBandwidthsContradictIsCut) {
  auto const m = read(Benchmark::NcclTests,
                      kRanks + "  1073741824     268435456     float     sum      -1   4000.0  268.44  503.32      0\n",
                      "hgx-h100-2");
  EXPECT_EQ(series_of(m, "all-reduce-16").collective->among.size(), 16U);
  EXPECT_THAT(m.notes, testing::Contains("2 ranks are listed; taken for 16 of the 16 GPUs, as busbw and algbw say"));
}

TEST(NcclTests, WithoutAListOfRanksACollectiveWithoutAFactorIsOfAllGpus) {
  BenchmarkOptions options;
  options.collective = CollectiveOp::Broadcast;
  auto const m = read(Benchmark::NcclTests,
                      "# nThread 1 nGpus 16\n"
                      "  1073741824     268435456     float    none       0   4000.0  268.44  268.44      0\n",
                      "hgx-h100-2", options);
  EXPECT_EQ(series_of(m, "broadcast-16").collective->among.back(), "node1/gpu7");
}

TEST(NcclTests, TheVersionOfALaterRunIsNotThatOfAnEarlierOne) {
  std::string const row =
      "    33554432       4194304     float    none      -1    110.5  303.7  151.8      0    111.5  300.9  150.4      "
      "0\n";
  auto const run = [&](std::string const& version, std::string const& name) {
    return "# nccl-tests version 2.19.6 nccl-headers=" + version + " nccl-library=" + version +
           "\n# Collective test starting: " + name + "_perf\n# Using devices\n" + kRanks + row;
  };
  auto const m = read(Benchmark::NcclTests, run("22102", "all_gather") + run("22809", "reduce_scatter"), "hgx-h100");
  EXPECT_EQ(series_of(m, "all-gather-2").collective->library, (Library{LibraryKind::Nccl, 2, 21}));
  EXPECT_EQ(series_of(m, "reduce-scatter-2").collective->library, (Library{LibraryKind::Nccl, 2, 28}));
}

// Found by fuzzing: more than an integer holds.
TEST(NcclTests, ARootThatIsNoRankIsNone) {
  auto const m = read(Benchmark::NcclTests,
                      "# Collective test starting: broadcast_perf\n" + kRanks +
                          "    33554432       8388608     float    none   3e216    110.5  303.7  303.7      0\n"
                          "    67108864      16777216     float    none   5555555550    220.5  304.3  304.3      0\n",
                      "hgx-h100");
  EXPECT_EQ(series_of(m, "broadcast-2").points.size(), 2U);
}

// Found by fuzzing: these bandwidths are those of no number of ranks.
TEST(NcclTests, ANegativeBandwidthTellsNoRanks) {
  auto const m = read(Benchmark::NcclTests,
                      "# nThread 1 nGpus 8\n# Collective test starting: all_gather_perf\n"
                      "    33554432       8388608     float    none      -1    110.5  303.7  -1300.9      0\n",
                      "hgx-h100");
  EXPECT_EQ(series_of(m, "all-gather-8").points.size(), 1U);
}

TEST(NcclTests, OtherUnitsAreRefused) {
  auto const row = "    33554432       8388608     float     sum      -1    110.5  303.7  303.7      0\n";
  std::string const begin = "# Collective test starting: all_reduce_perf\n" + kRanks;
  auto const units = [](std::string const& time) {
    return "#        (B)    (elements)                               " + time + "  (GB/s)  (GB/s)\n";
  };
  EXPECT_EQ(read(Benchmark::NcclTests, begin + units("(us)") + row, "hgx-h100").series.size(), 1U);
  auto const problem = problem_of(Benchmark::NcclTests, begin + units("(ms)") + row, "hgx-h100");
  EXPECT_THAT(problem, HasSubstr(":6:58"));
  // The columns of -T, and of times of each iteration.
  EXPECT_EQ(
      read(Benchmark::NcclTests, begin + units("(us) (%) (%)  %Y-%m-%d %H:%M:%S") + row, "hgx-h100").series.size(), 1U);
  EXPECT_THAT(problem, HasSubstr("'(ms)': nccl-tests print sizes in (B), times in (us) and bandwidths in (GB/s)"));
}

TEST(NcclTests, ARowWhoseHalvesDifferIsDoubtful) {
  std::string const begin = "# Collective test starting: all_reduce_perf\n" + kRanks;
  auto const m =
      read(Benchmark::NcclTests,
           begin +
               "    33554432       8388608     float     sum      -1    110.5  303.7  303.7      0    210.5  "
               "159.4  159.4      0\n"
               "    67108864      16777216     float     sum      -1    221.0  303.7  303.7      0    230.0  "
               "291.8  291.8      0\n",
           "hgx-h100");
  EXPECT_THAT(series_of(m, "all-reduce-2-disturbed").doubtful, HasSubstr("out of place and in place differ"));
  EXPECT_EQ(series_of(m, "all-reduce-2-disturbed").points.size(), 1U);
  EXPECT_EQ(series_of(m, "all-reduce-2").points.at(0).bytes, Bytes(67108864));
}

// Of sends and receives the time of the call is not in the prediction: 25 us of 140 are too much.
TEST(NcclTests, SendsThatTakeHardlyLongerThanACallAreDoubtful) {
  auto const m = read(Benchmark::NcclTests,
                      "# Collective test starting: sendrecv_perf\n" + kRanks +
                          "        1024           256     float    none      -1     25.0    0.0    0.0      0\n"
                          "    33554432       8388608     float    none      -1    140.0  239.7  239.7      0\n"
                          "   268435456      67108864     float    none      -1    900.0  298.3  298.3      0\n",
                      "hgx-h100");
  EXPECT_EQ(series_of(m, "sendrecv-small").points.size(), 2U);
  EXPECT_EQ(series_of(m, "sendrecv").points.size(), 1U);
  // Where no row says what a call takes, all large ones count.
  auto const one = read(Benchmark::NcclTests,
                        "# Collective test starting: sendrecv_perf\n" + kRanks +
                            "   268435456      67108864     float    none      -1    900.0  298.3  298.3      0\n",
                        "hgx-h100");
  EXPECT_EQ(series_of(one, "sendrecv").points.size(), 1U);
}

TEST(NcclTests, ARowThatContradictsItselfIsLeftOutAndNoted) {
  auto const m = read(Benchmark::NcclTests,
                      "# Collective test starting: all_reduce_perf\n" + kRanks +
                          "    33554432       8388608     float     sum      -1    0.1105  303.7  303.7      0\n"
                          "    67108864      16777216     float     sum      -1    221.0   303.7  303.7      0\n",
                      "hgx-h100");
  EXPECT_EQ(series_of(m, "all-reduce-2").points.size(), 1U);
  EXPECT_THAT(m.notes,
              testing::Contains("line 6 is left out: 33554432 B in 0.1105 us are 3.04e+05 GB/s, and the row says "
                                "303.7: is the time in another unit?"));
}

TEST(NcclTests, ATableWhoseRowsAllContradictThemselvesIsRefused) {
  std::string const begin = "# Collective test starting: all_reduce_perf\n" + kRanks;
  EXPECT_THAT(
      problem_of(Benchmark::NcclTests,
                 begin + "    33554432       8388608     float     sum      -1    0.1105  303.7  303.7      0\n",
                 "hgx-h100"),
      HasSubstr("is the time in another unit?"));
  // -C prints the CPU's time beside bandwidths of the GPUs' time.
  auto cpu = begin;
  for (auto at = cpu.find("  time "); at != std::string::npos; at = cpu.find("  time ")) cpu.replace(at, 7, "cputime");
  auto const m = read(Benchmark::NcclTests,
                      cpu +
                          "    33554432       8388608     float     sum      -1    60.50  303.7  303.7      0    60.00 "
                          " 303.7  303.7      0\n",
                      "hgx-h100");
  EXPECT_EQ(series_of(m, "all-reduce-2").points.size(), 1U);
}

TEST(NcclTests, BothHalvesOfAJsonRowAreRead) {
  auto const json = [](std::string const& time, std::string const& in_place) {
    return R"({"version": 3, "args": ["./build/all_reduce_perf", "-g", "2"], "nccl_version": 22904,
  "config": {"devices": [
    {"rank": 0, "group": 0, "pid": 1, "hostname": "a", "device": 0, "device_info": "NVIDIA H100 80GB HBM3"},
    {"rank": 1, "group": 0, "pid": 1, "hostname": "a", "device": 1, "device_info": "NVIDIA H100 80GB HBM3"}]},
  "results": [{"size": 67108864, "count": 16777216, "type": "float", "redop": "sum", "root": -1,
    "out_of_place": {"time": )" +
           time + R"(, "alg_bw": 303.7, "bus_bw": 303.7, "nwrong": 0},
    "in_place": {"time": )" +
           in_place + R"(, "alg_bw": 303.7, "bus_bw": 303.7, "nwrong": 0}}],
  "average_bus_bandwidth": {"bandwidth": 303.7, "okay": "unchecked"}})";
  };
  EXPECT_EQ(series_of(read(Benchmark::NcclTests, json("221.0", "222.0"), "hgx-h100"), "all-reduce-2").points.size(),
            1U);
  EXPECT_EQ(
      series_of(read(Benchmark::NcclTests, json("221.0", "422.0"), "hgx-h100"), "all-reduce-2-disturbed").points.size(),
      1U);
  EXPECT_THAT(problem_of(Benchmark::NcclTests, json("0.221", "0.222"), "hgx-h100"),
              HasSubstr("is the time in another unit?"));
}

TEST(NcclTests, AnotherGpuIsAnotherMachine) {
  EXPECT_THAT(problem_of(Benchmark::NcclTests, "# Collective test starting: all_reduce_perf\n" + kRanks, "dgx-a100"),
              HasSubstr("this ran on 'NVIDIA H100 80GB HBM3', and the GPUs of dgx-a100 are"));
}

TEST(NcclTests, CollectivesOfOtherKindsAreSkippedAndNoted) {
  auto const m =
      read(Benchmark::NcclTests,
           "# Collective test starting: hypercube_perf\n" + kRanks +
               "    33554432       8388608     float    none      -1    110.5  303.7  151.8      0\n"
               "# Collective test starting: all_reduce_perf\n" +
               kRanks + "    33554432       8388608     float     sum      -1    110.5  303.7  303.7      0\n",
           "hgx-h100");
  EXPECT_EQ(m.series.size(), 1U);
  EXPECT_THAT(m.notes, testing::Contains(HasSubstr("1 row of hypercube_perf")));
}

TEST(NcclTests, ACollectiveWithARootHasItsRoot) {
  auto const m =
      read(Benchmark::NcclTests,
           kRanks + "    33554432       8388608     float     sum       1    110.5  303.7  303.7      0\n" +
               "# Collective test starting: gather_perf\n" + kRanks +
               "    33554432       4194304     float    none       1    110.5  303.7  151.8      0\n"
               "# Collective test starting: scatter_perf\n" +
               kRanks + "    33554432       4194304     float    none       0    110.5  303.7  151.8      0\n",
           "hgx-h100");
  EXPECT_EQ(series_of(m, "reduce-2-root-1").collective->op, CollectiveOp::Reduce);
  EXPECT_EQ(series_of(m, "reduce-2-root-1").collective->root, 1U);
  EXPECT_EQ(series_of(m, "gather-2-root-1").collective->op, CollectiveOp::Gather);
  EXPECT_EQ(series_of(m, "scatter-2").collective->root, 0U);
  EXPECT_EQ(series_of(m, "scatter-2").points.at(0).bytes, Bytes(33554432));
}

TEST(NcclTests, WhatIsWrongWithARootIsSaid) {
  std::string const row = "    33554432       4194304     float    none       2    110.5  303.7  ";
  EXPECT_THAT(problem_of(Benchmark::NcclTests,
                         "# Collective test starting: broadcast_perf\n" + kRanks + row + "303.7 0\n", "hgx-h100"),
              HasSubstr("root 2: only 2 ranks take part"));
  // A gather and a scatter have the same columns.
  EXPECT_THAT(problem_of(Benchmark::NcclTests, kRanks + row + "151.8 0\n", "hgx-h100"),
              HasSubstr("--collective OP, or --sendrecv"));
}

TEST(NcclTests, JsonIsReadAsTheText) {
  auto const m =
      read(Benchmark::NcclTests, R"({"version": 3, "args": ["./build/alltoall_perf", "-g", "2"], "nccl_version": 22904,
  "config": {"devices": [
    {"rank": 0, "group": 0, "pid": 1, "hostname": "a", "device": 0, "device_info": "NVIDIA H100 80GB HBM3"},
    {"rank": 1, "group": 0, "pid": 1, "hostname": "a", "device": 1, "device_info": "NVIDIA H100 80GB HBM3"}]},
  "results": [{"size": 33554432, "count": 4194304, "type": "float", "redop": "none", "root": -1,
    "out_of_place": {"time": 85.44, "alg_bw": 392.73, "bus_bw": 196.36, "nwrong": 0}, "in_place": null}],
  "average_bus_bandwidth": {"bandwidth": 196.36, "okay": "unchecked"}})",
           "hgx-h100");
  ASSERT_EQ(m.series.size(), 1U);
  EXPECT_EQ(m.series[0].collective->op, CollectiveOp::AllToAll);
  EXPECT_EQ(m.series[0].collective->library, (Library{LibraryKind::Nccl, 2, 29}));
  EXPECT_NEAR(m.series[0].points[0].value, 85.44e-6, 1e-12);
}

// ------------------------------------------------------------------------------------------------------------ perftest

BenchmarkOptions between(std::string from, std::string to) {
  BenchmarkOptions options;
  options.from = std::move(from);
  options.to = std::move(to);
  return options;
}

constexpr auto* kWriteBw = R"(---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF		Device         : mlx5_0
 Number of qps   : 2		Transport type : IB
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x01 QPN 0x0127 PSN 0xb7f8
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             23400.10            23300.00		   0.372800
---------------------------------------------------------------------------------------
)";

TEST(Perftest, BandwidthIsThatOfManyMessagesInFlight) {
  auto const m = read(Benchmark::Perftest, kWriteBw, "hgx-h100-2", between("node0/gpu0", "node1/gpu0"));
  auto const writes = series_of(m, "write-bandwidth");
  EXPECT_EQ(writes.op, Op::Write);
  EXPECT_TRUE(writes.pipelined);
  EXPECT_EQ(writes.queue_pairs, 2);
  EXPECT_EQ(writes.mechanism, Mechanism::Gdr);
  EXPECT_DOUBLE_EQ(writes.points[0].value, 23300.0 * 1048576);
  EXPECT_EQ(m.environment.at("device"), "mlx5_0");
  EXPECT_EQ(
      read(Benchmark::Perftest, kWriteBw, "hgx-h100-2", between("node0/numa0", "node1/numa0")).series[0].mechanism,
      Mechanism::Rdma);
}

TEST(Perftest, LatencyIsTheMedian) {
  auto const m =
      read(Benchmark::Perftest,
           "                    Send Latency Test\n"
           " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
           "99% percentile[usec]   99.9% percentile[usec]\n"
           " 8       1000          1.50           6.50         1.75     \t       1.80        \t0.10\t\t1.90\t\t"
           "6.50\n",
           "hgx-h100-2", between("node0/numa0", "node1/numa0"));
  EXPECT_EQ(m.series[0].quantity, MeasuredQuantity::Latency);
  EXPECT_NEAR(m.series[0].points[0].value, 1.75e-6, 1e-15);
}

TEST(Perftest, BothWaysAndGigabitsAndJson) {
  auto const both = read(Benchmark::Perftest,
                         "          RDMA_Write Bidirectional BW Test\n"
                         " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
                         " 1048576      5000             390.10            388.00		   0.046\n",
                         "hgx-h100-2", between("node0/numa0", "node1/numa0"));
  EXPECT_EQ(both.series[0].points[0].flows.size(), 2U);
  EXPECT_FALSE(both.series[0].pipelined);
  EXPECT_DOUBLE_EQ(both.series[0].points[0].value, 388e9 / 8);

  auto const json =
      read(Benchmark::Perftest,
           "{\n\"test_info\": {\n\"test\": \"RDMA_Read BW Test\",\n\"Number_of_qps\": 1\n},\n\"results\": "
           "{\n\"MsgSize\": 65536,\n\"BW_peak\": 1.0,\n\"BW_average\": 22000.5\n}\n}\n",
           "hgx-h100-2", between("node0/numa0", "node1/numa0"));
  EXPECT_EQ(json.series[0].op, Op::Read);
  EXPECT_DOUBLE_EQ(json.series[0].points[0].value, 22000.5 * 1048576);
}

TEST(Perftest, NeedsFromAndTo) {
  EXPECT_THAT(problem_of(Benchmark::Perftest, kWriteBw, "hgx-h100-2"), HasSubstr("--from PLACE and --to PLACE"));
  EXPECT_THAT(problem_of(Benchmark::Perftest, kWriteBw, "hgx-h100-2", between("node0/gpu9", "node1/gpu0")),
              HasSubstr("node0/gpu"));
  EXPECT_THAT(problem_of(Benchmark::Perftest, "   Atomic BW Test\n", "hgx-h100-2", between("node0/gpu0", "node1/gpu0")),
              HasSubstr("out.txt:1:4: error: 'Atomic BW Test' cannot be imported"));
}

// ----------------------------------------------------------------------------------------------------------------- osu

TEST(Osu, BandwidthAndLatency) {
  auto const bandwidth = read(Benchmark::Osu,
                              "\n# OSU MPI-CUDA Bandwidth Test v7.3\n# Send Buffer on DEVICE (D) and Receive Buffer on "
                              "DEVICE (D)\n# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n1                2.34\n"
                              "4194304      24000.10\n",
                              "hgx-h100-2", between("node0/gpu0", "node1/gpu0"));
  EXPECT_TRUE(bandwidth.series[0].pipelined);
  EXPECT_DOUBLE_EQ(bandwidth.series[0].points[1].value, 24000.1e6);

  auto const latency =
      read(Benchmark::Osu,
           "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n0  1.1\n8                       1.20\n",
           "hgx-h100-2", between("node0/numa0", "node1/numa0"));
  ASSERT_EQ(latency.series[0].points.size(), 1U);  // an empty message moves nothing
  EXPECT_NEAR(latency.series[0].points[0].value, 1.2e-6, 1e-15);
}

TEST(Osu, SizesAreThoseOfAMeasurement) {
  EXPECT_THAT(problem_of(Benchmark::Osu, "# OSU MPI Bandwidth Test v7.3\n# Size (MB/s)\n2251799813685248 1000\n",
                         "hgx-h100-2", between("node0/numa0", "node1/numa0")),
              HasSubstr("out.txt:3:18: error: no transfer has more than 1024 TiB"));
}

TEST(Osu, BuffersMustBeInTheMemoryOfTheEnds) {
  EXPECT_THAT(problem_of(Benchmark::Osu,
                         "# OSU MPI-CUDA Latency Test\n# Send Buffer on DEVICE (D) and Receive Buffer on "
                         "HOST (H)\n",
                         "hgx-h100-2", between("node0/numa0", "node1/numa0")),
              HasSubstr("out.txt:2:1: error: this buffer is in a GPU's memory, but --from node0/numa0 is not"));
  EXPECT_THAT(problem_of(Benchmark::Osu, "# OSU MPI Barrier Latency Test\n", "hgx-h100-2",
                         between("node0/numa0", "node1/numa0")),
              HasSubstr("cannot be imported"));
}

// Of an all-to-all and an all-gather OSU prints a rank's part, of others all that nccl-tests counts.
TEST(Osu, CollectivesOfGpus) {
  auto const rows = [](std::string const& title, std::string const& more = "") {
    return "# OSU " + title + " Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)" + more +
           "\n1048576               488.45    480.1   490.2   100\n";
  };
  auto const exchange = read(Benchmark::Osu, rows("MPI-CUDA All-to-All Personalized Exchange"), "gh200x4-2");
  ASSERT_EQ(exchange.series.size(), 1U);
  EXPECT_EQ(exchange.series[0].collective->op, CollectiveOp::AllToAll);
  EXPECT_EQ(exchange.series[0].collective->library.kind, LibraryKind::Mpi);
  EXPECT_EQ(exchange.series[0].collective->among.size(), 8U);
  EXPECT_EQ(exchange.series[0].points[0].bytes, Bytes(8 << 20));
  EXPECT_NEAR(exchange.series[0].points[0].value, 488.45e-6, 1e-12);
  BenchmarkOptions two;
  two.gpus = {"gpu0", "gpu1"};
  auto const reduced =
      read(Benchmark::Osu, rows("NCCL Allreduce", "  Min Latency(us)  Max Latency(us)  Iterations"), "hgx-h100", two);
  EXPECT_EQ(reduced.series[0].collective->library, Library{});
  EXPECT_EQ(reduced.series[0].collective->among.size(), 2U);
  EXPECT_EQ(reduced.series[0].points[0].bytes, Bytes(1 << 20));
  auto const of_two = [&](std::string const& title) {
    return read(Benchmark::Osu, rows("MPI-CUDA " + title), "hgx-h100", two).series.at(0);
  };
  EXPECT_EQ(of_two("Reduce").collective->op, CollectiveOp::Reduce);
  EXPECT_EQ(of_two("Reduce").points[0].bytes, Bytes(1 << 20));
  EXPECT_EQ(of_two("Reduce_scatter").collective->op, CollectiveOp::ReduceScatter);
  for (auto const& [title, op] :
       {std::pair("Gather", CollectiveOp::Gather), std::pair("Scatter", CollectiveOp::Scatter)}) {
    EXPECT_EQ(of_two(title).collective->op, op);
    EXPECT_EQ(of_two(title).points[0].bytes, Bytes(2 << 20)) << title;
  }
  EXPECT_THAT(problem_of(Benchmark::Osu, rows("MPI Allreduce"), "hgx-h100"),
              HasSubstr("out.txt:1:1: error: these buffers are in host memory"));
}

TEST(Benchmarks, OtherTextIsNotDetected) { EXPECT_EQ(detect_benchmark("GPU0 GPU1\nGPU0 X NV12\n"), std::nullopt); }

// --------------------------------------------------------------------------------------------------------
// TransferBench

constexpr auto* kTransferBenchPairs = R"(TransferBench v1.52.00
===============================================================
Bytes Per Direction 67108864
Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
 SRC+EXE\DST    CPU 00    CPU 01       GPU 00    GPU 01
  CPU 00  ->     40.00     39.00        41.00     42.00
  CPU 01  ->     40.00     39.00        41.00     42.00

  GPU 00  ->     55.23     55.26      1689.85     48.46
  GPU 01  ->     55.24     55.25        48.51       N/A
                           CPU->CPU  CPU->GPU  GPU->CPU  GPU->GPU
Averages (During UniDir):     39.50     41.50     55.24     48.48

Bidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
     SRC\DST    CPU 00    CPU 01       GPU 00    GPU 01
  GPU 00  ->     30.00     30.00          N/A     46.10
  GPU 00 <-      30.00     30.00          N/A     46.20
  GPU 00 <->     60.00     60.00          N/A     92.30
)";

TEST(TransferBench, ReadsPairsByTheirExecutor) {
  auto const m = read(Benchmark::TransferBench, kTransferBenchPairs, "mi300x-x8");
  EXPECT_EQ(m.environment.at("TransferBench"), "1.52.00");
  auto const pairs = series_of(m, "pairs-by-kernels");
  ASSERT_EQ(pairs.points.size(), 2U);
  EXPECT_THAT(pairs.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}));
  EXPECT_DOUBLE_EQ(pairs.points[0].value, 48.46e9);
  EXPECT_EQ(pairs.points[0].bytes, Bytes(64 << 20));
  EXPECT_EQ(pairs.op, Op::LoadStore);
  EXPECT_EQ(pairs.mechanism, Mechanism::Nvlink);
  auto const host = series_of(m, "host-pairs-by-kernels");
  ASSERT_EQ(host.points.size(), 4U);
  EXPECT_THAT(host.points[1].flows, ElementsAre(MeasuredFlow{"gpu0", "numa1"}));
  auto const both = series_of(m, "pairs-both-ways-by-kernels");
  ASSERT_EQ(both.points.size(), 1U) << "a CPU's threads have one direction of the others";
  EXPECT_THAT(both.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}, MeasuredFlow{"gpu1", "gpu0"}));
  EXPECT_DOUBLE_EQ(both.points[0].value, 92.3e9);
  EXPECT_EQ(detect_benchmark(kTransferBenchPairs), Benchmark::TransferBench);
}

TEST(TransferBench, EnginesAndRemoteReadsAreTold) {
  std::string text = kTransferBenchPairs;
  text.replace(text.find("[Local read / Remote write] (GPU-Executor: GFX)"), 47,
               "[Remote read / Local write] (GPU-Executor: DMA)");
  auto const pairs = series_of(read(Benchmark::TransferBench, text, "mi300x-x8"), "pairs-by-engines-reading");
  EXPECT_EQ(pairs.op, Op::Copy);
  EXPECT_TRUE(pairs.pulled);
}

TEST(TransferBench, TransfersOfOneTestRanAtOnce) {
  auto const m = read(Benchmark::TransferBench, R"(Test 1:
 Executor: GPU 00 |   97.0 GB/s |    1.400 ms |    134217728 bytes | 97.0 GB/s (sum)
     Transfer 00  |   48.0 GB/s |    1.400 ms |     67108864 bytes | G0 -> G000:008 -> G1
     Transfer 01  |   49.0 GB/s |    1.400 ms |     67108864 bytes | G0 -> G000:008 -> F2
Test 2:
     Transfer 00  |   50.0 GB/s |    1.400 ms |     67108864 bytes | G3 -> D003:001 -> G4
     Transfer 01  |   20.0 GB/s |    1.400 ms |     67108864 bytes | C0 -> C000:004 -> G4
)",
                      "mi300x-x8");
  auto const together = series_of(m, "together-by-kernels");
  ASSERT_EQ(together.points.size(), 1U);
  EXPECT_THAT(together.points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}, MeasuredFlow{"gpu0", "gpu2"}));
  EXPECT_DOUBLE_EQ(together.points[0].value, 97e9);
  ASSERT_TRUE(together.program);
  EXPECT_EQ(together.program->timed, TimedBy::Mean);
  EXPECT_EQ(series_of(m, "single-by-engines").op, Op::Copy);
  EXPECT_THAT(m.notes, testing::Contains(HasSubstr("Transfers by a CPU or a NIC")));
}

TEST(TransferBench, AnAllToAllIsOneFigure) {
  std::string text =
      "GPU-GFX All-To-All benchmark:\n==========================\n"
      "- Copying 67108864 bytes between directly connected pairs of GPUs using 8 CUs (56 Transfers)\n"
      "Test 1:\n     Transfer 00  |   47.0 GB/s |   1.4 ms |  67108864 bytes | F0 -> G000:008 -> F1\n"
      "Summary: [67108864 bytes per Transfer]\nSRC\\DST ";
  for (int i = 0; i < 8; ++i) text += fmt::format(" GPU {:02}    ", i);
  text +=
      "    STotal      Actual\nAverage   bandwidth (GPU Timed):   46.552 GB/s\n"
      "Aggregate bandwidth (GPU Timed): 2606.891 GB/s\nAggregate bandwidth (CPU Timed): 1937.9 GB/s\n";
  auto const m = read(Benchmark::TransferBench, text, "mi300x-x8");
  auto const all = series_of(m, "all-to-all-by-kernels");
  ASSERT_EQ(all.points.size(), 1U);
  EXPECT_EQ(all.points[0].flows.size(), 56U);
  EXPECT_DOUBLE_EQ(all.points[0].value, 2606.891e9);
  EXPECT_EQ(m.series.size(), 1U) << "its transfers are not judged a second time";
}

TEST(TransferBench, WhatCannotBeReadIsNamed) {
  EXPECT_THAT(problem_of(Benchmark::TransferBench, "Bytes Per Direction many\n", "mi300x-x8"),
              HasSubstr("'Bytes Per Direction': expected a number of bytes"));
  EXPECT_THAT(problem_of(Benchmark::TransferBench,
                         "Unidirectional copy peak bandwidth GB/s (GPU-Executor: GFX)\nGPU 00\n", "mi300x-x8"),
              HasSubstr("a line with the names of the columns must follow"));
  EXPECT_THAT(problem_of(Benchmark::TransferBench, "Transfer 00 | 48.0 | G0 -> G1\n", "mi300x-x8"),
              HasSubstr("expected 'Transfer N | RATE GB/s"));
  EXPECT_THAT(problem_of(Benchmark::TransferBench,
                         "Bytes Per Direction 8\nUnidirectional copy peak bandwidth (GPU-Executor: GFX)\n"
                         "SRC+EXE\\DST GPU 00 GPU 01\nGPU 00 -> N/A x7\n",
                         "mi300x-x8"),
              HasSubstr("'x7': expected a number"));
}

// ------------------------------------------------------------------------------------------- nvbandwidth over nodes

TEST(Nvbandwidth, OverNodesTheIndicesAreRanks) {
  auto const m = read(Benchmark::Nvbandwidth, R"(nvbandwidth Version: v0.8
Running multinode_device_to_device_memcpy_write_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         4
 0       N/A    780.00
 4    781.00       N/A

Running multinode_bisect_write_ce.
Bisect benchmarking, simultaneous write CE BW
            0
 0->1  600.00
 1->0  601.00

Running multinode_device_to_device_all_to_one_write_sm.
memcpy SM All Gpus -> GPU(column) total bandwidth (GB/s)
           0         1
 0    700.00    701.00

Running multinode_device_to_device_broadcast_one_to_all_sm.
multicast SM GPU(column) -> All Gpus total bandwidth (GB/s)
           0         1
 0    100.00    100.00
)",
                      "gb300-nvl72");
  auto const pairs = series_of(m, "multinode_device_to_device_memcpy_write_ce");
  ASSERT_EQ(pairs.points.size(), 2U);
  EXPECT_THAT(pairs.points[0].flows, ElementsAre(MeasuredFlow{"node0/gpu0", "node0/gpu1"}));
  EXPECT_EQ(pairs.mechanism, Mechanism::Nvlink);
  auto const bisection = series_of(m, "multinode_bisect_write_ce");
  ASSERT_EQ(bisection.points.size(), 1U);
  EXPECT_DOUBLE_EQ(bisection.points[0].value, 1201e9);
  EXPECT_EQ(series_of(m, "multinode_device_to_device_all_to_one_write_sm").points.size(), 2U);
  EXPECT_THAT(m.notes, testing::Contains(HasSubstr("broadcast_one_to_all_sm is left out")));
}

}  // namespace
}  // namespace lanewise::test
