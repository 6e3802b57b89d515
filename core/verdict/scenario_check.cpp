#include "core/verdict/scenario_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/io/error.hpp"
#include "core/units/text.hpp"
#include "core/verdict/soft_nic.hpp"
#include "core/verdict/transfer_run.hpp"

namespace lanewise {
namespace {

void add_hop_words(Model const& model, Hop const& hop, std::vector<std::string>& words) {
  auto const& machine = model.machine();
  words.push_back(model.name_of(hop));
  switch (hop.kind) {
    case HopKind::Function: words.emplace_back(to_string(machine.functions[hop.id].kind)); break;
    case HopKind::RootComplex: words.emplace_back("root_complex"); break;
    case HopKind::SocketLink: words.emplace_back("socket_link"); break;
    case HopKind::Memory:
      words.emplace_back("host_memory");
      words.push_back(machine.numa_nodes[hop.id].name);
      break;
    case HopKind::ChipFabric: words.emplace_back("chip_fabric"); break;
    case HopKind::Nvlink: words.emplace_back("nvlink"); break;
    case HopKind::NvSwitch:
      words.emplace_back("nvswitch");
      words.emplace_back("nvlink");
      break;
    case HopKind::Leaf:
    case HopKind::Spine: words.emplace_back("network"); break;
  }
}

std::vector<std::string> const& hop_kind_words() {
  static std::vector<std::string> const words{"root_complex", "root_port",   "switch",      "gpu",         "nic",
                                              "nvme",         "socket_link", "host_memory", "chip_fabric", "nvlink",
                                              "nvswitch",     "network",     "spine"};
  return words;
}

std::string names_of(std::vector<Setting> const& some, std::vector<Setting> const& more) {
  std::string names;
  for (auto const* settings : {&some, &more})
    for (auto const& setting : *settings)
      names += fmt::format("{}{}={}", names.empty() ? "" : ", ", setting.key, setting.value);
  return names;
}

std::pair<Trace, std::vector<Regret>> ran(Scenario const& scenario, Variant const& variant, Model const& model,
                                          Plan const& plan, CheckWorld const& world, Aim aim) {
  if (world.recorded)
    if (auto run = world.recorded(scenario.name, variant.name, plan))
      return {std::move(run->trace), std::move(run->regrets)};
  auto const executor = world.executor(model);
  auto trace = executor->run(plan);
  std::vector<Regret> regrets;
  if (auto const collective = collective_of(scenario, model.machine()))
    regrets = {measure_regret(*collective, plan, trace, model, *executor)};
  else if (is_job_set(scenario))
    regrets = measure_regrets(workload_of(scenario, model.machine()), plan, trace, model, aim, *executor);
  else
    regrets = measure_regrets(plan, trace, model.machine(), *executor);
  return {std::move(trace), std::move(regrets)};
}

VariantRun run_variant(Scenario const& scenario, Variant const& variant, std::string const& machine_name,
                       CheckWorld const& world) {
  VariantRun run;
  run.machine = machine_name;
  run.variant = variant.name;
  auto machine = world.machine(machine_name);
  for (auto const& setting : scenario.settings) apply_setting(machine, setting, world.catalogue);
  for (auto const& setting : variant.settings) apply_setting(machine, setting, world.catalogue);
  Model const model(std::move(machine));
  Planner const planner(model);
  auto const requests = requests_of(scenario, model.machine());
  Aim const aim{world.objective.value_or(scenario.objective), world.effort};
  try {
    for (auto const& request : requests) {
      auto const choice = planner.choose(request);
      auto& weighed = run.weighed.emplace_back(Weighed{{}, choice.chosen});
      for (auto const& judged : choice.evaluated) weighed.candidates.push_back(planner.describe(request, judged));
    }
    run.plan = plan_of(scenario, model, aim);
    if (world.real && !(scenario.settings.empty() && variant.settings.empty())) {
      run.skipped = "settings do not change hardware: " + names_of(scenario.settings, variant.settings);
      return run;
    }
    run.bound = lower_bound(run.plan, model);
    if (world.real) run.untimed = why_untimed(run.plan, model.machine());
    try {
      std::tie(run.trace, run.regrets) = ran(scenario, variant, model, run.plan, world, aim);
    } catch (PlanError const& error) {
      if (!world.real) throw;
      run.skipped = error.what();  // hardware does not do every step that a plan may have
      return run;
    }
  } catch (PlanError const& error) {
    run.failure = error.what();
    return run;
  }
  for (auto const& step : run.trace.steps)
    if (step.verified && !*step.verified)
      run.failure = fmt::format("transfer '{}' arrived wrong: {}", step.transfer, step.mismatch);
  for (auto const& decision : run.plan.decisions) {
    auto& words = run.route_words.emplace_back();
    auto const add = [&](StepId id) {
      for (auto const& hop : demand_of(model, run.plan.steps[index(id)]).route) add_hop_words(model, hop, words);
    };
    add(decision.step);
    for (auto const& piece : decision.others) add(piece.step);
  }
  return run;
}

// Holds the runs of one machine to the scenario's expectations.
class Judge {
 public:
  Judge(Scenario const& scenario, std::vector<VariantRun>& runs, std::vector<ExpectationResult>& results)
      : scenario_(scenario), runs_(runs), results_(results) {}

