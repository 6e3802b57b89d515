#include "core/explain/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Smaller relative differences count as no change.
constexpr double kNoDifference = 0.005;

// One of the two machines compared.
class Side {
 public:
  Side(Model const& model, Executor* executor) : model_(model), planner_(model), executor_(executor) {}

  struct Figure {
    std::optional<double> value;
    std::string way;
    std::string binding;
    std::vector<Candidate> candidates;
    std::optional<std::size_t> chosen;
  };

  [[nodiscard]] bool has(std::string const& place) const { return model_.machine().find_place(place).has_value(); }

  Figure ask(std::string const& from, std::string const& to, Bytes bytes, Op op, WhatIfFigure figure) {
    Figure result;
    auto const request = request_of(from, to, bytes, op);
    if (possible_ways(model_.machine(), request).empty()) return result;
    auto const choice = planner_.choose(request);
    for (auto const& way : choice.evaluated) result.candidates.push_back(planner_.describe(request, way));
    result.chosen = choice.chosen;
    if (!choice.chosen) return result;
    auto const& best = result.candidates[*choice.chosen];
    result.way = to_string(best.way.mechanism);
    result.binding = best.binding;
    if (!best.time) return result;
    if (figure == WhatIfFigure::BothWays)
      both_ways(request, request_of(to, from, bytes, op), result);
    else
      result.value = figure == WhatIfFigure::Latency ? latency(request, choice.evaluated[*choice.chosen])
                                                     : (bytes / *best.time).value();
    return result;
  }

 private:
  [[nodiscard]] Request request_of(std::string const& from, std::string const& to, Bytes bytes, Op op) const {
    auto const& machine = model_.machine();
    return {.id = from + " > " + to, .from = machine.place(from), .to = machine.place(to), .bytes = bytes, .op = op};
  }

  [[nodiscard]] double latency(Request const& request, EvaluatedWay const& way) const {
    auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, way.way);
    return model_.observed_latency(demand, *way.cost, request.op, way.way).value();
  }

  void both_ways(Request const& there, Request const& back, Figure& result) {
    try {
      auto const trace = executor_->run(planner_.plan({there, back}));
      result.value = (there.bytes * 2 / trace.makespan).value();
      if (!trace.resources.empty()) result.binding = trace.resources.front().name;
    } catch (PlanError const&) {  // one direction has no way, or a figure is unknown
    }
  }

  Model const& model_;
  Planner planner_;
  Executor* executor_;
};

// The rule that refuses every candidate of a mechanism; empty if one is legal or there is none.
std::string refusal_of(std::vector<Candidate> const& candidates, std::string const& mechanism) {
  std::string rule;
  for (auto const& candidate : candidates) {
    if (to_string(candidate.way.mechanism) != mechanism) continue;
    if (candidate.legal()) return "";
    if (rule.empty()) rule = candidate.refused_by;
  }
  return rule;
}

// Explains a change: by a rule that now refuses the old way or no longer refuses the new one, by a remark on the way
// that is new or gone, or by the bottleneck.
std::string reason(Side::Figure const& before, Side::Figure const& after, WhatIfFigure figure) {
  if (before.way != after.way) {
    auto const refused_now = refusal_of(after.candidates, before.way);
    if (!refused_now.empty()) return fmt::format("{} refuses {}", refused_now, before.way);
    auto const refused_before = refusal_of(before.candidates, after.way);
    if (!refused_before.empty()) return fmt::format("{} no longer refuses {}", refused_before, after.way);
    if (after.way.empty() && !after.candidates.empty()) return after.candidates.front().refused_by;
    if (after.way.empty() || before.way.empty()) return "no such way";
  }
  if (before.chosen && after.chosen) {
    auto const& old_remarks = before.candidates[*before.chosen].remarks;
    auto const& new_remarks = after.candidates[*after.chosen].remarks;
    for (auto const& id : new_remarks)
      if (std::find(old_remarks.begin(), old_remarks.end(), id) == old_remarks.end()) return id;
    for (auto const& id : old_remarks)
      if (std::find(new_remarks.begin(), new_remarks.end(), id) == new_remarks.end())
        return fmt::format("no more {}", id);
    if (!after.value) return after.candidates[*after.chosen].reason;
    auto const& old_latency = before.candidates[*before.chosen].latency;
    auto const& new_latency = after.candidates[*after.chosen].latency;
    if (figure == WhatIfFigure::Latency && old_latency && new_latency)
      return fmt::format("the way takes {} before data flows (was {})", rounded_text(*new_latency),
                         rounded_text(*old_latency));
  }
  if (after.binding == before.binding) return fmt::format("bound by {}", after.binding);
  return fmt::format("bound by {} (was {})", after.binding, before.binding);
}

bool same(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a / *b - 1) < kNoDifference;
}

// How much worse the figure is, as a factor above 1. Infinite if the way is gone, 0 if it is new.
double harm(WhatIfChange const& change) {
  auto const ratio = change.ratio();
  if (!ratio)
    return change.way_after.empty() ? std::numeric_limits<double>::infinity() : change.way_before.empty() ? 0 : 1;
  return change.figure == WhatIfFigure::Latency ? *ratio : 1 / *ratio;
}

