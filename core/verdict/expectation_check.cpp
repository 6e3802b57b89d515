#include "core/verdict/expectation_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/percent.hpp"
#include "core/verdict/transfer_run.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// A figure of a run, and how far the noise of what was measured may move it; a simulation has none.
struct Figure {
  explicit Figure(double exact) : value(exact), low(exact), high(exact) {}
  Figure(double middle, double one_end, double other_end)
      : value(middle), low(std::min(one_end, other_end)), high(std::max(one_end, other_end)) {}
  double value, low, high;
};

// `of(time)` for a time, and for the ends of its noise.
template <class Of>
Figure figure_of(Seconds time, std::optional<TimeRange> const& noise, Of of) {
  if (!noise) return Figure(of(time));
  return {of(time), of(noise->low), of(noise->high)};
}

class ExpectationCheck {
 public:
  ExpectationCheck(Scenario const& scenario, std::vector<VariantRun>& runs, std::vector<ExpectationResult>& results)
      : scenario_(scenario), runs_(runs), results_(results) {}

  void check(Expectation const& expectation) {
    for (auto& run : runs_) {
      if (!expectation.variant.empty() && expectation.variant != run.variant) continue;
      if (!expectation.machine.empty() && expectation.machine != run.machine) continue;
      run_ = &run;
      expectation_ = &expectation;
      // These two need no plan.
      if (expectation.refuses) check_refusal();
      if (expectation.possible) {
        check_possible(*expectation.possible);
        run.failure_expected = run.failure_expected || !*expectation.possible;
      }
      if (!run.ran()) {
        if (run.skipped.empty() && needs_run(expectation)) {
          add("plan", "a plan", false, run.failure);
          results_.back().rules = run.refusing_rules();
        }
        continue;
      }
      if (!expectation.mechanisms.empty()) check_mechanism();
      for (auto const& word : expectation.avoids) check_route(word, false);
      for (auto const& word : expectation.through) check_route(word, true);
      if (expectation.bandwidth)
        check_threshold("bandwidth", *expectation.bandwidth, Dimension::Rate, &ExpectationCheck::bandwidth_of);
      if (expectation.latency)
        check_threshold("latency", *expectation.latency, Dimension::Time, &ExpectationCheck::latency_of);
      if (expectation.makespan)
        check_threshold("makespan", *expectation.makespan, Dimension::Time, &ExpectationCheck::makespan_of);
      if (expectation.regret)
        check_threshold("regret", *expectation.regret, Dimension::Ratio, &ExpectationCheck::regret_of);
    }
  }

 private:
  // What a figure is of; neither is set: the whole run.
  struct Subject {
    std::optional<std::size_t> transfer;
    std::string collective;
  };
  using Measure = Figure (*)(VariantRun const&, Subject const&);

  void add(std::string_view key, std::string what, bool passed, std::string found) {
    auto const& of = expectation_->collective.empty() ? expectation_->transfer : expectation_->collective;
    if (!of.empty()) what = of + ": " + what;
    results_.push_back({run_->machine, run_->variant, std::move(what), passed, std::move(found), expectation_->pos});
    results_.back().key = key;
    if (!passed) results_.back().rules = rules_on_the_way();
  }

  void add_figure(std::string_view key, std::string what, bool passed, std::string found) {
    add(key, std::move(what), passed, std::move(found));
    results_.back().timing_exclusion = run_->timing_exclusion;
  }

