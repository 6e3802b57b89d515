#include "hw/network/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/rules/conditions.hpp"
#include "hw/network/node_plan.hpp"
#include "hw/program/contents.hpp"
#include "hw/program/plan_check.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkMemory, name, numa, gpu, bdf, pinned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkNic, name, node, function, device_name, bdf, place, roce_v1, soft)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryContent, at, bytes, from, first, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkBuffer, name, node, memory, bytes, before, after)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkRegion, buffer, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkStep, transfer, text, verb, bytes, from_node, to_node, from, to, nic_from,
                                   nic_to, queue_pairs, staging, chunk, slots, ring_from, ring_to, reads, writes,
                                   reduces, after)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DrivePath, drive, path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodePlan, machine, plan, steps, buffers, drives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkPlan, nodes, gpus, uses_gpus, nics, steps, buffers, node_plans, carrier,
                                   warm_up, repeat)

namespace {

// Chunks of a ring in flight: at least one that is copied out, one on the wire, one that is copied in at the other end
// and one that waits. A small chunk spends most of its time waiting, so a ring holds as many of them as this size
// allows, as NCCL's buffer of a connection does (NCCL_BUFFSIZE, 4 MiB).
constexpr std::int64_t kRingSlots = 4;
constexpr std::int64_t kMaxRingSlots = 32;
constexpr std::int64_t kRingBytes = std::int64_t{4} << 20;
constexpr std::int64_t kMaxSharedBytes = std::int64_t{1} << 30;  // of a request of verbs and of MPI's: below 2 GiB
constexpr std::int64_t kVectorBytes = 16;                        // bytes that kernels move at a time

class NetworkLowering {
 public:
  NetworkLowering(Plan const& plan, Model const& model) : plan_(plan), model_(model), machine_(model.machine()) {}

  NetworkPlan lower(HardwareSettings const& settings) {
    for (auto const& host : machine_.hosts) lowered_.nodes.push_back(host.name);
    lowered_.gpus.resize(machine_.hosts.size());
    for (auto const gpu : machine_.all(PciKind::Gpu)) ++lowered_.gpus[index(machine_.host_of(gpu))];
    lowered_.uses_gpus.resize(machine_.hosts.size());
    for (auto const& step : plan_.steps)
      for (auto const& place : {step.from, step.to})
        if (gpu_at(machine_, place)) lowered_.uses_gpus[index(machine_.host_of(place))] = true;
    for (auto const nic : machine_.all(PciKind::Nic)) add(nic);
    if (!plan_.buffers.empty()) add_buffers();
    set_carrier();
    for (auto const& step : plan_.steps) lowered_.steps.push_back(lower(step));
    lowered_.node_plans = make_node_plans(plan_, model_, lowered_.steps, settings.drives);
    lowered_.warm_up = settings.repetition.warm_up;
    lowered_.repeat = settings.repetition.repeat;
    return std::move(lowered_);
  }

 private:
  [[noreturn]] void refuse(Step const& step, std::string const& why) const { refuse_step(step, machine_, why); }

  void add(PciId nic) {
    auto const& function = machine_.at(nic);
    auto const node = index(machine_.host_of(nic));
    auto const& host = machine_.hosts[node].name;
    auto const prefix = host.empty() ? std::size_t{0} : host.size() + 1;
    nics_[nic] = lowered_.nics.size();
    auto const* part = machine_.part_of(nic);
    lowered_.nics.push_back({function.name, node, function.name.substr(prefix), function.device_name, function.bdf,
                             places_[node]++, part != nullptr && part->nic.transport == Transport::RoceV1,
                             part != nullptr && part->nic.driver == "rxe"});
  }

