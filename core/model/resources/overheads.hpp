#pragma once
// Constants of drivers and software, and defaults for figures that parts leave out; each with its source.
#include <algorithm>

#include "lanewise/units/quantity.hpp"

namespace lanewise::overheads {

using namespace literals;

// A copy engine from "ready" to the first byte, back to back in a stream. Source: p2pBandwidthLatencyTest, 4 B between
// peers below a root complex, 1.74 us (V100) and 1.92 to 2.02 us (A100), less the 0.63 us of the way.
inline constexpr Seconds kCopyEngineStart = 1.3_us;
// The same of a GPU whose product is not known, from the fastest generation to the slowest. Source: 60 ns of RTX PRO
// 6000 Blackwell (0.36 to 0.53 us on six systems, rtx6kpro, less the way) and 9.3 us of P100 (9.9 us over NVLink in a
// DGX-1, Tartan, less the way); 1.3 us of V100 and A100 PCIe, 2.8 us of A100 SXM4 lie between.
inline constexpr Seconds kCopyEngineStartFastest = 0.06_us;
inline constexpr Seconds kCopyEngineStartSlowest = 9.3_us;
// Between small peer copies that follow one another in a stream: how long one occupies the engine. NVLink, which
// answers writes, adds its round trip; PCIe posts them, and the distance does not matter. Source:
// p2pBandwidthLatencyTest, 4 B, less that round trip over NVLink: 1.45 (DGX-2), 1.74 (V100 PCIe), 1.95 (A100 PCIe), 2.1
// (A100 SXM4), 1.9 (8 x H100), 1.35 us (64 B, 2 x H100): the middle; P100's 8.5 us stands alone. Of smaller chips of
// Ada 1.28 us (RTX 6000 Ada, Puget Systems), of Blackwell 0.45 us (RTX PRO 6000, rtx6kpro); of others nothing is known,
// and the middle of these is taken.
inline constexpr Seconds kCopyIntervalOfLargestChip = 1.7_us;
inline constexpr Seconds kCopyIntervalOfAda = 1.28_us;
inline constexpr Seconds kCopyIntervalOfSmallBlackwell = 0.45_us;
inline constexpr Seconds kCopyInterval = 0.8_us;
// Extra start of the engine that copies to other GPUs or to host memory, after work of something else: a kernel or
// another engine's copy. Source: 4 B to a peer 5.9 us behind a kernel and 1.8 us behind such a copy, to host memory 6.1
// and 1.8 us, where copies from host memory and within the GPU took the same behind both (4 x H200).
inline constexpr Seconds kEngineChange = 4.2_us;
// The start of a copy within one GPU's memory. Source: the diagonal of the same tool,
// 2.0 us (H100, V100), 2.3 us (A100 PCIe), 3.0 us (P100, A100 SXM4), 1.3 to 1.6 us (RTX): the middle.
inline constexpr Seconds kLocalCopyStart = 2.3_us;
// A kernel from "ready" to its first store, back to back in a stream. An assumption: no published figure separates it
// from the kernel's own work.
inline constexpr Seconds kKernelStart = 2.0_us;
// Thread blocks of a library's communication kernels.
struct BlockFigures {
  // What one moves at most to other GPUs, and what in words with flags, which this counts. Source: NCCL
  // src/graph/tuning.cc: its caps of a channel (two blocks) by a tree, and of all channels by LL (24 blocks on Ampere
  // and Hopper, 32 on Blackwell, 16 on Volta); no block need reach it. Hopper's `simple` is own: all-reduces among 2 x
  // H100 by 1, 2, 4 and 8 blocks reach 21, 42, 82 and 154 GB/s, the step within the GPU included (2026-11-26).
  BytesPerSecond simple, low_latency;
  // What one reads of host memory that another GPU wrote, at least kHostOfGen5 where the CPU has PCIe gen5. Hopper:
  // all-reduces and all-gathers among 2 x H100 without peer access, 27 and 25 GB/s by 4 blocks (own, 2026-11-26).
  // Blackwell: 22.2 GB/s by 2 blocks among 8 RTX PRO 6000 (local-inference-lab/rtx6kpro, hardware/pcie-bandwidth.md).
  // Ampere, Ada: 5.0 GB/s by 2 blocks among 8 RTX 4090 (NVIDIA/nccl-tests issue 307), 5.2 among 4 A100. Volta: 6.9 by 2
  // blocks among 2 V100 (marconetto/azadventures, chapter 18). Turing: 4.0 by 2 blocks among 2 RTX 2080 Ti
  // (Anthony-Hoo.github.io, AutoDL test of 2025-06-05).
  BytesPerSecond host;
  // What one copies or adds within its GPU while it sends nothing. Fitted to all-reduces of 512 MiB among 2 GPUs
  // (ai-dynamo/aiconfigurator, NCCL 2.27.3 and 2.29.2; measurements/published/*-nccl.yaml), Volta taken as Ampere.
  BytesPerSecond local;
  // Over NVLink: a step by LL or LL128 over NCCL's own figure for it, and by Simple what a call takes and each step.
  // Fitted to all-reduces of 512 B to 32 MiB among 2, 4 and 8 GPUs, same source.
  double flagged_step = 1;
  Seconds simple_start, simple_step;
  // Of an engine's all-reduce kernel: telling the other GPUs that data are there and that they are read, and what a
  // pass of its loop takes beside its bytes. Hopper: kLLStart, and 0.6 us fitted to all-reduces of 1 to 8 MiB among 2,
  // 4 and 8 H100; Blackwell: fitted to all-reduces among 2 B200, both in a CUDA graph (ai-dynamo/aiconfigurator, vLLM
  // 0.24.0). Others are taken as Hopper.
  Seconds told{2.1e-6}, pass{0.6e-6};
};
// Source: Hopper's above, with an Emerald Rapids; RTX 4090 with EPYC 9554 15.9 GB/s by two blocks, between sockets
// (WU-CVGL/cluster-setup, docs/05_GPU_P2P_RTX4090.md), where the same GPUs with CPUs of gen4 reach 5.0.
inline constexpr BytesPerSecond kHostOfGen5 = 7.4_GBps;
// A step by Simple over PCIe, where NCCL chooses by 5.7 us. Fitted to all-reduces of 4 to 32 KiB among 8 RTX 5090
// (measurements/published/rtx5090-x8-turin-p2p.yaml): 36.3 to 39.3 us, less 8.4 us of the call, in 14 steps.
inline constexpr Seconds kSimpleStepOverPcie = 2.0_us;
inline constexpr BlockFigures kBlockOfVolta{13.25_GBps, 4.9_GBps, 3.65_GBps, 28.6_GBps, 1.8, 26.0_us, 5.5_us};
inline constexpr BlockFigures kBlockOfTuring{13.25_GBps, 4.9_GBps, 2.07_GBps, 28.6_GBps, 1.8, 26.0_us, 5.5_us};
inline constexpr BlockFigures kBlockOfAmpere{12.0_GBps, 7.3_GBps, 2.5_GBps, 28.6_GBps, 1.8, 26.0_us, 5.5_us};
inline constexpr BlockFigures kBlockOfHopper{29.0_GBps, 11.75_GBps, 7.4_GBps, 38.5_GBps, 1.05, 17.0_us, 1.6_us};
inline constexpr BlockFigures kBlockOfBlackwell{35.0_GBps, 17.6_GBps, 11.7_GBps, 30.0_GBps, 2.2,
                                                10.0_us,   10.0_us,   3.2_us,    0.8_us};
// A kernel whose warps each carry one token at a time, flags included: what a warp moves that has its multiprocessor
// almost for itself, and what those of a multiprocessor move together. Fitted to the exchanges of 65,536 tokens of 14
// KiB among 2 and 8 GB200 (ai-dynamo/aiconfigurator, TensorRT-LLM 1.3.0rc10); others are taken as Blackwell.
inline constexpr BytesPerSecond kTokenWarp = 7.1_GBps;
inline constexpr BytesPerSecond kTokenMultiprocessor = 19.3_GBps;
constexpr BytesPerSecond warp_rate(int warps_per_block) {
  return std::min(kTokenWarp, kTokenMultiprocessor / std::max(1, warps_per_block));
}
// Where NVSwitch adds and multiplies (NVLS): payload over raw rate, and what a block takes besides for each chunk, one
// of each GPU in turn. Fitted to all-reduces of 2 to 512 MiB among 8 GPUs, same source.
struct MultimemFigures {
  double efficiency = 1;
  Seconds chunk;
};
inline constexpr MultimemFigures kMultimemOfNvlink4{0.733, 0.56_us};
inline constexpr MultimemFigures kMultimemOfNvlink5{0.756, 1.25_us};
// The share of that rate which each doubling of the GPUs beyond eight takes: a switch adds once the last of them has
// answered. Source: 72 GB200 of one rack, all-reduces of 4 and 8 GiB at 835 to 847 GB/s of bus bandwidth
// (coreweave/nccl-tests, pull request 43).
inline constexpr double kMultimemLossPerDoubling = 0.038;
// What a collective that is one kernel on each GPU takes beyond its steps: the GPUs tell one another that they run and
// that they are through. Source: time between events less what the model says of the steps, two H200: 5.0 to 6.2 us of
// 2 to 256 MiB; where data bring their own flags 1.7 to 2.6 us of 4 KiB to 1 MiB in one step.
inline constexpr Seconds kFusedKernelStart = 5.4_us;
inline constexpr Seconds kLLStart = 2.1_us;
// The host submitting one asynchronous copy. Source: OpenUCX cuda_copy overhead 4 us.
inline constexpr Seconds kHostSubmit = 4.0_us;
// The host noticing the end of one leg of a staged copy (by polling an event), before it starts the next leg.
// Source: difference of the published P2P-off latencies (14 to 19 us, 8 x H100) and two submits with two engine starts.
inline constexpr Seconds kHostSync = 2.5_us;
// A CPU ringing a NIC's doorbell and the NIC fetching the work request. Source: UCX rc_mlx5 overhead, 40 ns CPU, plus
// one posted write and one read through the root complex (0.3 us).
inline constexpr Seconds kDoorbell = 0.3_us;
// MPI matching one message at both ends. Source: osu_latency through shared memory, where little else is in it: 0.22
// and 0.35 us (ofiwg/libfabric pull request 8680).
inline constexpr Seconds kMessage = 0.3_us;
// One end of a message through the kernel's sockets: system call, TCP, interrupt. Source: osu_latency over Ethernet by
// ob1 and by UCX, 16 us where the same adapter does 4 us by verbs (open-mpi/ompi issue 7861): half of 16 us less the
// wire and the message itself.
inline constexpr Seconds kSocketEnd = 7.4_us;
// One core moving a stream through the kernel's sockets. Source: 42 Gb/s, bound by the copy at the receiver (Cai et
// al., Understanding Host Network Stack Overheads, SIGCOMM 2021).
inline constexpr BytesPerSecond kSocketStream = 5.25_GBps;
// A drive's answer to a command for one block, one command at a time: flash with three bits a cell is read, and written
// into memory that a capacitor protects. Source: Micron 9200 datasheet, latency to media at queue depth 1, typical.
inline constexpr Seconds kDriveReadLatency = 92.0_us;
inline constexpr Seconds kDriveWriteLatency = 21.0_us;
// Messages up to this size are sent through sockets without asking. Source: Open MPI, btl/tcp, eager limit of 64 KiB.
inline constexpr Bytes kSocketEager = 64_KiB;
// Pinning a BAR1 window for others. Source: GPUDirect RDMA documentation 3.5 ("several milliseconds" for large
// buffers); gdrcopy README: 10 us to 1 ms. The upper end of gdrcopy's.
inline constexpr Seconds kBarPin = 1000.0_us;
// gdrcopy: one small write and one small read through BAR1, and their streaming rates (write-combined stores;
// uncached loads). Source: gdrcopy README, P100: 0.10 us, 1.1 us, 10 GB/s, 0.44 GB/s.
inline constexpr Seconds kBarWriteStart = 0.1_us;
inline constexpr Seconds kBarReadStart = 1.1_us;
inline constexpr BytesPerSecond kBarWriteRate = 10.0_GBps;
inline constexpr BytesPerSecond kBarReadRate = 0.44_GBps;
// DRAM bandwidth in long mixed streams over its theoretical rate. Source: DDR4-3200 x 8, 171.5 of 204.8 GB/s (STREAM,
// Rome).
inline constexpr double kDramEfficiency = 0.84;
// Device memory likewise: 2890 of 3350 GB/s read and written by a local copy on H100 (p2pBandwidthLatencyTest).
inline constexpr double kDeviceMemoryEfficiency = 0.86;
// A rate that its part's source calls estimated (another part's, customary) lies between it divided and multiplied by
// this. Source: rates carried over and later measured: host reads 160 (Sapphire Rapids) and 166 GB/s (Emerald Rapids),
// peers of one root port across sockets 38 and 50 (two generations of EPYC), xGMI between GPUs 64 and 76.8 raw (MI300X,
// MI350X), NVLink payload 0.83 to 0.97 of raw.
inline constexpr double kEstimatedRateSpread = 1.25;
// One core copying; default. Source: memcpy 8 to 12 GB/s on server cores; the lower end.
inline constexpr BytesPerSecond kCoreCopy = 8.0_GBps;
// Copy engines of a GPU whose part does not say. Source: deviceQuery (thamada/nvidia-smi c4c8a46): 2 on RTX 3090, 4060
// Ti, 4090, RTX 2000, 4000 and 6000 Ada, L4 and L40S; 3 on A40, A100 SXM4, H100 SXM5 and H100 NVL. Nobody publishes
// Blackwell's.
inline constexpr int kCopyEngines = 2;
inline constexpr int kCopyEnginesOfLargestChip = 3;
// Engines for copies to other GPUs over PCIe or through NVSwitch; with NVLinks of its own, a GPU has one for each peer.
// Source: NVIDIA/open-gpu-kernel-modules 18b7303c, kernel_ce_gh100.c (one logical engine for all peers behind NVSwitch,
// one for each peer with direct links); PCIe all-to-all of RTX PRO 6000 (rtx6kpro), replayed: 166 GB/s with one engine,
// 135 with two, 113 with four, 163.6 measured.
inline constexpr int kPeerCopyEngines = 1;
// Outstanding reads of NICs and drives; default: 8-bit tags (PCI Express Base Specification 4.0).
inline constexpr int kDefaultTags = 256;
inline constexpr Bytes kDefaultPayload = 256_B;
inline constexpr Bytes kDefaultReadRequest = 512_B;
// One way through an endpoint, a switch, the root complex; between sockets. Source: fitted once to the published
// 128 B read round trips of RTX PRO 6000 (PIX 0.71 to 0.80 us, PHB 1.14 to 1.63 us); switch: PEX88000 product brief;
// socket hop: pcie-bench remote DMA +93 ns round trip.
inline constexpr Seconds kEndpoint = 130.0_ns;
inline constexpr Seconds kSwitchPass = 105.0_ns;
inline constexpr Seconds kRootComplex = 370.0_ns;
inline constexpr Seconds kSocketHop = 100.0_ns;
// The latency that DRAM adds to a device's read that misses the cache. Source: pcie-bench, 50 to 70 ns.
inline constexpr Seconds kMemoryLatency = 60.0_ns;
// NVLink one way including the remote memory, and one NVSwitch pass. Source: B300 remote load 1.55 us round trip; H100
// copies 0.75 us above local ones. The NVSwitch pass is not published separately and is inside that figure.
inline constexpr Seconds kNvlinkOneWay = 700.0_ns;
// Host memory read and written at once through one root port: the total over twice one of them. Source, generation 3
// and 4: staged copies between two GPUs below one switch, 9.2 to 9.8 of 12.3 GB/s
// (P100), 8.5 to 9.9 of 12.3 (V100), 16.7 to 17 of 26 (A100); nvbandwidth on A100, 18.5 of 26 GB/s each way.
// Generation 5, the median of four machines: 0.70 (76 GB/s of one GPU of Intel on Xeon Max 9470C,
// argonne-lcf/user-guides), 0.84 (93 GB/s, H200 on Emerald Rapids), 1.0 (110.9 GB/s, another H200 on Emerald Rapids)
// and 1.0 (staged copies between two H100 below one switch on Sapphire Rapids, 52.7 GB/s both ways).
inline constexpr double kHostDuplexGen4 = 0.74;
inline constexpr double kHostDuplexGen5 = 0.92;
// The share of the links between two sockets that peer traffic of all root ports reaches, where a part says only what
// one port does. No source measured more than two ports: 83 GB/s of two ports of 40 (rtx6kpro, dual Turin).
inline constexpr double kSocketPeerShare = 0.8;
// Extra start of a peer copy in a stream of the destination: the driver makes the source's engine wait for that stream.
// Source: 13.3 us against 2.2 us of 4 B to 16 KiB, and 8 to 10 us more for 1 to 256 MiB, over NVLink on 2 x H200.
inline constexpr Seconds kPulledStart = 9.5_us;
// The gap between the chunks of a ring through a third memory: one engine sees the event of the other and starts.
// Source: 4.7, 4.8 and 5.2 us for chunks of 1, 2 and 4 MiB through host memory on 2 x H200, as graphs and as streams.
inline constexpr Seconds kChunkGap = 4.8_us;
// Added to that gap while another copy engine of one of its GPUs is working. Source: chunks of 1 and 4 MiB of a ring
// through host memory, 5.9 and 5.3 us beside a copy over NVLink, 5.9 and 4.2 us beside one from the host, 4.6 and 4.8
// us beside one within the GPU, but 0.4 us beside stores of a kernel; copies that hand over to one another over
// NVLink, 4.4 to 8.4 us beside copies to or from the host (2 x H200).
inline constexpr Seconds kConcurrentEngine = 5.3_us;
// CUDA's own staged copy between GPUs without peer access: chunks of 1 MiB whose two legs overlap. After each chunk the
// host waits, submits the next one, and an engine starts. Source: 37.84 GB/s of 40 MB, 40.73 GB/s of 512 MiB and 55 us
// for 1 MiB (both legs one after the other) on 2 x H200 with peer access off, where one leg alone reaches 55.4 GB/s.
inline constexpr Bytes kDriverChunk = 1_MiB;
inline constexpr Seconds kDriverChunkGapOfHost = kHostSync + kHostSubmit;
inline constexpr Seconds kDriverChunkGap = kDriverChunkGapOfHost + kCopyEngineStart;
// Its start and end: two submits, two engine starts, and the host waiting for each leg.
inline constexpr Seconds kDriverStagedStartOfHost = (kHostSubmit + kHostSync) * 2.0;
inline constexpr Seconds kDriverStagedStart = kDriverStagedStartOfHost + kCopyEngineStart * 2.0;
// Both directions of such copies at once over twice one. Source: p2pBandwidthLatencyTest with peer access off, both
// ways over one way: 1.35 to 1.48 on 2 x RTX 6000 Ada, 4090, 3090, A100 PCIe and SXM4, V100 PCIe; 1.7 on P100.
inline constexpr double kDriverDuplex = 0.69;
// What a small message finds in front of it on a link that bulk saturates, in each direction that it or its answer
// takes: the bytes over the link's rate are its wait. Source: a pointer chase beside copies on 2 x H100. Over PCIe gen5
// a read of host memory takes 1.26 us alone, 3.43 beside a copy to the GPU, 3.49 beside one from it and 4.02 beside
// both (55 GB/s): 119 and 123 KB, the 256 reads of 512 B of the engine. Over NVLink 0.857 us alone, 1.034 beside a copy
// in the direction of its data and 1.428 beside one in the direction of its requests, from its own GPU (394 GB/s): 70
// and 225 KB. A small copy over NVLink beside bulk the other way takes 0.19 us more: the same 70 KB before its answer.
inline constexpr Bytes kPcieQueue{120'000};
inline constexpr Bytes kNvlinkQueue{70'000};
inline constexpr Bytes kNvlinkQueueOfOwnRequests{225'000};
// A link that bulk uses to less than this share has no such queue. Source: beside 64 KiB copies back to back, 6 % of
// the link, the same read takes 0.860 us.
inline constexpr double kSaturated = 0.9;
// Default payload share of NVLink. Packets of 256 B in 16 B flits with two flits of header carry 256 / 288; those of SM
// loads and stores have 128 B and carry 128 / 160. Source: wikichip, NVLink; sjeaugey in NVIDIA/nccl issues.
inline constexpr double kNvlinkCopyEfficiency = 256.0 / 288;
inline constexpr double kNvlinkLoadStoreEfficiency = 128.0 / 160;
// A load requests a line of 128 B by a flit of 16 B in the other direction. Source: as above; loads both ways at once
// reach 337 GB/s each where one way alone reaches 375, and stores 367 and 371 (4 x H200).
inline constexpr double kNvlinkRequest = 16.0 / 128;
// Both directions of NVLink at once over twice one; default. Acknowledgements of the other direction's writes take
// flits. Source: the middle of 0.93 (V100), 0.95 (A100), 0.99 (H200), 1.0 (P100).
inline constexpr double kNvlinkDuplex = 0.96;
// Defaults of an IOMMU: walks per second, time of one walk, entries of its IOTLB. Source: pcie-bench
// on Sandy Bridge to Broadwell, 18 to 22 million a second (one host 7), 213 to 307 ns, a knee above 64 x 4 KiB.
inline constexpr PerSecond kIommuWalks{20e6};
inline constexpr Seconds kIommuWalk = 280.0_ns;
inline constexpr int kIotlbEntries = 64;
// One core posting one RDMA work request after another to one queue pair. Source: Kalia, Kaminsky and Andersen, Design
// Guidelines for High Performance RDMA Systems (USENIX ATC 2016): a few million requests a second and core without
// batching; perftest on ConnectX-5: 3.8 million.
inline constexpr Seconds kPostWork = 0.2_us;
// Paid once, before the first such transfer. Enabling peer access: 131 ms on B300 (a single report). Registering memory
// with a NIC: 16 us and 0.06 ns a byte (OpenUCX, UCT_IB_MEM_REG overhead and growth).
inline constexpr Seconds kEnablePeer{131e-3};
inline constexpr Seconds kRegister = 16.0_us;
inline constexpr double kRegisterPerByte = 0.06e-9;
// Unified Memory moves blocks of 2 MiB. Each costs 6 us beside its bytes when prefetched, 206 us when fetched by
// faults; the first fault is answered after 20 us. Source: 2 x H200, 48.1 GB/s prefetched and 8.6 GB/s by faults where
// a copy reaches 55.4; Zheng et al., Towards High Performance Paged Memory for GPUs (HPCA 2016): 20 to 50 us a fault.
inline constexpr Bytes kMigrationBlock = 2_MiB;
inline constexpr Seconds kPrefetchBlock = 6.0_us;
inline constexpr Seconds kFaultBlock = 206.0_us;
inline constexpr Seconds kFirstFault = 20.0_us;
// SMs read remote memory in cache lines. Source: Min et al., EMOGI (arXiv 2006.06890), section 3.3.
inline constexpr Bytes kCacheLine = 128_B;
// The chunk of a pipeline of unknown rate: a choice, from the middle of the range of best chunks.
inline constexpr Bytes kDefaultChunk = 512_KiB;

}  // namespace lanewise::overheads
