#include "lanewise/model/resources/parameter.hpp"

namespace lanewise {
namespace {

constexpr std::array<ParameterRange, kParameterCount> kRanges{{
    {Parameter::LinkUtilisation, "PCIe link utilisation", 0.87, 1.07,
     "measured large copies against this form: gen3 11.2 to 13.2 (x16) and 6.9 (x8), gen4 24.9 to 27.1, gen5 53 to "
     "57.3 GB/s"},
    {Parameter::SwitchFabric, "virtual switch fabric", 0.9, 1.1, "two chips measured, both within a tenth"},
    {Parameter::RootComplexPeer, "peer traffic through the root complex", 0.75, 1.15,
     "10.3 to 12 GB/s on gen3 and 20 to 26 GB/s on gen4 through Intel and AMD root complexes"},
    {Parameter::HostWrites, "devices writing host memory", 0.92, 1.08,
     "128 to 132 GB/s a socket (6 GPUs of Intel on 2 x Xeon Max 9470C, Argonne), 130 (4 of 8 H200, Emerald Rapids)"},
    {Parameter::HostReads, "devices reading host memory", 0.96, 1.33,
     "159 to 165 GB/s a socket, where three links end (Argonne), 166 (4 of 8 H200): at least; four links carry 220"},
    {Parameter::HostTraffic, "devices writing and reading host memory", 0.78, 1.5,
     "170 to 178 GB/s a socket (Argonne), 169 by four H200, 138 to 140 by two H100 or H200; the DRAM would carry 260"},
    {Parameter::BridgeMemory, "host memory through one host bridge", 0.93, 1.06,
     "73.1 GB/s read, 72.9 written through two x16 gen5 ports of one bridge (rtx6kpro); the clock of the I/O hub "
     "varies"},
    {Parameter::HostMemory, "host memory bandwidth", 0.85, 1.1, "STREAM reaches 0.72 to 0.92 of the theoretical rate"},
    {Parameter::HostDuplex, "host memory both ways", 0.76, 1.35,
     "gen4: 18.5 of 26 GB/s each way (A100, nvbandwidth); gen5: 0.70 (Xeon Max), 0.84 and 1.0 (H200), 1.0 (H100) of "
     "twice one"},
    {Parameter::SocketPeer, "peer traffic between sockets", 0.7, 1.6,
     "measured 29 to 51 GB/s where NCCL's constants say 24 to 32"},
    {Parameter::IommuWalks, "page-table walks", 0.6, 1.3, "7 to 22 million a second, Sandy Bridge to Broadwell"},
    {Parameter::NvlinkEfficiency, "NVLink efficiency", 0.93, 1.1,
     "copy engines measured at 0.83 to 0.97 of the raw rate over five generations"},
    {Parameter::NvlinkDuplex, "NVLink both ways", 0.8, 1.06,
     "both directions over twice one: 0.77 (some A100), 0.93 (V100), 0.95 (A100), 0.99 (H100), 1.0 (P100)"},
    {Parameter::DeviceMemory, "device memory bandwidth", 0.85, 1.1, "local copies at 0.75 to 0.93 of the datasheet"},
    {Parameter::NetworkRate, "network rate", 0.92, 1.01, "94.5 to 97.6 of 100 Gb/s, 368 to 397 of 400 Gb/s"},
    {Parameter::DriveRate, "drive rate", 0.85, 1.05, "datasheets say 'up to'"},
    {Parameter::DriveLatency, "drive latency", 0.6, 1.65,
     "reads of one block: 92 to 150 us over the capacities of one product (Micron 9200 datasheet); flash with one bit "
     "a "
     "cell takes a seventh, and has a part of its own"},
    {Parameter::EngineStart, "engine start", 0.25, 2.6,
     "4 B copies back to back: 0.5 us (RTX PRO 6000), 1.3 us (RTX 6000 Ada), 1.9 us (A100 PCIe), 3.4 us (A100 SXM4)"},
    {Parameter::HostWork, "work of the host", 0.6, 1.6, "staged small copies: 10.3 us to 24.5 us over ten machines"},
    {Parameter::DriverStaging, "driver's staging both ways", 0.7, 1.25,
     "both directions together: 1.0 to 1.7 times one, over nine machines"},
    {Parameter::PathLatency, "PCIe hop latency", 0.7, 1.4, "128 B reads: 0.71 to 0.80 us (PIX), 0.83 to 1.63 us (PHB)"},
    {Parameter::NvlinkLatency, "NVLink latency", 0.5, 1.5, "0.6 us (NCCL) to 1.55 us round trip (B300)"},
    {Parameter::NetworkLatency, "network latency", 0.8, 1.4, "0.6 us (UCX) and half to one us of software above it"},
    {Parameter::CoreCopy, "copy by one core", 0.7, 1.5, "8 to 12 GB/s customary; 9.6 and 18 GB/s measured (H200 host)"},
    {Parameter::BarAccess, "CPU access through BAR1", 0.6, 1.4, "gdrcopy: 6.9 to 10 GB/s written, 0.25 to 0.67 read"},
    {Parameter::PageMigration, "page migration", 0.6, 1.4, "8.6 GB/s by faults, 48 GB/s prefetched (H200)"},
    {Parameter::LibrarySteps, "launches and protocol steps of libraries", 0.7, 1.5,
     "collectives below 1 MiB by NCCL 2.27 to 2.29 among 2 to 8 A100, H100, B200, GB200 (aiconfigurator)"},
    {Parameter::LibraryMessages, "messages of libraries between nodes", 0.7, 2.5,
     "all-reduces of 64 KiB to 1 MiB against the plans: 0.9 to 1.1 (4 x 8 H100), 1.2 (2 x 8 MI355X), 1.2 to 2 (2 x 8 "
     "A100, EFA), 2.5 (2 x 8 H200), 1.1 to 3 (2 x 4 GH200, two clusters of Slingshot)"},
    {Parameter::TokenWarps, "warps that carry tokens", 0.8, 1.1,
     "exchanges among 4 to 64 GB200, 2 and 1 B a value: 0.85 to 1.06 of the figure (aiconfigurator, TensorRT-LLM)"},
    {Parameter::MessagePassing, "message passing", 0.6, 2,
     "osu_latency over Ethernet by sockets: 10 us (MPICH, open-mpi/ompi issue 215) and 16 us (issue 7861); in virtual "
     "machines twice that"},
    // The factors of these say only which end is meant: each generic part, and each number of engines, has a range of
    // its own.
    {Parameter::GenericParts, "generic parts", 0.5, 2,
     "each generic part says how far the products it stands for differ"},
    {Parameter::GenericLatencies, "latencies of generic parts", 0.5, 2, "each generic part says how far they differ"},
    {Parameter::CopyEngines, "unknown numbers of copy engines", 0.5, 2,
     "2 or 3 of NVIDIA's and AMD's GPUs, 1 or 2 of others; deviceQuery of 14 products"},
}};

constexpr bool ranges_are_indexed_by_parameter() {
  for (std::size_t i = 0; i < kRanges.size(); ++i)
    if (kRanges.at(i).parameter != static_cast<Parameter>(i) || kRanges.at(i).low >= 1 || kRanges.at(i).high <= 1)
      return false;
  return true;
}
static_assert(ranges_are_indexed_by_parameter(), "each range is at its parameter's index and contains 1");

}  // namespace

std::span<ParameterRange const, kParameterCount> parameter_ranges() { return kRanges; }

}  // namespace lanewise
