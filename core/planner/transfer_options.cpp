#include "core/planner/transfer_options.hpp"

#include <algorithm>

#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

bool has_several_movers(Decision const& decision) {
  return std::any_of(decision.candidates.begin(), decision.candidates.end(),
                     [&](Candidate const& candidate) { return candidate.op != decision.candidates.front().op; });
}

}  // namespace

Bytes chunk_of_piece(Model const& model, OpenTransfer const& transfer, TransferOption const& option, Bytes piece,
                     bool is_divided) {
  if (option.way.chunk == Bytes(0) || option.way.by_driver) return option.way.chunk;
  if (is_divided && option.way.mechanism == Mechanism::HostStaged) {
    auto const* part = model.machine().part_of(std::get<PciId>(transfer.from));
    auto const gap =
        (figures::chunk_gap(part) + overheads::kConcurrentEngine) * model.assumed()(Parameter::EngineStart);
    // A larger chunk than that of the whole transfer would be faster than the lower bound allows for.
    return std::min(Model::best_chunk(piece, gap, option.rate), option.way.chunk);
  }
  auto way = option.way;
  way.chunk = Bytes(0);
  return model.lower(transfer.from, transfer.to, piece, option.op, way).chunk;
}

TransferOption transfer_option_of(Model const& model, OpenTransfer const& transfer, Way const& way, Op op,
                                  std::size_t candidate) {
  TransferOption option{candidate, way, op, model.lower(transfer.from, transfer.to, transfer.bytes, op, way), {}};
  auto const cost = model.cost(option.demand, transfer.bytes);
  option.rate = cost ? cost->rate : BytesPerSecond(0);
  return option;
}

double seconds_per_byte(Model const& model, Use const& use) {
  auto const capacity = model.capacity(use.resource);
  return capacity ? use.weight.ratio() / capacity->value() : 0;
}

std::vector<OpenTransfer> open_transfers(Plan const& plan, Model const& model) {
  std::vector<OpenTransfer> transfers;
  std::vector<std::optional<std::size_t>> owner(
      plan.steps.size());  // decision of each step; none for collectives and computing
  for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
    owner[index(plan.decisions[d].step)] = d;
    for (auto const& piece : plan.decisions[d].others) owner[index(piece.step)] = d;
  }
  for (auto const& decision : plan.decisions) {
    auto const& step = plan.steps[index(decision.step)];
    OpenTransfer transfer{decision.transfer, step.from, step.to, step.bytes, decision.candidates.front().op, {}, {}};
    auto const add_order = [&](Step const& of) {
      for (auto const before : of.after) {
        auto const other = owner[index(before)];
        if (other && plan.decisions[*other].transfer != decision.transfer) transfer.after.push_back(*other);
      }
    };
    add_order(step);
    for (auto const& piece : decision.others) {
      transfer.bytes += plan.steps[index(piece.step)].bytes;
      add_order(plan.steps[index(piece.step)]);
    }
    transfer.options.reserve(decision.candidates.size());
    for (std::size_t c = 0; c < decision.candidates.size(); ++c) {
      auto const& candidate = decision.candidates[c];
      if (candidate.legal() && candidate.time)
        transfer.options.push_back(transfer_option_of(model, transfer, candidate.way, candidate.op, c));
    }
    transfers.push_back(std::move(transfer));
  }
  return transfers;
}

std::vector<OpenTransfer> open_transfers_by_any_mover(Plan const& plan, Model const& model) {
  auto transfers = open_transfers(plan, model);
  Planner const planner(model);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    auto& transfer = transfers[i];
    auto const& decision = plan.decisions[i];
    if (!decision.any_mover || has_several_movers(decision)) continue;
    auto const other = transfer.op == Op::Copy ? Op::Write : Op::Copy;
    auto const choice = planner.choose(
        {.id = transfer.id, .from = transfer.from, .to = transfer.to, .bytes = transfer.bytes, .op = other});
    for (std::size_t c = 0; c < choice.evaluated.size(); ++c)
      if (auto const& evaluated = choice.evaluated[c]; evaluated.refused_by == nullptr && evaluated.cost)
        transfer.options.push_back(transfer_option_of(model, transfer, evaluated.way, other, c));
  }
  return transfers;
}

}  // namespace lanewise
