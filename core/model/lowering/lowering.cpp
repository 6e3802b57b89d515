#include "core/model/lowering/lowering.hpp"

#include <utility>

namespace lanewise {

using namespace literals;

void Lowering::lower() {
  bool const by_gpu = way_.mechanism == Mechanism::PcieP2p || way_.mechanism == Mechanism::HostDma;
  if (by_kernel() && by_gpu && way_.access.each == 0_B) path_.read_in_cache_lines();
  switch (way_.mechanism) {
    case Mechanism::Local: local(); break;
    case Mechanism::Nvlink: nvlink(); break;
    case Mechanism::NvlinkRelay: nvlink_relay(); break;
    case Mechanism::PcieP2p: pcie_p2p(); break;
    case Mechanism::HostDma: host_dma(); break;
    case Mechanism::HostStaged: host_staged(); break;
    case Mechanism::SharedHost: shared_host(); break;
    case Mechanism::BarCopy: bar_copy(); break;
    case Mechanism::Rdma:
    case Mechanism::Gdr:
    case Mechanism::GdrRelay:
    case Mechanism::NetStaged: network(); break;
    case Mechanism::StorageDirect: storage_direct(); break;
    case Mechanism::StorageStaged: storage_staged(); break;
  }
  if (migrates(op_)) limit_page_migration();
  if (way_.pageable) add_pageable_copies();
  if (way_.blocks > 0) limit_blocks();
  if (way_.warps > 0) limit_warps();
  set_first_use_cost();
  apply_override();
}

// Of the GPU whose kernel it is: the source's, or the target's where that loads.
void Lowering::limit_blocks() {
  auto const source = gpu(from_);
  auto const runs_on = source && way_.drive == Drive::Push ? source : gpu(to_) ? gpu(to_) : source;
  if (!runs_on) return;
  auto const& block = figures::block(machine_.part_of(*runs_on));
  auto rate = way_.low_latency ? block.low_latency : block.simple;
  if (auto const* memory = std::get_if<NumaId>(&from_)) {
    auto const* cpu = machine_.part_of(machine_.at(*memory).socket);
    bool const has_gen5 = cpu != nullptr && cpu->cpu.root_port_generation.value_or(0) >= 5;
    rate = std::min(rate, has_gen5 ? std::max(block.host, overheads::kHostOfGen5) : block.host);
  }
  path_.limit(rate * way_.blocks, Cap::ThreadBlocks);
}

void Lowering::limit_warps() {
  auto const each = overheads::warp_rate(way_.warps_per_block) * assumed_(Parameter::TokenWarps);
  path_.limit(each * way_.warps, Cap::ThreadBlocks);
}

// What only the first such transfer pays: peer access, registration with a NIC, a pinned BAR1 window. Sockets register
// nothing.
void Lowering::set_first_use_cost() {
  if (way_.carrier == Carrier::Mpi && through_sockets(machine_, way_)) return;
  switch (way_.mechanism) {
    case Mechanism::PcieP2p:
    case Mechanism::NvlinkRelay: demand_.once = overheads::kEnablePeer; break;
    case Mechanism::Nvlink:
      if (gpu(from_) && gpu(to_)) demand_.once = overheads::kEnablePeer;
      break;
    case Mechanism::BarCopy: demand_.once = overheads::kBarPin; break;
    case Mechanism::Rdma:
    case Mechanism::Gdr:
    case Mechanism::GdrRelay:
      demand_.once = overheads::kRegister + Seconds(overheads::kRegisterPerByte * static_cast<double>(bytes_.value()));
      break;
    default: break;
  }
  demand_.once = host_time(demand_.once);
}

// A measured figure wins: it becomes the rate of this flow alone. A resource that would allow less is taken to be as
// wide as the measurement for this flow. A resource of unknown capacity cannot be shared, so the flow no longer uses
// it.
void Lowering::apply_override() {
  bool const direct = way_.mechanism == Mechanism::Nvlink || way_.mechanism == Mechanism::PcieP2p ||
                      way_.mechanism == Mechanism::HostDma || way_.mechanism == Mechanism::Local;
  if (!direct) return;
  for (auto const& entry : machine_.overrides) {
    if (entry.from != from_ || entry.to != to_ || (entry.op && *entry.op != op_)) continue;
    if (entry.latency) {
      demand_.start = Seconds(0);
      demand_.path = *entry.latency;
    }
    if (!entry.bandwidth) continue;
    demand_.unknown.reset();
    demand_.cap = kUnlimited;
    auto const uses = std::exchange(demand_.uses, {});
    for (auto use : uses) {
      auto const capacity = resources_.capacity(use.resource, assumed_);
      if (!capacity) continue;
      if (*capacity / use.weight.ratio() < *entry.bandwidth)
        use.weight = Weight::floor_of(*capacity / *entry.bandwidth);
      demand_.uses.push_back(use);
    }
    path_.limit(*entry.bandwidth, Cap::Measured);
  }
}

}  // namespace lanewise