  void judge(Expectation const& expectation) {
    for (auto& run : runs_) {
      if (!expectation.variant.empty() && expectation.variant != run.variant) continue;
      if (!expectation.machine.empty() && expectation.machine != run.machine) continue;
      run_ = &run;
      expectation_ = &expectation;
      // What is refused and what is possible needs no plan.
      if (expectation.refuses) judge_refusal();
      if (expectation.possible) {
        judge_possible(*expectation.possible);
        run.failure_expected = run.failure_expected || !*expectation.possible;
      }
      if (!run.ran()) {
        if (run.skipped.empty() && needs_run(expectation)) add("a plan", false, run.failure);
        continue;
      }
      if (!expectation.mechanisms.empty()) judge_mechanism();
      for (auto const& word : expectation.avoids) judge_route(word, false);
      for (auto const& word : expectation.through) judge_route(word, true);
      if (expectation.bandwidth)
        judge_threshold("bandwidth", *expectation.bandwidth, Figure::Rate, &Judge::bandwidth_of);
      if (expectation.latency) judge_threshold("latency", *expectation.latency, Figure::Time, &Judge::latency_of);
      if (expectation.makespan) judge_threshold("makespan", *expectation.makespan, Figure::Time, &Judge::makespan_of);
      if (expectation.regret) judge_threshold("regret", *expectation.regret, Figure::Share, &Judge::regret_of);
    }
  }

 private:
  using FigureOf = double (*)(VariantRun const&, std::optional<std::size_t> transfer);

  void add(std::string what, bool passed, std::string found) {
    if (!expectation_->transfer.empty()) what = expectation_->transfer + ": " + what;
    results_.push_back({run_->machine, run_->variant, std::move(what), passed, std::move(found), expectation_->pos});
  }

  void add_figure(std::string what, bool passed, std::string found) {
    add(std::move(what), passed, std::move(found));
    results_.back().untimed = run_->untimed;
  }

  [[nodiscard]] std::optional<std::size_t> transfer_named(std::string const& id) const {
    for (std::size_t i = 0; i < scenario_.transfers.size(); ++i)
      if (scenario_.transfers[i].id == id) return i;
    return std::nullopt;
  }
  [[nodiscard]] std::size_t transfer() const { return transfer_named(expectation_->transfer).value_or(0); }

  static bool needs_run(Expectation const& e) {
    return !e.mechanisms.empty() || !e.avoids.empty() || !e.through.empty() || e.bandwidth || e.latency || e.makespan ||
           e.regret;
  }

