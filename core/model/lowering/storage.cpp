// Drives and other PCIe devices.
#include <algorithm>

#include "core/model/lowering/lowering.hpp"
#include "core/model/resources/network.hpp"

namespace lanewise {

bool Lowering::from_drive() const {
  auto const* id = std::get_if<PciId>(&from_);
  return id != nullptr && machine_.at(*id).kind != PciKind::Gpu;
}

void Lowering::use_drive() {
  if (machine_.at(drive()).kind != PciKind::Nvme) return;  // a capture card or an accelerator: only its link bounds it
  auto const duplex = resources_.drive(drive());
  path_.use(from_drive() ? duplex.up : duplex.down);
  auto const* part = machine_.part_of(drive());
  demand_.path += (from_drive() ? figures::drive_read_latency(part) : figures::drive_write_latency(part)) *
                  assumed_(Parameter::DriveLatency);
  demand_.start += host_time(overheads::kHostSubmit);
}

void Lowering::storage_direct() {
  if (way_.nic_from) return network();
  use_drive();
  demand_.path += from_drive() ? path_.device_to_gpu(gpu_from(), gpu_to()) : path_.gpu_to_device(gpu_from(), gpu_to());
}

void Lowering::storage_staged() {
  if (way_.nic_from) return network();
  use_drive();
  auto const other = from_drive() ? gpu_to() : gpu_from();
  auto const memory = *way_.staging;
  auto const out = add_leg([&](PathBuilder& p) {
    return from_drive() ? p.device_to_memory(drive(), memory) : p.gpu_to_memory(other, memory);
  });
  auto const in = add_leg([&](PathBuilder& p) {
    return from_drive() ? p.memory_to_gpu(memory, other) : p.memory_to_device(memory, drive());
  });
  add_busy_start(host_time(overheads::kHostSubmit + overheads::kHostSync) + event_start());
  hold_engine(other);
  pipeline(out.latency + in.latency, out.rate, event_start());
}

// NVMe over Fabrics: the command goes to the drive's node first, whose CPU passes it to the drive and, when the data
// are there, to the NIC.
Lowering::NetworkEnd Lowering::remote_drive_end() {
  use_drive();
  Seconds between_nic_and_memory{0};
  if (!from_drive()) between_nic_and_memory = path_.device_to_memory(*way_.nic_to, staging_at_target());
  auto const moved = add_leg([&](PathBuilder& p) {
    return from_drive() ? p.device_to_memory(drive(), staging_at_source())
                        : p.memory_to_device(staging_at_target(), drive());
  });
  if (from_drive()) between_nic_and_memory = path_.memory_to_device(staging_at_source(), *way_.nic_from);
  NetworkEnd const end{moved.latency + between_nic_and_memory, moved.rate, true};
  demand_.path +=
      std::max(network::wire_latency(machine_, *way_.nic_from), network::wire_latency(machine_, *way_.nic_to));
  add_busy_start(host_time(overheads::kHostSubmit + overheads::kHostSync));
  return end;
}

}  // namespace lanewise
