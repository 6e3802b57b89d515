#include "core/design/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/io/work_progress.hpp"
#include "core/machine/device_order.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {
namespace {

constexpr Bytes kPairBytes{std::int64_t{256} << 20};

// A candidate with its jobs planned.
struct Prepared {
  std::unique_ptr<Model> model;
  std::vector<std::unique_ptr<PlannedJob>> jobs;  // nullptr: it cannot be done
};

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
  Comparer(DesignBrief const& brief, DesignContext const& context) : brief_(brief), context_(context) {}

  DesignComparison compare() {
    DesignComparison all{brief_.name, brief_.title, brief_.library ? to_string(*brief_.library) : "best",
                         brief_.jobs, {},           {}};
    prepared_.resize(brief_.candidates.size());
    all.candidates.resize(brief_.candidates.size());
    for (std::size_t i = 0; i < brief_.candidates.size(); ++i)
      prepare(brief_.candidates[i], all.candidates[i], prepared_[i]);
    for_each_in_threads(all.candidates.size(), [&](std::size_t i) { evaluate(all.candidates[i], prepared_[i]); });
    fastest_.assign(brief_.jobs.size(), Seconds(0));
    for (auto const& result : all.candidates) {
      auto fastest = fastest_.begin();
      for (auto const& job : result.jobs) {
        if (job.figures && (*fastest == Seconds(0) || job.figures->time < *fastest)) *fastest = job.figures->time;
        ++fastest;
      }
    }
    for (auto& result : all.candidates) rate(result);
    find_front(all.candidates);
    auto const order = ranking(all.candidates);
    if (brief_.sensitivity) all.sensitivity = sensitivity(order);
    if (brief_.faults == FaultScope::Each)
      for (auto const i : order) find_faults(all.candidates[i], i);
    sort(all, order);
    return all;
  }

 private:
  [[nodiscard]] Machine machine_of(std::string const& name) const {
    std::lock_guard const lock(catalogue_mutex_);
    return context_.catalogue.machine(name);
  }

  // `work(i)` for all i, by as many threads as cores; what is thrown is thrown again.
  void for_each_in_threads(std::size_t count, std::function<void(std::size_t)> const& work) const {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    auto const serve = [&] {
      for (auto i = next++; i < count; i = next++) {
        try {
          work(i);
        } catch (...) {
          next = count;  // the others stop too
          throw;
        }
        report_progress({"evaluating candidates", "candidates", ++done, count});
      }
    };
    auto const threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::future<void>> served;
    try {
      for (std::size_t t = 1; t < threads; ++t) served.push_back(std::async(std::launch::async, serve));
    } catch (std::system_error const&) {
      // No more threads: those there are, and this one, do all.
    }
    serve();
    for (auto& one : served) one.get();
  }

  void prepare(DesignCandidate const& candidate, CandidateResult& result, Prepared& prepared) {
    result.candidate = candidate;
    try {
      auto machine = machine_of(candidate.machine);
      for (auto const& setting : candidate.settings) apply_setting(machine, setting, context_.catalogue);
      result.title = machine.title;
      result.gpus = machine.all(PciKind::Gpu).size();
      result.bill = bill_of(machine, machine.name, context_.prices);
      if (candidate.power)
        result.power = candidate.power;
      else if (result.bill.without_power.empty())
        result.power = result.bill.power;
      prepared.model = std::make_unique<Model>(std::move(machine));
    } catch (InputError const& error) {
      result.failure = error.what();
    }
  }

  void evaluate(CandidateResult& result, Prepared& prepared) const {
    if (!prepared.model) return;
    for (auto const& job : brief_.jobs) result.jobs.push_back(evaluate(job, prepared));
    try {
      find_pairs(result, *prepared.model);
    } catch (PlanError const&) {
      result.worst_pair_rate.reset();  // a figure is unknown
    }
  }

  JobResult evaluate(DesignJob const& job, Prepared& prepared) const {
    JobResult result;
    auto const find = [this](std::string const& name) { return machine_of(name); };
    try {
      auto planned = std::make_unique<PlannedJob>(job.scenario, *prepared.model, brief_.library, find);
      result.figures = planned->figures(*prepared.model);
      if (brief_.library && (job.scenario.collective || job.scenario.workload))
        result.best = PlannedJob(job.scenario, *prepared.model, std::nullopt, find).time(*prepared.model);
      prepared.jobs.push_back(std::move(planned));
    } catch (PlanError const& error) {
      result.failure = error.what();
      prepared.jobs.emplace_back();
    } catch (InputError const& error) {  // the job's names do not fit this candidate
      result.failure = error.what();
      prepared.jobs.emplace_back();
    }
    return result;
  }