  [[nodiscard]] NetworkMemory memory(Place const& place) const {
    NetworkMemory memory;
    memory.name = machine_.name_of(place);
    if (auto const* numa = std::get_if<NumaId>(&place)) {
      memory.numa = machine_.at(*numa).os_index;
      memory.pinned = lowered_.uses_gpus[index(machine_.host_of(place))];
      return memory;
    }
    auto const gpu = std::get<PciId>(place);
    memory.numa = machine_.at(machine_.numa_of(gpu)).os_index;
    memory.bdf = machine_.at(gpu).bdf;
    memory.gpu = 0;
    for (auto const other : machine_.all(PciKind::Gpu))
      if (other != gpu && machine_.host_of(other) == machine_.host_of(gpu) && other < gpu) ++memory.gpu;
    return memory;
  }

  // Kernels fill and check whole vectors.
  static void refuse_cuts(Buffer const& buffer, std::vector<Content> const& contents) {
    for (auto const& content : contents)
      for (auto const cut : {content.at, content.from})
        if (cut.value() % kVectorBytes != 0)
          throw PlanError(fmt::format("{}: on GPUs all cuts are at multiples of {} bytes, not at {}", buffer.name,
                                      kVectorBytes, cut.value()));
  }

  void add_buffers() {
    auto const before = initial_contents(plan_);
    auto const after = expected_contents(plan_);
    auto const lowered = [](std::vector<Content> const& contents) {
      std::vector<MemoryContent> all;
      for (auto const& one : contents)
        all.push_back({one.at.value(), one.bytes.value(), one.from.value(), one.first, one.count});
      return all;
    };
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      auto const& buffer = plan_.buffers[i];
      if (gpu_at(machine_, buffer.at))
        for (auto const* contents : {&before[i], &after[i]}) refuse_cuts(buffer, *contents);
      lowered_.buffers.push_back({buffer.name, index(machine_.host_of(buffer.at)), memory(buffer.at),
                                  std::max<std::int64_t>(1, buffer.bytes.value()), lowered(before[i]),
                                  lowered(after[i])});
    }
  }

  // MPI and verbs are never mixed: neither makes progress while a process waits for the other.
  void set_carrier() {
    std::optional<std::string> by_verbs;
    std::optional<std::string> by_mpi;
    for (auto const& step : plan_.steps)
      if (step.way.nic_from || step.way.nic_to) (step.way.carrier == Carrier::Mpi ? by_mpi : by_verbs) = step.transfer;
    if (by_verbs && by_mpi)
      throw PlanError(
          fmt::format("step '{}' goes by verbs and step '{}' by MPI; hardware runs one of them in a plan: say `--set "
                      "software.mpi_messages=on`",
                      *by_verbs, *by_mpi));
    // Where nothing crosses the network, nodes still tell one another what has ended.
    if (by_mpi || (!by_verbs && !does_verbs())) lowered_.carrier = Carrier::Mpi;
  }
  [[nodiscard]] bool does_verbs() const {
    auto const nics = machine_.all(PciKind::Nic);
    return !nics.empty() && std::all_of(nics.begin(), nics.end(), [&](PciId nic) {
      auto const* part = machine_.part_of(nic);
      return part != nullptr && part->nic.rdma && !machine_.at(machine_.host_of(nic)).software.mpi_messages;
    });
  }

  static NetworkRegion region(std::optional<Region> const& region) {
    if (!region) return {};
    return {static_cast<int>(index(region->buffer)), region->offset.value()};
  }

  [[nodiscard]] NetworkStep lower(Step const& step) const {
    refuse_unsupported(step);
    NetworkStep lowered;
    lowered.transfer = step.transfer;
    lowered.text = text_of(step.way, machine_);
    lowered.bytes = step.bytes.value();
    lowered.from_node = index(machine_.host_of(step.from));
    lowered.to_node = index(machine_.host_of(step.to));
    lowered.from = memory(step.from);
    lowered.to = memory(step.to);
    lowered.reads = region(step.reads);
    lowered.writes = region(step.writes);
    lowered.reduces = step.reduces;
    for (auto const* list : {&step.after, &step.order_only})
      for (auto const before : *list) lowered.after.push_back(index(before));
    if (lowered.from_node == lowered.to_node) {
      lowered.verb = is_of_cores(step) ? Verb::Local : Verb::Device;
      return lowered;
    }
    // What is added without a ring is fetched by its target's node, which then adds.
    bool const is_fetched = step.reduces ? !is_ringed(step.way.mechanism) : step.op == Op::Read;
    lowered.verb = is_fetched ? Verb::Read : step.op == Op::Send ? Verb::Send : Verb::Write;
    set_nics(step, lowered);
    set_staging(step, lowered);
    return lowered;
  }

