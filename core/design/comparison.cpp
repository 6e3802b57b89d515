#include "core/design/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/design/pareto.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kFinal = 10;  // candidates that are evaluated in detail

// " of a, b and 3 more": parts without a figure.
std::string unknown_words(std::vector<std::string> const& parts) {
  constexpr std::size_t kNamed = 2;
  if (parts.empty()) return "";
  auto text = " of " + parts.front();
  if (parts.size() > 1) text += ", " + parts[1];
  if (parts.size() > kNamed) text += fmt::format(" and {} more", parts.size() - kNamed);
  return text;
}

double score_of(std::vector<Seconds> const& times, std::vector<Seconds> const& fastest,
                std::vector<DesignJob> const& jobs) {
  double sum = 0;
  double weights = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!(fastest[j] > Seconds(0))) continue;  // nobody can do it
    if (!(times[j] > Seconds(0))) return 0;
    sum += jobs[j].weight * std::log(fastest[j] / times[j]);
    weights += jobs[j].weight;
  }
  return weights > 0 ? std::exp(sum / weights) : 0;
}

class Comparer {
 public:
  Comparer(DesignBrief const& brief, DesignContext const& context)
      : brief_(brief), context_(context), evaluator_(context.catalogue, context.store, context.workers) {}

  DesignComparison compare() {
    all_.design = brief_.name;
    all_.title = brief_.title;
    all_.library = brief_.library ? to_string(*brief_.library) : "best";
    all_.simulated = static_cast<bool>(context_.make_executor);
    all_.jobs = brief_.jobs;
    for (auto const& candidate : brief_.candidates) prepare(candidate, [&] { return evaluator_.machine(candidate); });
    for (auto const& generator : brief_.generators)
      generate_machines(generator, context_.catalogue, all_.generated, [&](GeneratedMachine made, Machine machine) {
        DesignCandidate const candidate{.name = made.name,
                                        .machine = made.name,
                                        .source = std::move(made.source),
                                        .node_name = std::move(made.node_name),
                                        .node_source = std::move(made.node_source),
                                        .settings = generator.settings,
                                        .power = {}};
        prepare(candidate, [&] {
          for (auto const& setting : generator.settings) apply_setting(machine, setting, context_.catalogue);
          return std::move(machine);
        });
      });
    if (all_.candidates.empty()) refuse_empty();
    evaluate_all();
    find_beaten(all_.candidates);
    report_first_ranking();
    auto const finalists = choose_finalists();
    evaluate_in_detail(finalists);
    rate_all();
    auto const order = ranking(finalists);
    if (brief_.sensitivity) all_.sensitivity = sensitivity(order);
    sort(order);
    return std::move(all_);
  }

 private:
  [[noreturn]] void refuse_empty() const {
    auto text =
        fmt::format("no candidate of '{}' can be built; of {} combinations", brief_.name, all_.generated.combinations);
    for (auto const& [why, count] : all_.generated.excluded) text += fmt::format("\n  {}: {}", count, why);
    refuse_at(brief_.generators.front().pos, text);
  }

  void prepare(DesignCandidate const& candidate, std::function<Machine()> const& machine_with_settings) {
    auto& result = all_.candidates.emplace_back();
    auto& subject = subjects_.emplace_back();
    result.candidate = candidate;
    try {
      auto const machine = machine_with_settings();
      result.title = machine.title;
      result.gpus = machine.all(PciKind::Gpu).size();
      result.bill = bill_of(machine, machine.name, context_.prices);
      if (candidate.power)
        result.power = candidate.power;
      else if (result.bill.without_power.empty())
        result.power = result.bill.power;
      subject = {.candidate = std::make_shared<DesignCandidate const>(candidate),
                 .fingerprint = evaluation_fingerprint(machine)};
    } catch (InputError const& error) {
      result.failure = error.what();
    }
  }

