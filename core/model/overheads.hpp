#pragma once
// Times and shares that belong to drivers and software rather than to a part, each with its source.
#include "core/units/quantity.hpp"

namespace lanewise::overheads {

using namespace literals;

// A copy engine from "ready" to the first byte, back to back in a stream: the diagonal of p2pBandwidthLatencyTest,
// 1.96 to 2.2 us on H100 (measured, 8 x H100 SXM, driver 595), 1.2 to 1.3 us on RTX PRO 6000.
inline constexpr Seconds kCopyEngineStart = 2.0_us;
// A kernel from "ready" to its first store, back to back in a stream. A prior, taken equal to the copy engine's: no
// published figure separates it from the kernel's own work.
inline constexpr Seconds kKernelStart = 2.0_us;
// The host submitting one asynchronous copy. Source: OpenUCX cuda_copy overhead 4 us.
inline constexpr Seconds kHostSubmit = 4.0_us;
// The host seeing that one leg of a staged copy is done before it starts the next (polling an event).
// Source: difference of the published P2P-off latencies (14 to 19 us, 8 x H100) and two submits with two engine starts.
inline constexpr Seconds kHostSync = 2.5_us;
// A CPU ringing a NIC's doorbell and the NIC fetching the work request. Source: UCX rc_mlx5 overhead, 40 ns CPU, plus
// one posted write and one read through the root complex (0.3 us).
inline constexpr Seconds kDoorbell = 0.3_us;
// Pinning a BAR1 window for others. Source: GPUDirect RDMA documentation 3.5 ("several milliseconds" for large
// buffers); gdrcopy README: 10 us to 1 ms. The upper end of gdrcopy's.
inline constexpr Seconds kBarPin = 1000.0_us;
// gdrcopy: one small write and one small read through BAR1, and their streaming rates (write-combined stores;
// uncached loads). Source: gdrcopy README, P100: 0.10 us, 1.1 us, 10 GB/s, 0.44 GB/s.
inline constexpr Seconds kBarWriteStart = 0.1_us;
inline constexpr Seconds kBarReadStart = 1.1_us;
inline constexpr BytesPerSecond kBarWriteRate = 10.0_GBps;
inline constexpr BytesPerSecond kBarReadRate = 0.44_GBps;
// DRAM in long mixed streams against its theoretical rate. Source: DDR4-3200 x 8, 171.5 of 204.8 GB/s (STREAM, Rome).
inline constexpr double kDramEfficiency = 0.84;
// Device memory likewise: 2890 of 3350 GB/s read and written by a local copy on H100 (p2pBandwidthLatencyTest).
inline constexpr double kDeviceMemoryEfficiency = 0.86;
// One core copying, where the CPU's part does not say. Source: memcpy 8 to 12 GB/s on server cores; the lower end.
inline constexpr BytesPerSecond kCoreCopy = 8.0_GBps;
// Outstanding NIC and drive reads where the part does not say: 8-bit tags (PCI Express Base Specification 4.0).
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
// NVLink one way including the remote memory, and one NVSwitch pass. Source: B300 remote load 1.55 us round trip; H100
// copies 0.75 us above local ones. The NVSwitch pass is not published separately and is inside that figure.
inline constexpr Seconds kNvlinkOneWay = 700.0_ns;
// Bytes in flight through one core copying while a chunk pipeline runs: depth of every staged ring.
inline constexpr int kStagingDepth = 2;
// The chunk of a pipeline whose rate nobody knows: a choice, in the middle of the range of best chunks.
inline constexpr Bytes kDefaultChunk = 512_KiB;

}  // namespace lanewise::overheads
