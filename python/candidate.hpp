#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::python {

// A way that was considered, with names in place of ids.
struct CandidateView {
  CandidateView(Candidate const& candidate, Machine const& machine);

  std::string way;
  std::string mechanism;
  std::string op;
  bool legal = false;
  std::optional<std::string> refused_by;
  std::optional<std::string> reason;
  std::vector<std::string> remarks;
  std::vector<std::string> route;
  std::optional<double> time_us;
  std::optional<std::pair<double, double>> range_us;
  std::optional<double> latency_us;
  std::optional<double> bandwidth_GBps;  // NOLINT(readability-identifier-naming): as in our files
  std::optional<std::string> binding;
};

std::vector<CandidateView> views_of(std::vector<Candidate> const& candidates, Machine const& machine);

}  // namespace lanewise::python