  // The first look: every candidate, as fast as it goes.
  void evaluate_all() {
    bool const is_second_look_as_fast = all_.candidates.size() <= kFinal && !context_.make_executor;
    if (is_second_look_as_fast && brief_.generators.empty()) return;
    Approach const approach{.library = brief_.library};
    std::vector<std::vector<std::string>> keys(all_.candidates.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (all_.candidates[i].failure.empty())
        for (auto const& job : brief_.jobs) keys[i].push_back(evaluator_.add(subjects_[i], job, approach, {}, "first"));
    evaluator_.run("evaluating candidates");
    for (std::size_t i = 0; i < keys.size(); ++i)
      for (auto const& key : keys[i]) all_.candidates[i].jobs.push_back({evaluator_.evaluation(key)});
    rate_all();
  }

  void report_first_ranking() const {
    if (!context_.first_ranking) return;
    auto first = all_;
    auto& candidates = first.candidates;
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [](CandidateResult const& one) { return !one.beaten_by.empty(); }),
                     candidates.end());
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](auto const& a, auto const& b) { return a.score > b.score; });
    context_.first_ranking(first);
  }

  // Those that meet the limits first, then by score.
  [[nodiscard]] std::vector<std::size_t> choose_finalists() const {
    auto const& all = all_.candidates;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].failure.empty() && all[i].beaten_by.empty()) chosen.push_back(i);
    std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(all[a].meets_limits(), all[a].score) > std::pair(all[b].meets_limits(), all[b].score);
    });
    if (chosen.size() > kFinal) chosen.resize(kFinal);
    return chosen;
  }

  void evaluate_in_detail(std::vector<std::size_t> const& finalists) {
    Approach const approach{.library = brief_.library,
                            .effort = context_.make_executor ? Effort::Full : Effort::Quick,
                            .make_executor = context_.make_executor};
    if (brief_.sensitivity) samples_ = sensitivity_samples(context_.draws, context_.seed);
    EvaluationDetail const detail{.range = true, .best = true, .samples = samples_};
    auto const detail_name =
        brief_.sensitivity ? fmt::format("detail with {} draws of seed {}", context_.draws, context_.seed) : "detail";
    std::vector<std::vector<std::string>> keys;
    std::vector<std::string> pairs;
    std::vector<std::optional<FaultStudy>> studies(finalists.size());
    for (auto const i : finalists) {
      auto& of_candidate = keys.emplace_back();
      for (auto const& job : brief_.jobs)
        of_candidate.push_back(evaluator_.add(subjects_[i], job, approach, detail, detail_name));
      pairs.push_back(evaluator_.add_pairs(subjects_[i]));
    }
    evaluator_.run(context_.make_executor ? "simulating the best candidates" : "evaluating candidates");
    for (std::size_t k = 0; brief_.faults != FaultScope::None && k < finalists.size(); ++k) {
      auto& result = all_.candidates[finalists[k]];
      try {
        studies[k].emplace(evaluator_.machine(result.candidate), subjects_[finalists[k]], brief_.jobs, brief_.library,
                           brief_.faults, evaluator_);
      } catch (InputError const& error) {  // too many failures
        result.faults.emplace().why_none = error.what();
      }
    }
    evaluator_.run("evaluating failures");
    for (std::size_t k = 0; k < finalists.size(); ++k) {
      auto& result = all_.candidates[finalists[k]];
      result.is_final = true;
      result.jobs.clear();
      for (auto const& key : keys[k]) result.jobs.push_back({evaluator_.evaluation(key)});
      result.pairs = evaluator_.pairs(pairs[k]);
      if (studies[k]) result.faults = studies[k]->report();
    }
  }

  // Scores, limits and the front, of whatever is known.
  void rate_all() {
    fastest_.assign(brief_.jobs.size(), Seconds(0));
    for (auto const& result : all_.candidates) {
      auto fastest = fastest_.begin();
      for (auto const& job : result.jobs) {
        if (job.figures && (*fastest == Seconds(0) || job.figures->time < *fastest)) *fastest = job.figures->time;
        ++fastest;
      }
    }
    for (auto& result : all_.candidates) {
      result.broken_limits.clear();
      rate(result);
    }
    find_front(all_.candidates);
  }

  void rate(CandidateResult& result) const {
    if (!result.failure.empty() || result.jobs.empty()) return;
    std::vector<Seconds> times;
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      auto& job = result.jobs[j];
      times.push_back(job.figures ? job.figures->time : Seconds(0));
      if (job.figures)
        job.ratio = times.back() / fastest_[j];
      else
        result.broken_limits.push_back(brief_.jobs[j].name + " is impossible");
    }
    result.score = score_of(times, fastest_, brief_.jobs);
    check_limits(result, times);
  }

  void check_limits(CandidateResult& result, std::vector<Seconds> const& times) const {
    auto const& limits = brief_.limits;
    auto& broken = result.broken_limits;
    if (limits.price) {
      if (!result.bill.price)
        broken.push_back(fmt::format("price unknown{}", unknown_words(result.bill.without_price)));
      else if (result.bill.price->currency != limits.price->currency)
        broken.push_back(
            fmt::format("its price is in {}, the limit in {}", result.bill.price->currency, limits.price->currency));
      else if (result.bill.price->amount > limits.price->amount)
        broken.push_back(fmt::format("price {} above {}", to_string(*result.bill.price), to_string(*limits.price)));
    }
    if (limits.power) {
      if (!result.power && result.bill.power <= *limits.power)
        broken.push_back(
            fmt::format("power unknown{}: give it in the brief", unknown_words(result.bill.without_power)));
      else if (!result.power)
        broken.push_back(
            fmt::format("power of some parts {} above {}", exact_text(result.bill.power), exact_text(*limits.power)));
      else if (*result.power > *limits.power)
        broken.push_back(fmt::format("power {} above {}", exact_text(*result.power), exact_text(*limits.power)));
    }
    for (auto const& limit : limits.jobs)
      for (std::size_t j = 0; j < brief_.jobs.size(); ++j)
        if (brief_.jobs[j].name == limit.job && times[j] > limit.at_most)
          broken.push_back(
              fmt::format("{} takes {}, above {}", limit.job, rounded_text(times[j]), rounded_text(limit.at_most)));
  }

  // Those that were evaluated in detail and can do every job, the best first.
  [[nodiscard]] std::vector<std::size_t> ranking(std::vector<std::size_t> const& finalists) const {
    auto const& all = all_.candidates;
    std::vector<std::size_t> order;
    for (auto const i : finalists)
      if (all[i].score > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].score > all[b].score; });
    return order;
  }

  [[nodiscard]] Sensitivity sensitivity(std::vector<std::size_t> const& order) const {
    std::vector<std::vector<double>> scores;  // in the order of the ranking
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      auto& of_sample = scores.emplace_back();
      for (auto const i : order) {
        std::vector<Seconds> times;
        for (auto const& job : all_.candidates[i].jobs)
          times.push_back(job.figures ? job.figures->time * job.samples[s] : Seconds(0));
        of_sample.push_back(score_of(times, fastest_, brief_.jobs));
      }
    }
    std::vector<std::size_t> ranking(order.size());
    std::iota(ranking.begin(), ranking.end(), std::size_t{0});
    return find_sensitivity(scores, ranking, context_.seed);
  }

  // Puts candidates into the order of the ranking; then those that were estimated alone, by score, and last those that
  // failed. So their first positions are those of the sensitivity.
  void sort(std::vector<std::size_t> const& order) {
    auto whole = order;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < all_.candidates.size(); ++i)
      if (std::find(order.begin(), order.end(), i) == order.end()) others.push_back(i);
    std::stable_sort(others.begin(), others.end(),
                     [&](auto a, auto b) { return all_.candidates[a].score > all_.candidates[b].score; });
    whole.insert(whole.end(), others.begin(), others.end());
    std::vector<CandidateResult> sorted;
    for (auto const i : whole) sorted.push_back(std::move(all_.candidates[i]));
    all_.candidates = std::move(sorted);
  }

  DesignBrief const& brief_;
  DesignContext const& context_;
  Evaluator evaluator_;
  DesignComparison all_;
  std::vector<Subject> subjects_;  // of candidates, in the order of the brief
  std::vector<Assumptions> samples_;
  std::vector<Seconds> fastest_;  // of each job; 0: nobody can do it
};

}  // namespace

bool DesignComparison::any_meets_limits() const {
  return std::any_of(candidates.begin(), candidates.end(),
                     [](CandidateResult const& one) { return one.beaten_by.empty() && one.meets_limits(); });
}

DesignComparison compare_candidates(DesignBrief const& brief, DesignContext const& context) {
  return Comparer(brief, context).compare();
}

}  // namespace lanewise