  // The ways of the expectation's transfer; empty where its mechanism moves no data between such places at all.
  [[nodiscard]] Weighed const& weighed() const {
    static Weighed const nothing;
    return transfer() < run_->weighed.size() ? run_->weighed[transfer()] : nothing;
  }

  void judge_possible(bool wanted) {
    auto const& ways = weighed();
    std::string found = "no legal way";
    if (ways.chosen)
      found = std::string(to_string(ways.candidates[*ways.chosen].way.mechanism)) + " is legal";
    else if (!ways.candidates.empty())
      found += ": " + ways.candidates.front().refused_by;
    add(wanted ? "possible" : "not possible", ways.chosen.has_value() == wanted, found);
  }

  void judge_mechanism() {
    auto const& decision = run_->plan.decisions[transfer()];
    auto const chosen = decision.candidates[decision.chosen].way.mechanism;
    std::string wanted;
    for (auto const m : expectation_->mechanisms) wanted += (wanted.empty() ? "" : " or ") + std::string(to_string(m));
    bool const passed = std::find(expectation_->mechanisms.begin(), expectation_->mechanisms.end(), chosen) !=
                        expectation_->mechanisms.end();
    auto found = std::string(to_string(chosen));
    for (auto const& candidate : decision.candidates)
      if (!passed && candidate.way.mechanism == expectation_->mechanisms.front()) {
        found += candidate.legal() ? fmt::format(" ({} was slower)", wanted)
                                   : fmt::format(" ({} is refused by {})", wanted, candidate.refused_by);
        break;
      }
    add("mechanism " + wanted, passed, found);
  }

  void judge_route(std::string const& word, bool wanted) {
    auto const& words = run_->route_words[transfer()];
    bool const passes = std::find(words.begin(), words.end(), word) != words.end();
    auto const& decision = run_->plan.decisions[transfer()];
    auto const& route = decision.candidates[decision.chosen].route;
    add(fmt::format("{} {}", wanted ? "through" : "avoids", word), passes == wanted,
        fmt::format("{}", fmt::join(route, " > ")));
  }

  void judge_refusal() {
    auto const& [mechanism, rule] = *expectation_->refuses;
    std::string found = "not weighed";
    for (auto const& candidate : weighed().candidates) {
      if (candidate.way.mechanism != mechanism) continue;
      found = candidate.legal() ? "legal" : candidate.refused_by;
      if (found == rule) break;
    }
    add(fmt::format("{} refused by {}", to_string(mechanism), rule), found == rule, found);
  }

  static double bandwidth_of(VariantRun const& run, std::optional<std::size_t> transfer) {
    if (transfer) return run_of(run.plan.decisions[*transfer], run.trace).rate().value();
    if (run.plan.collective) return bus_bandwidth(*run.plan.collective, run.trace.makespan).value();
    Bytes all{0};
    for (auto const& step : run.trace.steps) all += step.bytes;
    return (all / run.trace.makespan).value();
  }
  static double latency_of(VariantRun const& run, std::optional<std::size_t> transfer) {
    return transfer ? run_of(run.plan.decisions[*transfer], run.trace).duration().value() : run.trace.makespan.value();
  }
  static double makespan_of(VariantRun const& run, std::optional<std::size_t>) { return run.trace.makespan.value(); }
  static double regret_of(VariantRun const& run, std::optional<std::size_t> transfer) {
    if (transfer) return run.regrets[*transfer].share();
    double worst = 0;
    for (auto const& regret : run.regrets) worst = std::max(worst, regret.share());
    return worst;
  }

  static std::string shown(double value, Figure figure) {
    if (figure == Figure::Rate) return rounded_text(BytesPerSecond(value));
    if (figure == Figure::Time) return rounded_text(Seconds(value));
    return fmt::format("{:.2f} %", value * 100);
  }

