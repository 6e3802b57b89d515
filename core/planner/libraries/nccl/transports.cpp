#include "core/planner/libraries/nccl/transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::nccl {

Transports::Transports(Machine const& machine, Library const& library, Environment const& environment,
                       std::vector<std::vector<PciId>> const& nodes, Topology const& topology, LibrarySteps& steps)
    : machine_(machine),
      library_(library),
      environment_(environment),
      nodes_(nodes),
      topology_(topology),
      steps_(steps) {
  for (auto const& node : nodes) nics_.push_back(nics_of(machine, node));
}

void Transports::hop(std::size_t node, std::size_t from, std::size_t to, double bytes) {
  auto const a = nodes_[node][from];
  auto const b = nodes_[node][to];
  switch (topology_.transport(from, to)) {
    case Transport::PeerToPeer: return peer(a, b, topology_.between(from, to), bytes);
    case Transport::SharedMemory: return shared_memory(a, b, bytes);
    case Transport::Network:
      throw PlanError("between GPUs of a node NCCL would use the network, which is not planned; allow P2P or SHM");
  }
}

void Transports::peer(PciId from, PciId to, Path const& path, double bytes) {
  if (!path.relay) return add(from, to, bytes);
  auto const middle = topology_.gpus().at(*path.relay);  // two hops over the GPU in between
  add(from, middle, bytes);
  add(middle, to, bytes);
}

// Written by the sender's kernel to host memory at the receiver (NCCL_SHM_LOCALITY=1: at the sender), and read there by
// the receiver's.
void Transports::shared_memory(PciId from, PciId to, double bytes) {
  auto const memory = machine_.numa_of(number_in(environment_, "NCCL_SHM_LOCALITY").value_or(2) == 1 ? from : to);
  add(from, memory, bytes);
  add(memory, to, bytes);
}

// enqueue.cc: GDR's reach, and host memory beyond it.
bool Transports::uses_gdr(std::size_t gpu, std::size_t nic) const {
  auto const& path = topology_.to_nic(gpu, nic);
  auto reach = library_.minor >= 27 || number_in(environment_, "NCCL_NET_GDR_C2C").value_or(0) == 1 ? PathType::P2c
                                                                                                    : PathType::Pxb;
  if (auto const found = environment_.find("NCCL_NET_GDR_LEVEL"); found != environment_.end())
    for (auto const type : {PathType::Local, PathType::Pix, PathType::Pxb, PathType::Phb, PathType::Sys})
      if (found->second == to_string(type)) reach = type;
  return path.type <= reach || path.type == PathType::Pxn;
}

PciId Transports::nic_of(std::size_t node, std::size_t number) const {
  auto const& nics = nics_.at(node);
  if (number < nics.size()) return nics[number];
  throw PlanError(
      fmt::format("node '{}' has no NIC for NCCL's channel", machine_.at(machine_.host_of(nodes_[node].front())).name));
}

void Transports::over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, std::size_t nic,
                              std::size_t nic_there, double bytes) {
  over_network(node, from, to_node, to, nic, nic_there, bytes, InNetwork::Carried);
}

void Transports::through_adding_switches(std::size_t node, std::size_t gpu, std::size_t next_node, std::size_t nic,
                                         double bytes) {
  over_network(node, gpu, next_node, gpu, nic, nic, bytes, InNetwork::Added);
}

void Transports::over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, std::size_t nic,
                              std::size_t nic_there, double bytes, InNetwork in_network) {
  auto const a = nodes_[node][from];
  auto const b = nodes_[to_node][to];
  if (!machine_.fabric || topology_.nics().empty()) throw PlanError("no network joins the nodes");
  auto const& path = topology_.to_nic(from, nic);
  auto const relay = path.relay ? std::optional(nodes_[node][*path.relay]) : std::nullopt;
  auto request = LibrarySteps::request_of(a, b, bytes, Op::Copy);
  request.nics = {nic_of(node, nic), nic_of(to_node, nic_there)};
  request.only = Mechanism::Gdr;
  // In a domain of several hosts the NIC may be another host's: the relay's way is asked for.
  auto asked = request;
  if (relay && machine_.host_of(*relay) != machine_.host_of(a)) asked.from = *relay;
  bool const sends_gdr = number_in(environment_, "NCCL_NET_GDR_READ").value_or(1) != 0;
  bool const gdr = sends_gdr && uses_gdr(from, nic) && uses_gdr(to, nic_there) && steps_.is_possible(asked);
  if (!gdr) {
    steps_.remark("GPUDirect RDMA is not possible, or GPUs are too far from their NICs for it: data pass host memory");
    request.only = Mechanism::NetStaged;
    for (auto const& [gpu, its] : {std::pair(a, request.nics->first), std::pair(b, request.nics->second)})
      if (machine_.host_of(gpu) != machine_.host_of(its))
        throw PlanError(fmt::format("as {} does it '{}' has no way to '{}' of another node without GPUDirect RDMA",
                                    to_string(library_), machine_.at(gpu).name, machine_.at(its).name));
    steps_.add(request, [&](Way& way) {
      way.blocks = std::max(1, blocks_);
      way.in_network = in_network == InNetwork::Added;
    });
    return;
  }
  steps_.add(request, asked, [&](Way& way) {
    // NCCL's own relay, by which the NIC is nearest to one GPU for each.
    way.mechanism = relay ? Mechanism::GdrRelay : Mechanism::Gdr;
    way.relay = relay;
    if (relay) way.blocks = std::max(1, blocks_);
    way.relay_to.reset();
    way.in_network = in_network == InNetwork::Added;
  });
}

void Transports::by_switch(PciId from, PciId to, double bytes) {
  steps_.add(request_of(from, to, bytes), [](Way& way) { way.multimem = true; });
}

void Transports::add(Place const& from, Place const& to, double bytes) {
  steps_.add(request_of(from, to, bytes), [&](Way& way) {
    way.blocks = blocks_;
    way.low_latency = protocol_ == Protocol::LL;
  });
}

// Of a kernel between two GPUs, or a GPU and host memory.
Request Transports::request_of(Place const& from, Place const& to, double bytes) const {
  auto const capability = topology_.min_capability();
  // paths.cc: A100 reads over NVLink
  int const by_default = capability == 80 && topology_.max_capability() == 80 ? 1 : 0;
  bool const pulls = number_in(environment_, "NCCL_P2P_READ_ENABLE").value_or(by_default) == 1;
  auto const a = gpu_at(machine_, from);
  auto const b = gpu_at(machine_, to);
  return a && b ? steps_.between_gpus(*a, *b, bytes, pulls ? Op::Read : Op::Write)
                : LibrarySteps::request_of(from, to, bytes, a ? Op::Write : Op::Read);
}

}  // namespace lanewise::nccl
