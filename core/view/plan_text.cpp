#include "core/view/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/estimate/flow_hashes.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "core/verdict/timing_exclusion.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

std::string names_before(Step const& step, std::vector<Step> const& steps) {
  std::string names;
  for (auto const before : step.after) names += (names.empty() ? "" : ", ") + steps[index(before)].transfer;
  return names;
}

// Computation has no way.
std::string way_text(Step const& step, Machine const& machine) {
  return step.work > Seconds(0) ? "compute" : text_of(step.way, machine);
}

// Of longer plans only the first steps are shown; JSON has all.
constexpr std::size_t kMaxStepsShown = 64;

// The chosen candidate of each step; nullptr if the step has no decision.
std::vector<Candidate const*> candidates_of_steps(Plan const& plan) {
  std::vector<Candidate const*> found(plan.steps.size(), nullptr);
  for (auto const& decision : plan.decisions) {
    found[index(decision.step)] = &decision.candidates[decision.chosen];
    for (auto const& piece : decision.others) found[index(piece.step)] = &decision.candidates[piece.candidate];
  }
  return found;
}

}  // namespace

std::string range_text(std::optional<TimeRange> const& range) {
  return range ? fmt::format("{} to {}", rounded_text(range->low), rounded_text(range->high)) : "";
}

namespace {

// A library's plan has a step for each hop of a ring or a tree, most of them alike: a row for those of one name, size
// and way.
std::string library_plan_text(Plan const& plan, Machine const& machine) {
  struct Row {
    std::string transfer, bytes, way;
    std::string example;
    std::size_t steps = 0;
  };
  std::vector<Row> rows;
  for (auto const& step : plan.steps) {
    bool const computes = step.work > Seconds(0);
    auto const bytes = computes ? rounded_text(step.work) : exact_text(step.bytes);
    auto const way = way_text(step, machine);
    auto const same = std::find_if(rows.begin(), rows.end(), [&](Row const& row) {
      return row.transfer == step.transfer && row.bytes == bytes && row.way == way;
    });
    if (same != rows.end()) {
      ++same->steps;
      continue;
    }
    auto const example = computes ? machine.name_of(step.from)
                                  : fmt::format("{} > {}", machine.name_of(step.from), machine.name_of(step.to));
    rows.push_back({step.transfer, bytes, way, example, 1});
  }
  Table table({"transfer", "steps", "each", "way", "such as"});
  for (std::size_t i = 0; i < std::min(kMaxStepsShown, rows.size()); ++i)
    table.add({rows[i].transfer, std::to_string(rows[i].steps), rows[i].bytes, rows[i].way, rows[i].example});
  auto text = fmt::format("plan for {} (fingerprint {})\n", plan.machine, plan.fingerprint) + table.text();
  if (rows.size() > kMaxStepsShown) text += fmt::format("and {} more kinds of steps\n", rows.size() - kMaxStepsShown);
  return text;
}

}  // namespace

std::string plan_text(Plan const& plan, Machine const& machine) {
  if (plan.library) return library_plan_text(plan, machine);
  Table table({"transfer", "from", "to", "bytes", "op", "way", "alone", "90 % range", "bound by", "after"});
  auto const chosen_of = candidates_of_steps(plan);
  for (std::size_t i = 0; i < std::min(kMaxStepsShown, plan.steps.size()); ++i) {
    auto const& step = plan.steps[i];
    auto const* chosen = chosen_of[i];
    bool const computes = step.work > Seconds(0);
    auto const alone = computes ? std::optional(step.work) : chosen != nullptr ? chosen->time : std::nullopt;
    table.add({step.transfer, machine.name_of(step.from), computes ? "" : machine.name_of(step.to),
               computes ? "" : exact_text(step.bytes), computes ? "" : std::string(to_string(step.op)),
               way_text(step, machine), alone ? rounded_text(*alone) : "?",
               chosen != nullptr ? range_text(chosen->range) : "", chosen != nullptr ? chosen->binding : "",
               names_before(step, plan.steps)});
  }
  auto text = fmt::format("plan for {} (fingerprint {})\n", plan.machine, plan.fingerprint) + table.text();
  for (auto const& decision : plan.decisions) {
    auto const legal =
        std::count_if(decision.candidates.begin(), decision.candidates.end(), [](auto const& c) { return c.legal(); });
    text += fmt::format("{}: {} ways weighed, {} legal; route {}\n", decision.transfer, decision.candidates.size(),
                        legal, fmt::join(decision.candidates[decision.chosen].route, " > "));
  }
  if (plan.steps.size() > kMaxStepsShown)
    text += fmt::format("and {} more steps\n", plan.steps.size() - kMaxStepsShown);
  return text;
}