  void judge_threshold(std::string_view what, Threshold const& bound, Figure figure, FigureOf figure_of) {
    auto const own = transfer_named(expectation_->transfer);
    auto const value = figure_of(*run_, own);
    auto const description = fmt::format("{} {}", what, bound.text);
    if (bound.relative_to.empty()) return add_figure(description, bound.holds(value), shown(value, figure));
    auto const slash = bound.relative_to.find('/');
    auto const first = bound.relative_to.substr(0, slash);
    auto const* other = run_of_variant(first);
    auto other_transfer = own;
    if (other == nullptr) other = run_;  // the word names a transfer of the same run
    if (slash != std::string::npos || run_of_variant(first) == nullptr)
      other_transfer = transfer_named(slash == std::string::npos ? first : bound.relative_to.substr(slash + 1));
    if (!other->skipped.empty()) return;
    if (!other->ran()) return add(description, false, fmt::format("'{}' did not run: {}", first, other->failure));
    auto const reference = figure_of(*other, other_transfer);
    add_figure(
        description, bound.holds(value, reference),
        fmt::format("{}, which is {:.3g} x {}", shown(value, figure), value / reference, shown(reference, figure)));
  }

  [[nodiscard]] VariantRun const* run_of_variant(std::string const& name) const {
    for (auto const& run : runs_)
      if (run.variant == name && !name.empty() && run.machine == run_->machine) return &run;
    return nullptr;
  }

  Scenario const& scenario_;
  std::vector<VariantRun>& runs_;
  std::vector<ExpectationResult>& results_;
  VariantRun const* run_ = nullptr;
  Expectation const* expectation_ = nullptr;
};

// A hop word that is neither a kind nor a name on the machine would pass every `avoids` unseen.
void check_hop_words(Scenario const& scenario, Machine const& machine) {
  auto known = hop_kind_words();
  for (auto const& function : machine.functions) known.push_back(function.name);
  for (auto const& socket : machine.sockets) known.push_back(socket.name);
  for (auto const& numa : machine.numa_nodes) known.push_back(numa.name);
  for (auto const& domain : machine.nvswitches) known.push_back(domain.name);
  if (machine.fabric)
    for (auto const& leaf : machine.fabric->leaves) known.push_back(leaf.name);
  for (auto const& expectation : scenario.expectations)
    for (auto const* list : {&expectation.avoids, &expectation.through})
      for (auto const& word : *list)
        if (std::find(known.begin(), known.end(), word) == known.end())
          throw InputError(
              std::vector<Diagnostic>{{expectation.pos,
                                       fmt::format("'{}' is neither a kind of hop nor a name on '{}'; kinds: {}", word,
                                                   machine.name, fmt::join(hop_kind_words(), ", ")),
                                       {}}});
}

}  // namespace

bool ScenarioVerdict::passed() const {
  bool const ran = std::all_of(runs.begin(), runs.end(),
                               [](VariantRun const& run) { return run.failure.empty() || run.failure_expected; });
  return ran &&
         std::none_of(results.begin(), results.end(), [](ExpectationResult const& result) { return result.failed(); });
}

ScenarioVerdict check_scenario(Scenario const& scenario, CheckWorld const& world) {
  if (scenario.machines.empty())
    throw InputError(std::vector<Diagnostic>{
        {scenario.pos,
         fmt::format("scenario '{}' names no machine; add 'machines: [NAME]' or use --on", scenario.name),
         {}}});
  ScenarioVerdict verdict{scenario.name, scenario.title, world.mode, {}, {}};
  for (auto const& machine : scenario.machines) {
    check_hop_words(scenario, world.machine(machine));
    for (auto const& variant : scenario.variants)
      verdict.runs.push_back(run_variant(scenario, variant, machine, world));
  }
  Judge judge(scenario, verdict.runs, verdict.results);
  for (auto const& expectation : scenario.expectations) judge.judge(expectation);
  return verdict;
}

}  // namespace lanewise
