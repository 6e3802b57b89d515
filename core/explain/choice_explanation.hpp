#pragma once
// Explains one decision: every way with its verdict, route, time and what bounds it.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/model.hpp"
#include "core/planner/planner.hpp"

namespace lanewise {

// A decision with its question; `chosen` is absent where nothing is legal.
struct ChoiceExplanation {
  Request request;
  std::vector<Candidate> candidates;
  std::optional<std::size_t> chosen;
};

ChoiceExplanation explain_choice(Model const& model, Request const& request);
// `lanewise: why/1`
nlohmann::ordered_json why_json(ChoiceExplanation const& explanation, Machine const& machine);

}  // namespace lanewise