  // A core copies or adds it, not a GPU.
  static bool is_of_cores(Step const& step) {
    return step.work == Seconds(0) && std::holds_alternative<NumaId>(step.from) &&
           std::holds_alternative<NumaId>(step.to);
  }
  // Goes chunk by chunk through host memory or another GPU's.
  static bool is_ringed(Mechanism mechanism) {
    return mechanism == Mechanism::NetStaged || mechanism == Mechanism::SharedHost || mechanism == Mechanism::GdrRelay;
  }

  void refuse_unsupported(Step const& step) const {
    bool const within = machine_.host_of(step.from) == machine_.host_of(step.to);
    if (step.work > Seconds(0)) {
      if (!std::holds_alternative<PciId>(step.from)) refuse(step, "computing is run on GPUs only");
      return;
    }
    if (step.reads.has_value() != step.writes.has_value() || (step.reduces && !step.reads))
      refuse(step, "one of its ends is a shared buffer, and the other is not");
    if (step.reduces && step.bytes.value() % 4 != 0) refuse(step, "sums are of elements of 4 bytes");
    if (step.reduces && !within && step.way.mechanism == Mechanism::GdrRelay)
      refuse(step, "no sum is made of what comes through a relay");
    if (step.bytes <= Bytes(0)) refuse(step, "there is nothing to move");
    auto const is_nic = [&](Place const& place) {
      auto const* id = std::get_if<PciId>(&place);
      return id != nullptr && machine_.at(*id).kind == PciKind::Nic;
    };
    if (is_nic(step.from) || is_nic(step.to))
      refuse(step, "a wire has no other end here: name a place on another node");
    if (within && is_of_cores(step) && step.way.cores > 1) refuse(step, "in plans of several nodes one core copies");
    if (within) return;
    if (step.way.mechanism == Mechanism::Nvlink)
      throw MissingError(
          fmt::format("step '{}': NVLink between nodes is simulated and not run by this build; name a way "
                      "over NICs with `mechanism: gdr`",
                      step.transfer));
    if (step.way.mechanism == Mechanism::StorageDirect || step.way.mechanism == Mechanism::StorageStaged ||
        drive_of(machine_, step))
      throw MissingError(
          fmt::format("step '{}': drives of other nodes are simulated and not run by this build", step.transfer));
    if (!step.way.nic_from || !step.way.nic_to) refuse(step, "the way names no NICs");
    if (step.op == Op::Atomic || step.op == Op::LoadStore) refuse(step, "a kernel reaches no other node");
    refuse_async(step);
  }

  // With GPUDirect Async a NIC continues after a kernel without the CPU. The model assumes that where the machine file
  // says so, but this executor cannot do it.
  void refuse_async(Step const& step) const {
    bool const by_nic = step.way.mechanism == Mechanism::Gdr || step.way.mechanism == Mechanism::GdrRelay;
    auto const& host = machine_.at(machine_.host_of(step.from));
    if (!by_nic || step.after.empty() || !host.software.gpudirect_async) return;
    throw MissingError(
        fmt::format("step '{}': {} is said to have GPUDirect Async (software.gpudirect_async), which needs libgdsync "
                    "and a driver that maps the NIC's doorbells into the GPU; this build rings them from the CPU. Say "
                    "`--set software.gpudirect_async=off` to plan and run it so",
                    step.transfer, host.name));
  }

