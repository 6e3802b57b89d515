#include "core/accuracy/fact_evaluator.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "core/measurement/measured_transfer.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

class FactEvaluator {
 public:
  FactEvaluator(ModelPool::Entry& entry, MeasuredFact const& fact) : entry_(entry), fact_(fact) {
    request_.from = place_at(entry.model.machine(), fact.flow.from, fact.pos);
    request_.to = place_at(entry.model.machine(), fact.flow.to, fact.pos);
    request_.bytes = fact.bytes;
    request_.op = fact.op;
    result_.pos = fact.pos;
  }

  FactResult evaluate() {
    try {
      check();
    } catch (PlanError const& error) {  // such places have no such way at all
      result_.agrees = false;
      result_.found = error.what();
    }
    return std::move(result_);
  }

 private:
  void check() {
    auto const pair = fmt::format("{} > {}: ", fact_.flow.from, fact_.flow.to);
    if (fact_.mechanism) {
      result_.what = fmt::format("{}{} {}", pair, to_string(*fact_.mechanism), fact_.legal ? "works" : "is refused");
      auto const refusal = refusal_of(*fact_.mechanism);
      result_.agrees = refusal.empty() == fact_.legal;
      result_.found = refusal.empty() ? "legal" : "refused by " + refusal;
    } else if (fact_.chosen) {
      result_.what = fmt::format("{}{} is taken", pair, to_string(*fact_.chosen));
      auto const choice = entry_.planner.choose(request_);
      result_.found = choice.chosen ? to_string(choice.evaluated[*choice.chosen].way.mechanism) : "no legal way";
      result_.agrees = result_.found == to_string(*fact_.chosen);
    } else {
      result_.what = fmt::format("{}{} is faster than {}", pair, to_string(*fact_.faster), to_string(*fact_.slower));
      auto const fast = time_of(*fact_.faster);
      auto const slow = time_of(*fact_.slower);
      result_.agrees = fast && slow && *fast < *slow;
      result_.found = fast && slow ? fmt::format("{:.3g} against {:.3g} us", *fast * 1e6, *slow * 1e6)
                                   : "one of them is refused or unknown";
    }
  }

  Choice choice_of(Mechanism mechanism) {
    auto request = request_;
    request.only = mechanism;
    request.by_driver = fact_.by_driver;
    return entry_.planner.choose(request);
  }

  // The rule that refuses every way of a mechanism; empty if one is legal.
  std::string refusal_of(Mechanism mechanism) {
    try {
      auto const choice = choice_of(mechanism);
      return choice.chosen ? "" : std::string(choice.evaluated.front().refused_by->id);
    } catch (PlanError const& error) {
      return error.what();
    }
  }

  std::optional<double> time_of(Mechanism mechanism) {
    auto const choice = choice_of(mechanism);
    if (!choice.chosen || !choice.evaluated[*choice.chosen].cost) return std::nullopt;
    return choice.evaluated[*choice.chosen].cost->time.value();
  }

  ModelPool::Entry& entry_;
  MeasuredFact const& fact_;
  Request request_;
  FactResult result_;
};

}  // namespace

FactResult evaluate_fact(ModelPool::Entry& entry, MeasuredFact const& fact) {
  return FactEvaluator(entry, fact).evaluate();
}

}  // namespace lanewise