  // The slowest copy between two GPUs, and what two halves exchange.
  static void find_pairs(CandidateResult& result, Model const& model) {
    auto const& machine = model.machine();
    std::vector<Place> gpus;
    for (auto const gpu : all_in_number_order(machine, PciKind::Gpu))
      if (!machine.is_off(gpu)) gpus.emplace_back(gpu);
    if (gpus.size() < 2) return;
    MatrixQuery const query{.places = gpus, .bytes = kPairBytes};
    for (auto const& alike : make_matrix_by_class(model, query, nullptr).classes) {
      if (!alike.cell.rate || alike.from == alike.to) continue;
      if (result.worst_pair_rate && *result.worst_pair_rate <= *alike.cell.rate) continue;
      result.worst_pair_rate = alike.cell.rate;
      result.worst_pair = fmt::format("{} > {}", alike.from, alike.to);
    }
    std::vector<Request> requests;
    auto const half = gpus.size() / 2;
    for (std::size_t i = 0; i < half; ++i)
      for (auto const& [from, to] : {std::pair(i, i + half), std::pair(i + half, i)})
        requests.push_back(
            {.id = fmt::format("{}", requests.size()), .from = gpus[from], .to = gpus[to], .bytes = kPairBytes});
    try {
      auto const plan = SetPlanner(model).plan(requests, {.objective = Objective::Each, .effort = Effort::Quick});
      auto const time = estimate(model, plan.steps, plan.folding).makespan;
      result.bisection = Bytes(kPairBytes.value() * static_cast<std::int64_t>(half)) / time;
    } catch (PlanError const&) {
      result.bisection.reset();  // some pair has no way
    }
  }

  void rate(CandidateResult& result) const {
    if (!result.failure.empty()) return;
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

  // Pareto: nobody is at least as good in score, price and power, and better in one. What is unknown does not count.
  static void find_front(std::vector<CandidateResult>& all) {
    auto const beats = [](CandidateResult const& a, CandidateResult const& b) {
      bool better = a.score > b.score;
      if (a.score < b.score) return false;
      if (a.bill.price && b.bill.price && a.bill.price->currency == b.bill.price->currency) {
        if (a.bill.price->amount > b.bill.price->amount) return false;
        better = better || a.bill.price->amount < b.bill.price->amount;
      } else if (b.bill.price) {
        return false;
      }
      if (a.power && b.power) {
        if (*a.power > *b.power) return false;
        better = better || *a.power < *b.power;
      } else if (b.power) {
        return false;
      }
      return better;
    };
    for (auto& result : all)
      result.on_front = result.score > 0 && std::none_of(all.begin(), all.end(), [&](auto const& other) {
                          return &other != &result && other.score > 0 && beats(other, result);
                        });
  }

  static std::vector<std::size_t> ranking(std::vector<CandidateResult> const& all) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].score > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].score > all[b].score; });
    return order;
  }

  [[nodiscard]] Sensitivity sensitivity(std::vector<std::size_t> const& order) const {
    std::size_t calls = 0;
    auto const scores = [&](Assumptions const& assumed) {
      report_progress(
          {"moving figures through their ranges", "evaluations", ++calls, context_.draws + 2 * kParameterCount + 1});
      std::vector<std::vector<Seconds>> times(prepared_.size(), std::vector<Seconds>(brief_.jobs.size(), Seconds(0)));
      for (auto const i : order) {
        auto const model = prepared_[i].model->with_assumptions(assumed);
        for (std::size_t j = 0; j < brief_.jobs.size(); ++j)
          if (prepared_[i].jobs[j]) times[i][j] = prepared_[i].jobs[j]->time(model);
      }
      std::vector<double> found;
      for (auto const& of_candidate : times) found.push_back(score_of(of_candidate, fastest_, brief_.jobs));
      return found;
    };
    return find_sensitivity(scores, order, context_.draws, context_.seed);
  }

  void find_faults(CandidateResult& result, std::size_t i) const {
    FaultQuery const query{brief_.jobs, brief_.library, [this](std::string const& name) { return machine_of(name); }};
    result.faults = evaluate_faults(prepared_[i].model->machine(), context_.catalogue, query);
  }

  // Puts candidates into the order of the ranking, and positions in the sensitivity with them.
  static void sort(DesignComparison& all, std::vector<std::size_t> const& order) {
    auto whole = order;
    for (std::size_t i = 0; i < all.candidates.size(); ++i)
      if (std::find(order.begin(), order.end(), i) == order.end()) whole.push_back(i);
    std::vector<CandidateResult> sorted;
    for (auto const i : whole) sorted.push_back(std::move(all.candidates[i]));
    all.candidates = std::move(sorted);
    if (!all.sensitivity) return;
    auto const place = [&](std::size_t i) {
      return static_cast<std::size_t>(std::find(whole.begin(), whole.end(), i) - whole.begin());
    };
    for (auto& duel : all.sensitivity->duels) duel = {place(duel.first), place(duel.second), duel.share};
  }

  DesignBrief const& brief_;
  DesignContext const& context_;
  std::vector<Prepared> prepared_;  // in the order of the brief
  mutable std::mutex catalogue_mutex_;
  std::vector<Seconds> fastest_;  // of each job; 0: nobody can do it
};

}  // namespace

bool DesignComparison::any_meets_limits() const {
  return std::any_of(candidates.begin(), candidates.end(),
                     [](CandidateResult const& one) { return one.meets_limits(); });
}

DesignComparison compare_candidates(DesignBrief const& brief, DesignContext const& context) {
  return Comparer(brief, context).compare();
}

}  // namespace lanewise
