#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise {

// One decision: every way of a request with its time, its range and what refuses or bounds it.
struct ChoiceExplanation {
  Request request;
  std::string distance;  // as nvidia-smi topo -m has it: "PIX", "SYS, NV4"; "host memory" where neither end is a device
  std::vector<Candidate> candidates;
  std::optional<std::size_t> chosen;  // into candidates; absent: no way is legal
};

// Throws PlanError if no mechanism moves data between these places.
ChoiceExplanation explain_choice(Model const& model, Request const& request);
// The same of a transfer between two places by name; of a cluster with the machine of their nodes alone, which the
// explanation's places are of. Throws InputError for an unknown place.
struct PairExplanation {
  ChoiceExplanation choice;
  Machine machine;
};
PairExplanation explain_pair(Machine machine, std::string const& from, std::string const& to, Bytes bytes, Op op);
// The rules that refuse a way or are remarked on one, each once.
std::vector<Rule const*> rules_named(ChoiceExplanation const& explanation);
// `lanewise: why/1`
nlohmann::ordered_json why_json(ChoiceExplanation const& explanation, Machine const& machine);

}  // namespace lanewise