  // Rules that changed the chosen way: of the expectation's transfer, else of every transfer.
  [[nodiscard]] std::vector<std::string> rules_on_the_way() const {
    std::vector<std::string> rules;
    for (auto const& decision : run_->plan.decisions) {
      if (!expectation_->transfer.empty() && decision.transfer != expectation_->transfer) continue;
      for (auto const& id : decision.candidates[decision.chosen].remarks)
        if (std::find(rules.begin(), rules.end(), id) == rules.end()) rules.push_back(id);
    }
    return rules;
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

  // The ways of the expectation's transfer; empty if its mechanism never connects such places.
  [[nodiscard]] EvaluatedTransfer const& evaluated() const {
    static EvaluatedTransfer const nothing;
    return transfer() < run_->evaluated.size() ? run_->evaluated[transfer()] : nothing;
  }

  void check_possible(bool wanted) {
    auto const& ways = evaluated();
    std::string found = "no legal way";
    if (ways.chosen)
      found = std::string(to_string(ways.candidates[*ways.chosen].way.mechanism)) + " is legal";
    else if (!ways.candidates.empty())
      found += ": " + ways.candidates.front().refused_by;
    add("possible", wanted ? "possible" : "not possible", ways.chosen.has_value() == wanted, found);
    results_.back().rules = run_->refusing_rules();
  }

  void check_mechanism() {
    auto const& decision = run_->plan.decisions[transfer()];
    auto const chosen = decision.candidates[decision.chosen].way.mechanism;
    std::string wanted;
    for (auto const m : expectation_->mechanisms) wanted += (wanted.empty() ? "" : " or ") + std::string(to_string(m));
    bool const passed = std::find(expectation_->mechanisms.begin(), expectation_->mechanisms.end(), chosen) !=
                        expectation_->mechanisms.end();
    auto found = std::string(to_string(chosen));
    std::vector<std::string> refused_by;
    for (auto const& candidate : decision.candidates)
      if (!passed && candidate.way.mechanism == expectation_->mechanisms.front()) {
        found += candidate.legal() ? fmt::format(" ({} was slower)", wanted)
                                   : fmt::format(" ({} is refused by {})", wanted, candidate.refused_by);
        if (!candidate.legal()) refused_by = {candidate.refused_by};
        break;
      }
    add("mechanism", "mechanism " + wanted, passed, found);
    if (!refused_by.empty()) results_.back().rules = refused_by;
  }

  void check_route(std::string const& word, bool wanted) {
    auto const& words = run_->route_words[transfer()];
    bool const passes = std::find(words.begin(), words.end(), word) != words.end();
    auto const& decision = run_->plan.decisions[transfer()];
    auto const& route = decision.candidates[decision.chosen].route;
    auto const* key = wanted ? "through" : "avoids";
    add(key, fmt::format("{} {}", key, word), passes == wanted, fmt::format("{}", fmt::join(route, " > ")));
  }

  void check_refusal() {
    auto const& [mechanism, rule] = *expectation_->refuses;
    std::string found = "not weighed";
    for (auto const& candidate : evaluated().candidates) {
      if (candidate.way.mechanism != mechanism) continue;
      found = candidate.legal() ? "legal" : candidate.refused_by;
      if (found == rule) break;
    }
    add("refuses", fmt::format("{} refused by {}", to_string(mechanism), rule), found == rule, found);
    results_.back().rules = {rule};
  }

  // From the start of a collective's first step to the end of its last.
  static Seconds duration_of(VariantRun const& run, std::string const& collective) {
    std::optional<Seconds> start;
    Seconds end{0};
    for (auto const& step : run.trace.steps) {
      if (step.transfer != collective) continue;
      start = std::min(start.value_or(step.start), step.start);
      end = std::max(end, step.end);
    }
    return end - start.value_or(end);
  }
  static Figure bandwidth_of(VariantRun const& run, Subject const& subject) {
    for (auto const& named : run.plan.collectives)
      if (named.id == subject.collective)
        return Figure(bus_bandwidth(named.collective, duration_of(run, named.id)).value());
    if (subject.transfer) {
      auto const step = transfer_run(run.plan.decisions[*subject.transfer], run.trace);
      return figure_of(step.duration(), step.noise, [&](Seconds time) { return (step.bytes / time).value(); });
    }
    if (run.plan.collective)
      return figure_of(run.trace.makespan, run.trace.noise,
                       [&](Seconds time) { return bus_bandwidth(*run.plan.collective, time).value(); });
    Bytes all{0};
    for (auto const& step : run.trace.steps) all += step.bytes;
    return figure_of(run.trace.makespan, run.trace.noise, [&](Seconds time) { return (all / time).value(); });
  }
  static Figure latency_of(VariantRun const& run, Subject const& subject) {
    if (!subject.collective.empty()) return Figure(duration_of(run, subject.collective).value());
    if (!subject.transfer) return makespan_of(run, subject);
    auto const step = transfer_run(run.plan.decisions[*subject.transfer], run.trace);
    return figure_of(step.duration(), step.noise, [](Seconds time) { return time.value(); });
  }
  static Figure makespan_of(VariantRun const& run, Subject const&) {
    return figure_of(run.trace.makespan, run.trace.noise, [](Seconds time) { return time.value(); });
  }
  static Figure regret_of(VariantRun const& run, Subject const& subject) {
    auto const of = [](Regret const& regret) { return Figure(regret.share(), regret.least_share(), regret.share()); };
    if (subject.transfer) return of(run.regrets[*subject.transfer]);
    Figure worst(0);
    for (auto const& regret : run.regrets)
      if (auto const figure = of(regret); figure.value > worst.value) worst = figure;
    return worst;
  }

  static std::string shown(double value, Dimension dimension) {
    if (dimension == Dimension::Rate) return rounded_text(BytesPerSecond(value));
    if (dimension == Dimension::Time) return rounded_text(Seconds(value));
    return percent_text(value, 2);
  }

  void check_threshold(std::string_view what, Threshold const& threshold, Dimension dimension, Measure measure) {
    Subject const own{transfer_named(expectation_->transfer), expectation_->collective};
    auto const& named = run_->plan.collectives;
    bool const is_described =
        std::any_of(named.begin(), named.end(), [&](NamedCollective const& one) { return one.id == own.collective; });
    if (what == "bandwidth" && !own.collective.empty() && !is_described)
      return add(what, fmt::format("{} {}", what, threshold.text), false,
                 "not known: a library's plan does not say what its buffers hold");
    auto const value = measure(*run_, own);
    auto const description = fmt::format("{} {}", what, threshold.text);
    if (what == "regret" && own.transfer && !run_->regrets[*own.transfer].sampled)
      return add(what, description, false, run_->regrets[*own.transfer].not_run.front());
    if (threshold.relative_to.empty())
      return add_judged(what, description, threshold, value, shown(value.value, dimension));
    auto const slash = threshold.relative_to.find('/');
    auto const first = threshold.relative_to.substr(0, slash);
    auto const* other = variant_run(first);
    auto other_subject = own;
    if (other == nullptr) other = run_;  // the word names a job of the same run
    if (slash != std::string::npos || variant_run(first) == nullptr) {
      auto const name = slash == std::string::npos ? first : threshold.relative_to.substr(slash + 1);
      other_subject = {transfer_named(name), transfer_named(name) ? "" : name};
    }
    if (!other->skipped.empty()) return;
    if (!other->ran()) return add(what, description, false, fmt::format("'{}' did not run: {}", first, other->failure));
    auto const reference = measure(*other, other_subject);
    add_judged(what, description, threshold,
               {value.value / reference.value, value.low / reference.high, value.high / reference.low},
               fmt::format("{}, which is {:.3g} x {}", shown(value.value, dimension), value.value / reference.value,
                           shown(reference.value, dimension)));
  }

  // A figure fails only if all of its noise does; `found` then says so.
  void add_judged(std::string_view key, std::string const& what, Threshold const& threshold, Figure const& figure,
                  std::string found) {
    bool const passed = threshold.holds_between(figure.low, figure.high);
    if (passed && !threshold.holds(figure.value))
      found += fmt::format(", within its noise ({:.3g} to {:.3g} x that)", figure.low / figure.value,
                           figure.high / figure.value);
    add_figure(key, what, passed, std::move(found));
  }

  [[nodiscard]] VariantRun const* variant_run(std::string const& name) const {
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

}  // namespace

std::vector<ExpectationResult> check_expectations(Scenario const& scenario, std::vector<VariantRun>& runs) {
  std::vector<ExpectationResult> results;
  ExpectationCheck check(scenario, runs, results);
  for (auto const& expectation : scenario.expectations) check.check(expectation);
  return results;
}

}  // namespace lanewise