  // Takes the way's pair of NICs and, as a spare, the first other pair on one rail, where both nodes have one.
  void set_nics(Step const& step, NetworkStep& lowered) const {
    lowered.nic_from = {nics_.at(*step.way.nic_from)};
    lowered.nic_to = {nics_.at(*step.way.nic_to)};
    for (std::size_t i = 0; i < lowered_.nics.size() && lowered.nic_from.size() == 1; ++i) {
      auto const& nic = lowered_.nics[i];
      if (nic.node != lowered.from_node || i == lowered.nic_from.front()) continue;
      for (std::size_t k = 0; k < lowered_.nics.size(); ++k) {
        auto const& peer = lowered_.nics[k];
        if (peer.node != lowered.to_node || peer.place != nic.place || k == lowered.nic_to.front()) continue;
        lowered.nic_from.push_back(i);
        lowered.nic_to.push_back(k);
        break;
      }
    }
    lowered.queue_pairs = step.way.queue_pairs > 0 ? step.way.queue_pairs : queue_pairs_of(*step.way.nic_from);
    if (step.way.carrier == Carrier::Mpi) {  // MPI has no queue pairs, and no second link to go to
      lowered.queue_pairs = 1;
      lowered.nic_from.resize(1);
      lowered.nic_to.resize(1);
    }
  }

  // As many queue pairs as it takes to fill the port.
  [[nodiscard]] int queue_pairs_of(PciId nic) const {
    auto const* part = machine_.part_of(nic);
    if (part == nullptr || !part->nic.queue_pair_bandwidth || !part->nic.rate) return 1;
    return std::max(1, static_cast<int>(std::ceil(*part->nic.rate / *part->nic.queue_pair_bandwidth)));
  }

  void set_staging(Step const& step, NetworkStep& lowered) const {
    auto const& way = step.way;
    if (!is_ringed(way.mechanism)) return;
    bool const relayed = way.mechanism == Mechanism::GdrRelay;
    bool const whole = way.mechanism == Mechanism::SharedHost;
    // A sum is planned as a read by its target, and adds what the ring brings.
    if ((step.op == Op::Read && !step.reduces) || step.op == Op::Send)
      refuse(step, "a ring of chunks is written, not read or sent");
    lowered.staging = Staging::Chunks;
    lowered.queue_pairs = 1;
    auto const chosen = model_.lower(step.from, step.to, step.bytes, step.op, way).chunk;
    lowered.chunk = whole || chosen <= Bytes(0) ? lowered.bytes : std::min(chosen.value(), lowered.bytes);
    auto const slots = std::clamp(kRingBytes / lowered.chunk, kRingSlots, kMaxRingSlots);
    if (whole && lowered.bytes > kMaxSharedBytes) refuse(step, "a single buffer is run up to 1 GiB");
    if (step.reduces && lowered.chunk < lowered.bytes && lowered.chunk % kVectorBytes != 0)
      refuse(step, "chunks of a sum are multiples of 16 bytes");
    lowered.slots = whole ? 1 : std::min(slots, (lowered.bytes + lowered.chunk - 1) / lowered.chunk);
    bool const from_gpu = lowered.from.gpu >= 0;
    bool const to_gpu = lowered.to.gpu >= 0;
    if (relayed) {
      if (way.relay) lowered.ring_from = {memory(*way.relay)};
      if (way.relay_to) lowered.ring_to = {memory(*way.relay_to)};
      return;
    }
    if (from_gpu) lowered.ring_from = {memory(*way.staging)};
    if (to_gpu || step.reduces) lowered.ring_to = {memory(way.staging_to ? *way.staging_to : *way.staging)};
  }

  Plan const& plan_;
  Model const& model_;
  Machine const& machine_;
  NetworkPlan lowered_;
  std::map<PciId, std::size_t> nics_;
  std::map<std::size_t, int> places_;  // NICs seen of each node
};

}  // namespace

NetworkPlan make_network_plan(Plan const& plan, Model const& model, HardwareSettings const& settings) {
  check_plan(plan, model.machine());
  return NetworkLowering(plan, model).lower(settings);
}

std::string to_text(NetworkPlan const& plan) { return nlohmann::json(plan).dump(); }

NetworkPlan network_plan_from_text(std::string const& text) { return nlohmann::json::parse(text).get<NetworkPlan>(); }

}  // namespace lanewise::hw
