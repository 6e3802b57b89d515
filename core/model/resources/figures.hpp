#pragma once
// Figures that a part may leave out, with their defaults from overheads.hpp. The model reads them here, and a
// calibration starts from them. A null part is an unknown device: all its figures are the defaults.
#include <optional>

#include "core/model/resources/overheads.hpp"
#include "lanewise/machine/part.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::figures {

// Of a GPU.
Seconds copy_start(Part const* gpu);
Seconds host_copy_start(Part const* gpu);
Seconds local_copy_start(Part const* gpu);
// Between peer copies back to back in a stream, less the answer of NVLink: the part's copy_start.
Seconds copy_interval(Part const* gpu);
Seconds kernel_start(Part const* gpu);
// Of a library's kernels on it, by its generation.
overheads::BlockFigures const& block(Part const* gpu);
Seconds pulled_start(Part const* gpu);
Seconds engine_change(Part const* gpu);
Seconds chunk_gap(Part const* gpu);
Seconds staged_start(Part const* gpu);
Seconds staged_gap(Part const* gpu);
double staged_duplex(Part const* gpu);
double device_memory_efficiency(Part const* gpu);
// Copy engines: those of the part, else the usual number of its generation with the range of published ones.
struct CopyEngines {
  int count = 1;
  int low = 1;
  int high = 1;
  bool assumed = false;
};
CopyEngines copy_engines(Part const* gpu);
// Engines for copies to other GPUs. `linked`: how many GPUs its own NVLinks lead to, not through NVSwitch.
// Nullopt: copy_engines() do them.
std::optional<CopyEngines> peer_copy_engines(Part const* gpu, int linked);

// Of a CPU.
Seconds root_complex_latency(Part const* cpu);
Seconds memory_latency(Part const* cpu);
double host_duplex(Part const* cpu, int generation);  // total over twice one direction
double memory_efficiency(Part const* cpu);
BytesPerSecond core_copy(Part const* cpu);

// Of a drive.
Seconds drive_read_latency(Part const* drive);
Seconds drive_write_latency(Part const* drive);

// Of a NIC, through the kernel's sockets.
Seconds socket_latency(Part const* nic);
BytesPerSecond socket_bandwidth(Part const* nic);

// Of a PCI function's part and the link above it.
Seconds endpoint_latency(Part const* part);
Seconds switch_latency(Part const* part);
double link_utilisation(Part const* part, bool upward, int generation);

// Of a link's part: payload share of its raw rate, for copy engines, and for stores and loads by SMs.
double copy_efficiency(LinkFigures const& link);
double load_store_efficiency(LinkFigures const& link);
double load_efficiency(LinkFigures const& link);
// The same for what NVSwitch adds or multiplies on its way.
overheads::MultimemFigures const& multimem(LinkFigures const& link);
double duplex(LinkFigures const& link);
Seconds latency(LinkFigures const& link);

}  // namespace lanewise::figures
