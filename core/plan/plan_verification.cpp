#include <fmt/format.h>

#include "core/plan/dag.hpp"
#include "core/units/limits.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

void require(bool holds, Step const& step, std::string_view what) {
  if (!holds) throw PlanError(fmt::format("step of transfer '{}': {}", step.transfer, what));
}

bool is_kind(Machine const& machine, Place const& place, PciKind kind) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr && machine.at(*id).kind == kind;
}

bool is_memory(Place const& place) { return std::holds_alternative<NumaId>(place); }

void verify_relays_and_nics(Machine const& machine, Step const& step) {
  auto const& way = step.way;
  require(way.carrier == Carrier::Verbs || way.nic_from || way.nic_to, step,
          "MPI carries only what crosses the network");
  for (auto const& relay : {way.relay, way.relay_to})
    require(!relay || is_kind(machine, *relay, PciKind::Gpu), step, "a relay is a GPU");
  for (auto const& nic : {way.nic_from, way.nic_to})
    require(!nic || is_kind(machine, *nic, PciKind::Nic), step, "only a NIC sends to the network");
  auto const sends = [&](Place const& place, std::optional<NumaId> const& beside) {
    return is_kind(machine, place, PciKind::Gpu) || is_memory(place) ||
           (is_kind(machine, place, PciKind::Nvme) && beside);
  };
  require((!way.nic_from || sends(step.from, way.staging)) && (!way.nic_to || sends(step.to, way.staging_to)), step,
          "a NIC sends from and receives into the memory of a GPU or the host, of a drive through host memory");
}

// The way must have what its mechanism needs, and its places must be of the kinds that the mechanism serves.
void verify_mechanism(Machine const& machine, Step const& step) {
  auto const& way = step.way;
  auto const is = [&](Place const& place, PciKind kind) { return is_kind(machine, place, kind); };
  auto const one_each = [&](PciKind one, PciKind other) {
    return (is(step.from, one) && is(step.to, other)) || (is(step.from, other) && is(step.to, one));
  };
  auto const with_memory = [&](PciKind kind) {
    return (is(step.from, kind) && is_memory(step.to)) || (is_memory(step.from) && is(step.to, kind));
  };
  bool const gpus = is(step.from, PciKind::Gpu) && is(step.to, PciKind::Gpu);
  bool const memories = is_memory(step.from) && is_memory(step.to);
  bool const has_nic = way.nic_from || way.nic_to;
  switch (way.mechanism) {
    case Mechanism::Local:
      require((gpus && step.from == step.to) || memories, step, "local is within one GPU's memory or the host's");
      break;
    case Mechanism::Nvlink:
      require(gpus || with_memory(PciKind::Gpu), step, "nvlink is between two GPUs, or a GPU and host memory");
      break;
    case Mechanism::PcieP2p: require(gpus, step, "pcie_p2p is between two GPUs"); break;
    case Mechanism::NvlinkRelay:
      require(gpus && way.relay, step, "nvlink_relay is between two GPUs through a third");
      break;
    case Mechanism::HostDma:
      require(with_memory(PciKind::Gpu) || with_memory(PciKind::Nvme) || with_memory(PciKind::Nic) ||
                  with_memory(PciKind::Device),
              step, "host_dma is between a device and host memory");
      break;
    case Mechanism::HostStaged:
      require(gpus && way.staging, step, "host_staged is between two GPUs through host memory");
      break;
    case Mechanism::SharedHost:
      require(way.staging && (gpus || has_nic), step, "shared_host needs a host memory and two devices");
      break;
    case Mechanism::BarCopy:
      require(gpus || with_memory(PciKind::Gpu), step, "bar_copy is between two GPUs, or a GPU and host memory");
      break;
    case Mechanism::GdrRelay:
      require(has_nic && (way.relay || way.relay_to), step, "gdr_relay needs a NIC and a GPU beside it");
      break;
    case Mechanism::NetStaged: require(has_nic && way.staging, step, "net_staged needs a NIC and a host memory"); break;
    case Mechanism::Gdr:
    case Mechanism::Rdma: require(has_nic, step, fmt::format("{} needs a NIC", to_string(way.mechanism))); break;
    case Mechanism::StorageDirect:
      require(one_each(PciKind::Gpu, PciKind::Nvme) || one_each(PciKind::Gpu, PciKind::Device), step,
              "storage_direct is between a drive or another device and a GPU");
      break;
    case Mechanism::StorageStaged:
      require((one_each(PciKind::Gpu, PciKind::Nvme) || one_each(PciKind::Gpu, PciKind::Device)) && way.staging, step,
              "storage_staged is between a drive or another device and a GPU through host memory");
      break;
  }
}

