#include "core/planner/libraries/steps/library_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/planner/libraries/steps/link_shares.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

// Of fewer bytes too, a library goes the way that is the fastest for many.
constexpr Bytes kLeastBytesOfChoice{1 << 20};

// A number of its own for each node, and for each group of nodes that NVLink joins.
std::size_t node_of(Machine const& machine, PciId gpu) {
  for (std::size_t d = 0; d < machine.nvswitches.size(); ++d) {
    auto const& domain = machine.nvswitches[d];
    bool const holds = !domain.host && std::any_of(domain.ports.begin(), domain.ports.end(),
                                                   [&](auto const& port) { return port.gpu == gpu; });
    if (holds) return machine.hosts.size() + d;
  }
  return index(machine.host_of(gpu));
}

}  // namespace

std::vector<std::vector<PciId>> gpus_by_node(Machine const& machine, Collective const& collective,
                                             std::string const& library, NodeOf node) {
  std::vector<std::vector<PciId>> nodes;
  std::map<std::size_t, std::size_t> position;
  for (auto const& place : collective.among) {
    auto const gpu = gpu_at(machine, place);
    if (!gpu) throw PlanError(fmt::format("{} moves data of GPUs; '{}' is none", library, machine.name_of(place)));
    auto const number = node == NodeOf::Host ? index(machine.host_of(*gpu)) : node_of(machine, *gpu);
    auto const [found, is_new] = position.try_emplace(number, nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[found->second].push_back(*gpu);
  }
  for (auto const& gpus : nodes)
    if (gpus.size() != nodes.front().size())
      throw PlanError(
          fmt::format("{}'s plan is known where every node has equally many GPUs of the collective", library));
  return nodes;
}

void refuse_unknown_op(CollectiveOp op, std::string const& library) {
  if (passes_of(op, 2) > 0) return;
  throw PlanError(fmt::format(
      "what {} does for {} is not known; all_reduce, all_gather, reduce_scatter, reduce, broadcast, all_to_all, gather "
      "and scatter are",
      library, to_string(op)));
}

bool is_exchange(CollectiveOp op) {
  return op == CollectiveOp::AllToAll || op == CollectiveOp::Gather || op == CollectiveOp::Scatter;
}

bool passes_hop(Collective const& collective, Machine const& machine, PciId from, PciId to) {
  auto const root = gpu_at(machine, collective.among[collective.root]);
  if (collective.op == CollectiveOp::Broadcast) return to != root;
  if (collective.op == CollectiveOp::Reduce) return from != root;
  return true;
}

bool is_exchanged(Collective const& collective, Machine const& machine, PciId from, PciId to) {
  auto const root = gpu_at(machine, collective.among[collective.root]);
  if (collective.op == CollectiveOp::Gather) return to == root;
  if (collective.op == CollectiveOp::Scatter) return from == root;
  return true;
}

Collective collective_of_all(Machine const& machine, CollectiveOp op, Bytes bytes) {
  Collective collective{op, {}, bytes};
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (!machine.is_off(gpu)) collective.among.emplace_back(gpu);
  return collective;
}

LibrarySteps::LibrarySteps(Model const& model, Collective const& collective, std::string name, std::string spoken)
    : model_(model),
      machine_(model.machine()),
      planner_(model),
      spoken_(std::move(spoken)),
      plan_{machine_.name, fingerprint(machine_), {}, {}, {}, collective} {
  plan_.library.emplace();
  plan_.library->library = std::move(name);
}

void LibrarySteps::remark(std::string text) {
  auto& remarks = plan_.library->remarks;
  if (std::find(remarks.begin(), remarks.end(), text) == remarks.end()) remarks.push_back(std::move(text));
}

void LibrarySteps::begin(std::vector<std::vector<PciId>> const& nodes, Seconds latency) {
  latency_ = latency;
  for (auto const& node : nodes)
    for (auto const gpu : node) {
      begun_[gpu] = StepId(plan_.steps.size());
      Step step{"launch and steps", gpu, gpu, Bytes(0), Op::Copy, {}, {}};
      step.work = latency;
      step.way.blocks = plan_.library->channels;
      plan_.steps.push_back(std::move(step));
    }
}

Request LibrarySteps::request_of(Place const& from, Place const& to, double bytes, Op op) {
  Request request{"", from, to, Bytes(static_cast<std::int64_t>(bytes)), op};
  request.carrier = Carrier::Verbs;  // libraries have transports of their own, whose cost for a message they add
  return request;
}

Request LibrarySteps::between_gpus(PciId from, PciId to, double bytes, Op over_nvlink) const {
  bool const linked = has_nvlink(machine_, from, to);
  auto request = request_of(from, to, bytes, linked ? over_nvlink : Op::Write);
  request.only = linked ? Mechanism::Nvlink : Mechanism::PcieP2p;
  return request;
}

Seconds LibrarySteps::first_access(Request const& request) {
  return model_.lower(request.from, request.to, request.bytes, request.op, way_of(request)).latency();
}

Plan LibrarySteps::finish(FirstAccess first_access) {
  Seconds first = first_access == FirstAccess::InLatency ? latency_ : Seconds(0);
  for (auto const& step : plan_.steps) {
    if (step.work > Seconds(0) || first <= Seconds(0)) continue;
    auto const demand = model_.lower(step.from, step.to, step.bytes, step.op, step.way);
    first = std::min(first, demand.latency());
  }
  for (auto& step : plan_.steps)
    if (step.work > Seconds(0)) step.work = std::max(latency_ - first, Seconds(1e-9));
  return std::move(plan_);
}

std::optional<Way> LibrarySteps::find_way(Request const& request) {
  auto const& classes = model_.classes();
  auto const at = classes.nodes_of(request.from, request.to);
  if (!request.nics) {
    auto const [alike, is_new] =
        ways_of_classes_.try_emplace({classes.of(request.from, request.to), request.op, request.only});
    if (is_new) alike->second = {choose(request), at};
    auto const& [way, found_at] = alike->second;
    if (!way) return std::nullopt;
    if (auto moved = classes.moved(*way, found_at, at)) return moved;
  }
  auto const [found, is_new] =
      ways_of_pairs_.try_emplace({request.from, request.to, request.nics, request.op, request.only});
  if (is_new) found->second = choose(request);
  return found->second;
}

std::optional<Way> LibrarySteps::choose(Request request) const {
  request.bytes = std::max(request.bytes, kLeastBytesOfChoice);
  auto const choice = planner_.choose(request);
  if (!choice.chosen) return std::nullopt;
  auto way = choice.evaluated[*choice.chosen].way;
  way.chunk = Bytes(0);
  return way;
}

Way LibrarySteps::way_of(Request const& request) {
  if (auto const way = find_way(request)) return *way;
  auto const evaluated = planner_.choose(request).evaluated;
  auto const* refused = evaluated.empty() ? nullptr : evaluated.front().refused_by;
  throw PlanError(fmt::format("{} would go from '{}' to '{}' by {}, which {} refuses", spoken_,
                              machine_.name_of(request.from), machine_.name_of(request.to),
                              request.only ? to_string(*request.only) : "the network",
                              refused != nullptr ? refused->id : "the machine"));
}

std::optional<StepId> LibrarySteps::append(Request const& request, Way const& way, std::vector<StepId> after) {
  if (request.bytes <= Bytes(0)) return std::nullopt;
  Step step{name_, request.from, request.to, request.bytes, request.op, way, {}};
  auto const gpu = gpu_at(machine_, request.from) ? gpu_at(machine_, request.from) : gpu_at(machine_, request.to);
  if (gpu) after.push_back(begun_.at(*gpu));
  std::sort(after.begin(), after.end());
  step.after = std::move(after);
  plan_.steps.push_back(std::move(step));
  return StepId(plan_.steps.size() - 1);
}

}  // namespace lanewise
