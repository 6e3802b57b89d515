// What passes before a copy engine or a kernel moves its first byte.
#include "core/model/lowering/lowering.hpp"

namespace lanewise {

Seconds Lowering::engine_start(PciId gpu) const {
  auto const* part = machine_.part_of(gpu);
  bool const direct = way_.mechanism == Mechanism::HostDma || way_.mechanism == Mechanism::Nvlink;
  bool const with_host = direct && (std::holds_alternative<NumaId>(from_) || std::holds_alternative<NumaId>(to_));
  // A generic part stands for every generation, and these differ by more than systems with one product do.
  auto const generation = assumed_(Parameter::GenericLatencies);
  if (generation != 1 && part != nullptr && part->spread)
    return generation < 1 ? overheads::kCopyEngineStartFastest : overheads::kCopyEngineStartSlowest;
  return (with_host ? figures::host_copy_start(part) : figures::copy_start(part)) * assumed_(Parameter::EngineStart);
}

Seconds Lowering::chunk_gap(PciId gpu) const {
  return figures::chunk_gap(machine_.part_of(gpu)) * assumed_(Parameter::EngineStart);
}

// An engine that first waits for another engine's event. One constant: no part gives a figure for it.
Seconds Lowering::event_start() const { return overheads::kCopyEngineStart * assumed_(Parameter::EngineStart); }

Seconds Lowering::kernel_start(PciId gpu) const {
  return figures::kernel_start(machine_.part_of(gpu)) * assumed_(Parameter::EngineStart);
}

// A copy engine of `gpu` starts, or a kernel on it.
void Lowering::start_on(PciId gpu) {
  bool const peers = way_.mechanism == Mechanism::Nvlink || way_.mechanism == Mechanism::PcieP2p;
  bool const between_gpus = std::holds_alternative<PciId>(from_) && std::holds_alternative<PciId>(to_);
  if (peers && between_gpus && op_ == Op::Copy) {
    demand_.start += engine_start(gpu);
    demand_.busy += figures::copy_interval(machine_.part_of(gpu)) * assumed_(Parameter::EngineStart);
    if (way_.mechanism == Mechanism::Nvlink) demand_.busy += demand_.path;  // the answer to its last write
  } else {
    add_busy_start(by_kernel() ? kernel_start(gpu) : engine_start(gpu));
  }
  if (peers && between_gpus && op_ == Op::Copy && way_.drive == Drive::Pull)
    add_busy_start(figures::pulled_start(machine_.part_of(gpu)) * assumed_(Parameter::EngineStart));
  if (by_kernel()) return;
  if (way_.mechanism == Mechanism::NvlinkRelay || (peers && between_gpus))
    hold_peer_engine(gpu);
  else
    hold_engine(gpu);
}

}  // namespace lanewise
