#include "lanewise/verdict/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace lanewise {

namespace {

bool is_alternative(Decision const& decision, std::size_t i) {
  auto const& candidate = decision.candidates[i];
  bool const is_the_plan = i == decision.chosen && decision.others.empty();  // a divided one has its whole beside it
  return !is_the_plan && candidate.legal() && candidate.time;
}

// Names the mover of ways that have the same words otherwise.
std::string candidate_text(Decision const& decision, std::size_t i, Machine const& machine) {
  auto const& candidate = decision.candidates[i];
  auto text = text_of(candidate.way, machine);
  return candidate.op == decision.candidates.front().op ? text : text + " by kernels";
}

// Every how many decisions alternatives run, so that all of them together have at most kMaxAlternativeSteps.
std::size_t decision_stride(Plan const& plan) {
  std::size_t runs = 0;
  for (auto const& decision : plan.decisions)
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) runs += is_alternative(decision, i) ? 1 : 0;
  return 1 + runs * plan.steps.size() / (kMaxAlternativeSteps + 1);
}

// A decision, what else it could have been, and what is known of it so far.
struct Question {
  Regret regret;
  std::vector<Rival> rivals;
};

std::vector<Question> questions_of_decisions(Plan const& plan, Trace const& chosen, Machine const& machine) {
  std::vector<Question> questions;
  auto const stride = decision_stride(plan);
  for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
    auto const& decision = plan.decisions[d];
    auto& [regret, rivals] = questions.emplace_back();
    regret.transfer = decision.transfer;
    regret.best = candidate_text(decision, decision.chosen, machine);
    regret.chosen_makespan = regret.best_makespan = chosen.makespan;
    if (d % stride != 0) {
      regret.sampled = false;
      regret.not_run.push_back(
          fmt::format("a plan of {} steps: alternatives of one in {} transfers are run", plan.steps.size(), stride));
      continue;
    }
    for (std::size_t i = 0; i < decision.candidates.size(); ++i)
      if (is_alternative(decision, i))
        rivals.push_back({candidate_text(decision, i, machine), [&plan, d, i] { return with_way(plan, d, i); }, d});
  }
  return questions;
}

Question question_of(std::string name, Algorithm used, Trace const& chosen) {
  Question question;
  question.regret.transfer = std::move(name);
  question.regret.best = to_string(used);
  question.regret.chosen_makespan = question.regret.best_makespan = chosen.makespan;
  return question;
}

Rival rival_of(Algorithm algorithm, Plan plan) {
  auto const kept = std::make_shared<Plan const>(std::move(plan));
  return {std::string(to_string(algorithm)), [kept] { return *kept; }, std::nullopt};
}

// The fastest way of those that ran, for an exact executor; else the plan's own unless another is proven faster.
void settle_best(Regret& regret, bool is_exact) {
  if (auto const* rival = is_exact ? nullptr : regret.better_rival()) {
    regret.best = rival->way;
    regret.best_makespan = regret.chosen_makespan * std::min(rival->makespan_ratio.value, 1.0);
  }
  if (!is_exact) return;
  for (auto const& rival : regret.rivals) {
    if (rival.makespan >= regret.best_makespan) continue;
    regret.best_makespan = rival.makespan;
    regret.best = rival.way;
  }
}

// Runs the rivals of all questions together, so that they share one budget and one level of confidence.
std::vector<Regret> answer(std::vector<Question> questions, Plan const& plan, Trace const& chosen, Executor& executor,
                           InTurn const& in_turn) {
  std::vector<Rival> rivals;
  std::vector<std::size_t> question_of_rival;
  for (std::size_t q = 0; q < questions.size(); ++q)
    for (auto& rival : questions[q].rivals) {
      rivals.push_back(std::move(rival));
      question_of_rival.push_back(q);
    }
  bool const is_exact = executor.is_exact();
  auto results =
      in_turn && !is_exact ? run_in_turn(rivals, plan, executor, *in_turn) : run_rivals(rivals, plan, chosen, executor);
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto& regret = questions[question_of_rival[i]].regret;
    if (!results[i].not_run.empty()) {
      regret.not_run.push_back(std::move(results[i].not_run));
      continue;
    }
    ++regret.alternatives;
    regret.rivals.push_back(std::move(results[i]));
  }
  std::vector<Regret> regrets;
  for (auto& question : questions) {
    settle_best(question.regret, is_exact);
    regrets.push_back(std::move(question.regret));
  }
  return regrets;
}

}  // namespace

double Regret::share() const { return best_makespan > Seconds(0) ? chosen_makespan / best_makespan - 1 : 0; }

double Regret::least_share() const {
  auto const* rival = better_rival();
  return rival == nullptr ? share() : std::max(0.0, 1 / rival->makespan_ratio.interval.high - 1);
}

Standing Regret::standing() const {
  auto worst = Standing::Better;
  for (auto const& rival : rivals) worst = std::max(worst, rival.standing());
  return worst;
}

RivalResult const* Regret::better_rival() const {
  RivalResult const* found = nullptr;
  for (auto const& rival : rivals)
    if (rival.standing() == Standing::Worse &&
        (found == nullptr || rival.makespan_ratio.value < found->makespan_ratio.value))
      found = &rival;
  return found;
}

std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor,
                                    InTurn const& in_turn) {
  return answer(questions_of_decisions(plan, chosen, machine), plan, chosen, executor, in_turn);
}

std::vector<Regret> measure_regrets(JobSetPlanner& planner, Plan const& plan, Trace const& chosen, Executor& executor,
                                    InTurn const& in_turn) {
  auto questions = questions_of_decisions(plan, chosen, planner.collectives().model().machine());
  auto const& jobs = planner.job_set().jobs;
  for (auto const& named : plan.collectives) {
    auto const used = named.collective.algorithm;
    auto question = question_of(named.id, used, chosen);
    auto const job = std::find_if(jobs.begin(), jobs.end(), [&](Job const& j) { return j.id == named.id; });
    for (auto const& alternative : planner.collectives().all(std::get<Collective>(job->what))) {
      auto const& collective = *alternative.collective;
      if (collective.algorithm == used && collective.pieces == named.collective.pieces) continue;
      auto other = planner.plan_with(named.id, collective);
      if (other.steps == plan.steps) continue;
      question.rivals.push_back(rival_of(collective.algorithm, std::move(other)));
    }
    questions.push_back(std::move(question));
  }
  return answer(std::move(questions), plan, chosen, executor, in_turn);
}

Regret measure_regret(Collective const& asked, Plan const& plan, Trace const& chosen, CollectivePlanner& planner,
                      Executor& executor, InTurn const& in_turn) {
  auto question = question_of(std::string(to_string(asked.op)), plan.collective->algorithm, chosen);
  for (auto const& other : planner.all(asked)) {
    if (other.steps == plan.steps) continue;  // between two a ring is no other plan than direct exchange
    question.rivals.push_back(rival_of(other.collective->algorithm, other));
  }
  return std::move(answer({std::move(question)}, plan, chosen, executor, in_turn).front());
}

}  // namespace lanewise