namespace {

// The range of a prediction, or the spread of a measurement's repetitions.
std::string spread_text(StepTrace const& step) {
  if (step.range) return range_text(step.range);
  return step.spread ? fmt::format("spread {:.1f} %", *step.spread * 100) : "";
}

// How far the makespan may be off: a prediction by its range, a measurement by the noise of its repetitions.
std::string certainty_text(Trace const& trace) {
  if (trace.range) return fmt::format(" (90 % range {})", range_text(trace.range));
  if (!trace.spread) return "";
  auto const noise = trace.noise ? fmt::format("95 % interval {}", range_text(trace.noise))
                                 : std::string("too few repetitions for an interval");
  return fmt::format(" ({}, spread {})", noise, percent_text(*trace.spread));
}

// Names the transfers whose repetitions differ by more than kNoisySpread.
std::string noisy_steps_text(Trace const& trace) {
  std::string names;
  for (auto const& step : trace.steps)
    if (step.spread.value_or(0) > kNoisySpread) names += (names.empty() ? "" : ", ") + step.transfer;
  return names.empty() ? "" : fmt::format("repetitions differ by more than {:.0f} %: {}\n", kNoisySpread * 100, names);
}

}  // namespace

std::string trace_text(Trace const& trace, Plan const& plan, Machine const& machine) {
  bool const of_collective = plan.collective.has_value();
  std::vector<std::string> header{
      "transfer",  "from",    "to", "way", "start", "end", (trace.mode == "hw" ? "repetitions" : "took, 90 % range"),
      "bandwidth", "verified"};
  if (of_collective) {
    header.front() = "phase";
    header.insert(header.begin() + 4, {"bytes", "at"});
  }
  Table table(header);
  for (std::size_t i = 0; i < std::min(kMaxStepsShown, trace.steps.size()); ++i) {
    auto const& step = trace.steps[i];
    bool const computes = plan.steps[i].work > Seconds(0);
    std::vector<std::string> row{of_collective ? step.phase : step.transfer,
                                 step.from,
                                 step.to,
                                 way_text(plan.steps[i], machine),
                                 rounded_text(step.start),
                                 rounded_text(step.end),
                                 spread_text(step),
                                 computes ? "" : rounded_text(step.rate()),
                                 step.verified ? (*step.verified ? "yes" : "NO") : "-"};
    if (of_collective)
      row.insert(row.begin() + 4, {exact_text(step.bytes), step.offset ? exact_text(*step.offset) : ""});
    table.add(std::move(row));
  }
  auto text = fmt::format("{} on {}: makespan {}{}\n", trace.mode, trace.machine, rounded_text(trace.makespan),
                          certainty_text(trace)) +
              table.text();
  if (trace.steps.size() > kMaxStepsShown)
    text += fmt::format("and {} more steps\n", trace.steps.size() - kMaxStepsShown);
  text += noisy_steps_text(trace);
  if (auto const why = timing_exclusion(trace); !why.empty())
    text += fmt::format("times are not those of the machine described: {}\n", why);
  if (auto const hash = trace.environment.find("flow hash"); hash != trace.environment.end())
    text += hash->second == kMeanOfHashes
                ? "flows are hashed to cables: a folded plan has the mean of all hashes; --unfolded tells them apart\n"
                : fmt::format("flows are hashed to cables: this is hash {} by makespan; the range holds the others\n",
                              hash->second);
  constexpr std::size_t kMaxShown = 8;
  Table busy({"busiest resource", "utilisation"});
  for (std::size_t i = 0; i < std::min(kMaxShown, trace.resources.size()); ++i)
    busy.add({trace.resources[i].name, percent_text(trace.resources[i].utilisation)});
  return busy.empty() ? text : text + "\n" + busy.text();
}

}  // namespace lanewise
