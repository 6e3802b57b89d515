#include "lanewise/planner/bounds/lower_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/planner/bound_limits.hpp"
#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/bounds/job_set_bound.hpp"
#include "core/planner/bounds/stages.hpp"
#include "core/planner/bounds/transfer_program.hpp"
#include "core/planner/bounds/transfer_units.hpp"
#include "core/planner/schedules/configuration_program.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

bool all_may_begin(std::vector<OpenTransfer> const& transfers) {
  return std::all_of(transfers.begin(), transfers.end(), [](auto const& t) { return t.after.empty(); });
}

// The least time of each transfer alone, in milliseconds.
std::vector<double> times_alone(std::vector<OpenTransfer> const& transfers, Model const& model) {
  std::vector<double> times;
  std::vector<double> const none{0};
  for (auto const& transfer : transfers) {
    OpenTransfer single = transfer;
    single.after.clear();
    std::vector<OpenTransfer> const one{std::move(single)};
    TransferProgram program(one, model, none, none);
    times.push_back(program.bound_of(program.weights()));
  }
  return times;
}

// A bound that follows because engines are indivisible: ways that move data at the same time must each find their
// engines free. In milliseconds, for transfers that wait for none; 0 if it is not known.
double bound_of_configurations(std::vector<OpenTransfer> const& transfers, Model const& model) {
  TransferSet set;
  set.transfers = transfers;
  for (auto const& transfer : transfers) {
    auto const fastest =
        std::max_element(transfer.options.begin(), transfer.options.end(),
                         [](TransferOption const& a, TransferOption const& b) { return a.rate < b.rate; });
    if (fastest->rate <= BytesPerSecond(0)) return 0;
    set.default_option.push_back(static_cast<std::size_t>(fastest - transfer.options.begin()));
  }
  return milliseconds(ConfigurationProgram(set, model).least());
}

LowerBound bound_of_stage(std::vector<OpenTransfer> const& transfers, Model const& model, Seconds known) {
  Precedence precedence;
  if (all_may_begin(transfers)) {
    precedence.head.resize(transfers.size(), 0);
    precedence.tail.resize(transfers.size(), 0);
  } else {
    precedence = precedence_of(transfers, times_alone(transfers, model));
  }
  TransferProgram program(transfers, model, precedence.head, precedence.tail, known);
  auto const weights = program.weights();
  auto const time = program.bound_of(weights);
  LowerBound bound{Seconds(std::max(time, precedence.longest) * kMillisecond), program.parts(weights)};
  if (precedence.longest > time) {
    bound.binding.clear();
    for (auto it = precedence.chain.rbegin(); it != precedence.chain.rend(); ++it)
      bound.binding.push_back({transfers[*it].id, 1.0 / static_cast<double>(precedence.chain.size())});
  }
  if (precedence.longest > 0 || !program.needs_turns() || transfers.size() > kBoundLimits.configurations_max_transfers)
    return bound;
  auto const with_turns = Seconds((program.first_byte() + bound_of_configurations(transfers, model)) * kMillisecond);
  if (with_turns <= bound.makespan) return bound;
  auto const share = bound.makespan / with_turns;
  for (auto& part : bound.binding) part.share *= share;
  bound.binding.push_back({kTurnsAtEngines, 1 - share});
  sort_largest_first(bound.binding);
  bound.makespan = with_turns;
  return bound;
}

// What the plan itself takes.
Seconds known_time(Plan const& plan, Model const& model) {
  try {
    return estimate(model, plan.steps, plan.folding).makespan;
  } catch (PlanError const&) {  // a figure is unknown
    return kUnknownTime;
  }
}

}  // namespace

void sort_largest_first(std::vector<LowerBound::Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](auto const& a, auto const& b) { return a.share > b.share; });
}

std::optional<LowerBound> lower_bound(std::vector<OpenTransfer> const& transfers, Model const& model, Seconds known) {
  bool const open = std::all_of(transfers.begin(), transfers.end(), [](auto const& t) { return !t.options.empty(); });
  if (transfers.empty() || !open) return std::nullopt;
  LowerBound bound;
  if (all_may_begin(transfers)) {
    bound = bound_of_stage(transfers, model, known);
  } else {
    std::map<std::string, double> parts;
    for (auto const& transfers_of_stage : divide_into_stages(transfers)) {
      auto const stage = bound_of_stage(transfers_of_stage, model, known);
      bound.makespan += stage.makespan;
      for (auto const& part : stage.binding) parts[part.name] += part.share * stage.makespan.value();
    }
    for (auto const& [name, time] : parts) bound.binding.push_back({name, time / bound.makespan.value()});
    sort_largest_first(bound.binding);
  }
  bound.makespan = std::min(bound.makespan, known);
  bound.known = known;
  return bound;
}

std::optional<LowerBound> lower_bound(Plan const& plan, Model const& model, std::optional<Seconds> known) {
  // The bound counts every participant's links; what a switch adds on the way passes them once.
  if (std::any_of(plan.steps.begin(), plan.steps.end(),
                  [](Step const& step) { return step.way.multimem || step.way.in_network; }))
    return std::nullopt;
  if (plan.collective) return collective_bound(*plan.collective, model);
  if (is_job_set(plan)) return job_set_bound(plan, model);
  return lower_bound(open_transfers_by_any_mover(plan, model), model, known ? *known : known_time(plan, model));
}

std::string binding_text(LowerBound const& bound) {
  constexpr std::size_t kMaxNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxNamed, bound.binding.size()); ++i)
    text += (text.empty() ? "" : ", ") + bound.binding[i].name;
  if (bound.binding.size() > kMaxNamed) text += fmt::format(" and {} more", bound.binding.size() - kMaxNamed);
  return text;
}

}  // namespace lanewise
