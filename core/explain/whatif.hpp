#pragma once
// Compares two descriptions of one machine pair by pair: what a change of settings costs, and why.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/explain/matrix.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

enum class WhatIfFigure : std::uint8_t { Bandwidth, BothWays, Latency };
std::string_view to_string(WhatIfFigure figure);  // bandwidth, both ways, latency
// A figure rounded, with its unit; "no way" if `way` is empty, "unknown" if only the value is.
std::string figure_text(WhatIfFigure figure, std::optional<double> value, std::string const& way);

struct WhatIfQuery {
  std::vector<std::string> places;  // names; every ordered pair is compared
  Bytes bytes{0};                   // for bandwidth
  Bytes small{0};                   // for latency
  Op op = Op::Copy;
};

// A changed figure of one pair, or of several pairs that changed alike.
struct WhatIfChange {
  std::string from, to;
  int more = 0;  // further pairs with the same change
  WhatIfFigure figure = WhatIfFigure::Bandwidth;
  std::optional<double> before, after;  // bytes per second or seconds; absent: no legal way, or a figure is unknown
  std::string way_before, way_after;    // mechanisms; empty: no legal way
  std::string because;                  // a rule, or the resource that limits the figure
  // after / before; absent if either is.
  [[nodiscard]] std::optional<double> ratio() const;
};

struct WhatIf {
  std::vector<WhatIfChange> changes;  // worst first
  std::size_t pairs = 0;              // compared
  bool ran_both_ways = false;
};

// The executors run both directions at once; nullptr leaves that figure out.
WhatIf what_if(Model const& before, Model const& after, WhatIfQuery const& question, Executor* before_executor,
               Executor* after_executor);
// Bandwidth among the GPUs of the query that both machines have, each pair alone.
struct WhatIfMatrices {
  Matrix before, after;
};
// Nullopt where these are fewer than two, or more than a matrix is drawn of.
std::optional<WhatIfMatrices> what_if_matrices(Model const& before, Model const& after, WhatIfQuery const& question);
// `lanewise: whatif/1`
nlohmann::ordered_json whatif_json(WhatIf const& whatif, std::optional<WhatIfMatrices> const& matrices,
                                   std::string const& machine, std::vector<std::string> const& settings);

}  // namespace lanewise