void verify_regions(Plan const& plan, Step const& step) {
  require(step.work == Seconds(0) || (step.work > Seconds(0) && step.bytes == Bytes(0)), step,
          "work moves nothing and takes no negative time");
  require(step.work <= Seconds(kMaxSeconds), step,
          fmt::format("its work takes {}; at most {}", rounded_text(step.work), rounded_text(Seconds(kMaxSeconds))));
  for (auto const& [region, place] : {std::pair(step.reads, step.from), std::pair(step.writes, step.to)}) {
    if (!region) continue;
    require(index(region->buffer) < plan.buffers.size(), step, "it names a buffer that is not in the plan");
    auto const& buffer = plan.buffers[index(region->buffer)];
    require(buffer.at == place || !plan.folding.empty(), step, "it reads at its source and writes at its target");
    require(region->offset >= Bytes(0) && region->offset + step.bytes <= buffer.bytes, step,
            "it goes beyond the end of a buffer");
  }
}

void verify_cores(Machine const& machine, Step const& step) {
  if (step.way.cores == 0) return;
  auto const* numa = std::get_if<NumaId>(&step.from);
  require(numa != nullptr && std::holds_alternative<NumaId>(step.to) && step.way.mechanism == Mechanism::Local, step,
          "only copies between host memories are by several cores");
  auto const there = numbers_of_list(machine.at(*numa).cores).size();
  require(there == 0 || static_cast<std::size_t>(step.way.cores) <= there, step,
          fmt::format("'{}' has {} cores, not {}", machine.name_of(step.from), there, step.way.cores));
}

void verify_way(Machine const& machine, Step const& step) {
  require(step.way.queue_pairs >= 0 && step.way.cores >= 0 && step.way.blocks >= 0 && step.way.warps >= 0 &&
              step.way.warps_per_block >= 0 && step.way.access.each >= Bytes(0) && step.way.access.window >= Bytes(0),
          step, "queue pairs, cores, blocks, warps and pieces of an access are not negative");
  verify_cores(machine, step);
  verify_relays_and_nics(machine, step);
  verify_mechanism(machine, step);
}

// By HostId: how many units are in the class of a node's unit; 0: it is in none.
std::vector<std::size_t> folded_units(Plan const& plan, Machine const& machine) {
  std::vector<std::size_t> units(machine.hosts.size(), 0);
  for (auto const& alike : plan.folding)
    for (auto const& unit : alike.units) {
      if (unit.size() != alike.units.front().size())
        throw PlanError("units of a folded plan that stand for one another have equally many nodes");
      for (auto const host : unit) units[index(host)] = alike.units.size();
    }
  return units;
}

// A step stands for one at most in each unit of its class.
void verify_folding(Plan const& plan, Machine const& machine) {
  if (!plan.folding.empty() && !plan.collective) throw PlanError("only the plan of one collective is folded");
  auto const units_of = folded_units(plan, machine);
  for (auto const& step : plan.steps) {
    if (plan.folding.empty()) {
      require(step.count == 1, step, "only a step of a folded plan stands for others");
      continue;
    }
    auto const units = units_of[index(machine.host_of(step.from))];
    require(units > 0 && units_of[index(machine.host_of(step.to))] > 0, step, "its nodes are not in 'folding'");
    require(step.count > 0 && step.count <= units, step,
            fmt::format("it stands for {} steps, and {} units are like its own", step.count, units));
  }
}

// A decision is on the transfer of its steps, and every legal candidate could be their way.
void verify_candidates(Machine const& machine, Plan const& plan, Decision const& decision) {
  auto const is_of_it = [&](StepId id) {
    require(plan.steps[index(id)].transfer == decision.transfer, plan.steps[index(id)],
            fmt::format("it is no step of '{}', whose decision names it", decision.transfer));
  };
  is_of_it(decision.step);
  for (auto const& piece : decision.others) is_of_it(piece.step);
  auto step = plan.steps[index(decision.step)];
  if (step.work > Seconds(0)) return;
  for (auto const& candidate : decision.candidates) {
    if (!candidate.legal()) continue;
    step.way = candidate.way;
    step.op = candidate.op;
    verify_way(machine, step);
  }
}

}  // namespace

void Plan::verify(Machine const& of) const {
  verify_folding(*this, of);
  for (auto const& step : steps) {
    require(step.bytes >= Bytes(0) && step.offset >= Bytes(0), step, "its size is negative");
    verify_regions(*this, step);
    if (step.work > Seconds(0)) continue;
    verify_way(of, step);
  }
  require_acyclic(dag_of(steps));
  for (auto const& named : collectives)
    if (buffers_of(*this, named).empty())
      throw PlanError(fmt::format("the buffers of '{}' are not in the plan", named.id));
  for (auto const& decision : decisions) {
    if (index(decision.step) >= steps.size() || decision.chosen >= decision.candidates.size())
      throw PlanError(fmt::format("the decision on '{}' points outside the plan", decision.transfer));
    for (auto const& piece : decision.others)
      if (index(piece.step) >= steps.size() || piece.candidate >= decision.candidates.size() ||
          !decision.candidates[piece.candidate].legal())
        throw PlanError(
            fmt::format("a piece of '{}' points outside the plan or goes an illegal way", decision.transfer));
    require(decision.candidates[decision.chosen].legal(), steps[index(decision.step)], "an illegal way was chosen");
    verify_candidates(of, *this, decision);
  }
}

}  // namespace lanewise