// Merges equal changes of several pairs into one entry.
void merge_alike(std::vector<WhatIfChange>& changes) {
  std::map<std::string, std::size_t> first;
  std::vector<WhatIfChange> merged;
  for (auto& change : changes) {
    // Resources are named after their devices, so compare only the first word.
    auto const kind = change.because.substr(0, change.because.find(' '));
    auto const key = fmt::format("{} {} {} {} {} {}", static_cast<int>(change.figure), change.way_before,
                                 change.way_after, figure_text(change.figure, change.before, change.way_before),
                                 figure_text(change.figure, change.after, change.way_after), kind);
    auto const [found, fresh] = first.try_emplace(key, merged.size());
    if (fresh)
      merged.push_back(std::move(change));
    else
      ++merged[found->second].more;
  }
  changes = std::move(merged);
}

bool is_gpu(Machine const& machine, std::string const& place) {
  auto const id = machine.find_function(place);
  return id && machine.at(*id).kind == PciKind::Gpu;
}

Matrix matrix_of(Model const& model, std::vector<std::string> const& gpus, WhatIfQuery const& question) {
  MatrixQuery query{.places = {}, .bytes = question.bytes, .op = question.op};
  for (auto const& name : gpus) query.places.push_back(model.machine().place(name));
  return make_matrix(model, query, nullptr);
}

}  // namespace

std::string_view to_string(WhatIfFigure figure) {
  constexpr std::array<std::string_view, 3> kNames{"bandwidth", "both ways", "latency"};
  return kNames.at(static_cast<std::size_t>(figure));
}

std::string figure_text(WhatIfFigure figure, std::optional<double> value, std::string const& way) {
  if (!value) return way.empty() ? "no way" : "unknown";
  return figure == WhatIfFigure::Latency ? rounded_text(Seconds(*value)) : rounded_text(BytesPerSecond(*value));
}

std::optional<double> WhatIfChange::ratio() const {
  if (!before || !after) return std::nullopt;
  return *after / *before;
}

WhatIf what_if(Model const& before, Model const& after, WhatIfQuery const& question, Executor* before_executor,
               Executor* after_executor) {
  WhatIf result;
  result.ran_both_ways = before_executor != nullptr && after_executor != nullptr;
  Side old_side(before, before_executor);
  Side new_side(after, after_executor);
  auto const compare = [&](std::string const& from, std::string const& to, WhatIfFigure figure) {
    auto const bytes = figure == WhatIfFigure::Latency ? question.small : question.bytes;
    auto const was = old_side.ask(from, to, bytes, question.op, figure);
    auto const is = new_side.ask(from, to, bytes, question.op, figure);
    if (same(was.value, is.value) && was.way == is.way) return;
    if (was.way.empty() && is.way.empty()) return;
    result.changes.push_back({from, to, 0, figure, was.value, is.value, was.way, is.way, reason(was, is, figure)});
  };
  for (std::size_t i = 0; i < question.places.size(); ++i) {
    for (std::size_t k = 0; k < question.places.size(); ++k) {
      if (i == k) continue;
      auto const& from = question.places[i];
      auto const& to = question.places[k];
      if (!old_side.has(from) || !old_side.has(to) || !new_side.has(from) || !new_side.has(to)) continue;
      ++result.pairs;
      compare(from, to, WhatIfFigure::Bandwidth);
      if (result.ran_both_ways && i < k) compare(from, to, WhatIfFigure::BothWays);
      compare(from, to, WhatIfFigure::Latency);
    }
  }
  merge_alike(result.changes);
  std::stable_sort(result.changes.begin(), result.changes.end(),
                   [](WhatIfChange const& a, WhatIfChange const& b) { return harm(a) > harm(b); });
  return result;
}

std::optional<WhatIfMatrices> what_if_matrices(Model const& before, Model const& after, WhatIfQuery const& question) {
  std::vector<std::string> gpus;
  for (auto const& name : question.places)
    if (is_gpu(before.machine(), name) && is_gpu(after.machine(), name)) gpus.push_back(name);
  if (gpus.size() < 2 || gpus.size() > kMaxPlacesDrawn) return std::nullopt;
  return WhatIfMatrices{matrix_of(before, gpus, question), matrix_of(after, gpus, question)};
}

nlohmann::ordered_json whatif_json(WhatIf const& whatif, std::optional<WhatIfMatrices> const& matrices,
                                   std::string const& machine, std::vector<std::string> const& settings) {
  nlohmann::ordered_json json{
      {"lanewise", "whatif/1"}, {"machine", machine}, {"settings", settings}, {"pairs", whatif.pairs}};
  json["changes"] = nlohmann::ordered_json::array();
  for (auto const& change : whatif.changes) {
    bool const latency = change.figure == WhatIfFigure::Latency;
    auto const scaled = [&](std::optional<double> value) {
      if (!value) return nlohmann::ordered_json(nullptr);
      return nlohmann::ordered_json(latency ? microseconds(Seconds(*value))
                                            : gigabytes_per_second(BytesPerSecond(*value)));
    };
    auto const unit = latency ? "us" : "GBps";
    nlohmann::ordered_json item{
        {"from", change.from}, {"to", change.to}, {"pairs", change.more + 1}, {"figure", to_string(change.figure)}};
    item[fmt::format("before_{}", unit)] = scaled(change.before);
    item[fmt::format("after_{}", unit)] = scaled(change.after);
    auto const ratio = change.ratio();
    item["ratio"] = ratio ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json(nullptr);
    item["mechanism_before"] = change.way_before;
    item["mechanism_after"] = change.way_after;
    item["because"] = change.because;
    json["changes"].push_back(std::move(item));
  }
  if (matrices)
    json["matrices"] = {{"before", matrix_json(matrices->before, machine)},
                        {"after", matrix_json(matrices->after, machine)}};
  return json;
}

}  // namespace lanewise
