#include "lanewise/explain/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/io/word.hpp"
#include "core/machine/path_class.hpp"
#include "core/model/place_classes.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kMetricNames{"bandwidth", "latency", "mechanism", "class"};

class MatrixMaker {
 public:
  MatrixMaker(Model const& model, MatrixQuery const& question, Executor* executor)
      : model_(model), planner_(model), intervals_(model), question_(question), executor_(executor) {}

  // Pairs that are alike have one figure. Only an unknown figure is named after its own nodes.
  Matrix::Cell cell(Place const& from, Place const& to) {
    auto const pair = model_.classes().of(from, to);
    if (auto const known = cells_.find(pair); known != cells_.end()) return known->second;
    auto made = make_cell(from, to);
    if (made.missing.empty()) cells_.emplace(pair, made);
    return made;
  }

  // Of the runs; the model's if there were none.
  [[nodiscard]] std::string const& mode() const { return mode_; }

 private:
  Matrix::Cell make_cell(Place const& from, Place const& to) {
    Matrix::Cell cell;
    cell.path = path_between(model_.machine(), from, to);
    Request const request{.id = "there", .from = from, .to = to, .bytes = question_.bytes, .op = question_.op};
    if (possible_ways(model_.machine(), request).empty()) return cell;
    auto const choice = planner_.choose(request);
    if (!choice.chosen) return cell;
    auto const& chosen = choice.evaluated[*choice.chosen];
    cell.mechanism = to_string(chosen.way.mechanism);
    if (question_.metric == Metric::Mechanism || question_.metric == Metric::Class) return cell;
    if (!chosen.cost) {
      cell.missing = missing_figure(request, chosen);
      return cell;
    }
    cell.inferred = is_inferred(request, chosen);
    if (question_.metric == Metric::Latency && by_kernel(question_.op)) {
      auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, chosen.way);
      cell.time = model_.observed_latency(demand, *chosen.cost, request.op, chosen.way);
    } else if (executor_ != nullptr)
      run(request, cell);
    else
      alone(request, chosen, cell);
    if (!cell.rate && cell.time) cell.rate = question_.bytes / *cell.time;
    return cell;
  }

  [[nodiscard]] std::string missing_figure(Request const& request, EvaluatedWay const& chosen) const {
    auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, chosen.way);
    return demand.unknown ? model_.resources().at(*demand.unknown).missing : std::string();
  }

  // Whether a generic part limits the way: its range is that of many products.
  [[nodiscard]] bool is_inferred(Request const& request, EvaluatedWay const& chosen) const {
    auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, chosen.way);
    return std::any_of(demand.uses.begin(), demand.uses.end(),
                       [&](Use const& use) { return model_.resources().at(use.resource).is_inferred(); });
  }

  void alone(Request const& request, EvaluatedWay const& chosen, Matrix::Cell& cell) const {
    cell.time = chosen.cost->time;
    cell.range = time_range(intervals_, request, chosen.way);
  }

  void run(Request const& request, Matrix::Cell& cell) {
    std::vector<Request> requests{request};
    if (question_.bidirectional && request.from != request.to)
      requests.push_back(
          {.id = "back", .from = request.to, .to = request.from, .bytes = request.bytes, .op = request.op});
    auto const trace = executor_->run(planner_.plan(requests));
    mode_ = trace.mode;
    cell.time = trace.makespan;
    BytesPerSecond sum{0};
    for (auto const& step : trace.steps) sum += step.rate();
    cell.rate = sum;
  }

  Model const& model_;
  Planner planner_;
  Intervals intervals_;
  MatrixQuery const& question_;
  Executor* executor_;
  std::string mode_ = "model";
  std::unordered_map<PairClass, Matrix::Cell> cells_;
};

void require_run(MatrixQuery const& question, Executor const* executor) {
  if (question.bidirectional && executor == nullptr)
    throw PlanError("both directions at once share links: only a run (--mode sim or estimate) shows how");
}

// The places of a query that are on one node; `places_alike` is equal where they are the same within their nodes.
struct NodePlaces {
  std::vector<Place> places;
  std::size_t places_alike = 0;
};
std::vector<NodePlaces> places_by_node(Model const& model, std::vector<Place> const& places) {
  std::vector<NodePlaces> groups;
  std::map<HostId, std::size_t> group_of;
  for (auto const& place : places) {
    auto const [found, is_new] = group_of.try_emplace(model.machine().host_of(place), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].places.push_back(place);
  }
  std::map<std::vector<std::uint32_t>, std::size_t> lists;
  for (auto& group : groups) {
    std::vector<std::uint32_t> within;
    for (auto const& place : group.places) within.push_back(model.classes().within_node(place));
    group.places_alike = lists.try_emplace(within, lists.size()).first->second;
  }
  return groups;
}

// Pairs of nodes that are alike, places and all.
struct AlikeNodes {
  std::size_t a = 0, b = 0;  // one pair of them
  std::size_t count = 0;
};

bool are_equal(Matrix::Cell const& a, Matrix::Cell const& b) {
  auto const rates_are_equal = a.rate.has_value() == b.rate.has_value() && (!a.rate || *a.rate == *b.rate);
  return a.mechanism == b.mechanism && a.path == b.path && a.time == b.time && rates_are_equal &&
         a.missing == b.missing;
}

}  // namespace

std::string_view to_string(Metric metric) { return kMetricNames.at(static_cast<std::size_t>(metric)); }

Parsed<Metric> parse_metric(std::string_view text) { return parse_word<Metric>(text, kMetricNames, "a metric"); }

Matrix make_matrix(Model const& model, MatrixQuery const& question, Executor* executor,
                   std::function<void()> const& done) {
  require_run(question, executor);
  Matrix matrix{question, {}, {}, {}};
  MatrixMaker maker(model, question, executor);
  for (auto const& place : question.places) matrix.names.push_back(model.machine().name_of(place));
  try {
    for (auto const& from : question.places) {
      std::vector<Matrix::Cell> row;
      for (auto const& to : question.places) {
        throw_if_interrupted();
        row.push_back(maker.cell(from, to));
        if (done) done();
      }
      matrix.cells.push_back(std::move(row));
    }
  } catch (Interrupted const&) {  // what is there is worth showing
  }
  matrix.mode = maker.mode();
  return matrix;
}

MatrixByClass make_matrix_by_class(Model const& model, MatrixQuery const& question, Executor* executor) {
  require_run(question, executor);
  MatrixByClass matrix{question, {}, question.places.size(), {}};
  auto const groups = places_by_node(model, question.places);
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t>, AlikeNodes> alike;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    throw_if_interrupted();
    for (std::size_t b = 0; b < groups.size(); ++b) {
      // What two nodes are to one another, places of theirs are.
      auto const relation = model.classes().of(groups[a].places.front(), groups[b].places.front()).relation;
      auto& found = alike[{relation, groups[a].places_alike, groups[b].places_alike}];
      if (found.count++ == 0) found = {a, b, 1};
    }
  }
  MatrixMaker maker(model, question, executor);
  for (auto const& [key, nodes] : alike)
    for (auto const& from : groups[nodes.a].places)
      for (auto const& to : groups[nodes.b].places) {
        auto cell = maker.cell(from, to);
        auto const known = std::find_if(matrix.classes.begin(), matrix.classes.end(),
                                        [&](PairsAlike const& one) { return are_equal(one.cell, cell); });
        if (known != matrix.classes.end())
          known->pairs += nodes.count;
        else
          matrix.classes.push_back(
              {model.machine().name_of(from), model.machine().name_of(to), nodes.count, std::move(cell)});
      }
  std::stable_sort(matrix.classes.begin(), matrix.classes.end(),
                   [](PairsAlike const& a, PairsAlike const& b) { return a.pairs > b.pairs; });
  matrix.mode = maker.mode();
  return matrix;
}

namespace {

nlohmann::ordered_json heading_json(MatrixQuery const& q, std::string const& machine, std::string const& mode) {
  return {{"lanewise", "matrix/1"},          {"machine", machine},       {"mode", mode},
          {"metric", to_string(q.metric)},   {"bytes", q.bytes.value()}, {"op", to_string(q.op)},
          {"bidirectional", q.bidirectional}};
}

void add_cell(nlohmann::ordered_json& item, Matrix::Cell const& cell) {
  item["class"] = cell.path;
  item["mechanism"] = cell.mechanism.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(cell.mechanism);
  if (cell.time) item["time_us"] = microseconds(*cell.time);
  if (cell.range) item["time_interval_us"] = {microseconds(cell.range->low), microseconds(cell.range->high)};
  if (cell.inferred) item["inferred"] = true;
  if (!cell.missing.empty()) item["missing"] = cell.missing;
  if (cell.rate) item["bandwidth_GBps"] = gigabytes_per_second(*cell.rate);
}

}  // namespace

nlohmann::ordered_json matrix_json(MatrixByClass const& matrix, std::string const& machine) {
  auto json = heading_json(matrix.question, machine, matrix.mode);
  json["number_of_places"] = matrix.places;
  json["classes"] = nlohmann::ordered_json::array();
  for (auto const& one : matrix.classes) {
    nlohmann::ordered_json item{{"pairs", one.pairs}, {"from", one.from}, {"to", one.to}};
    add_cell(item, one.cell);
    json["classes"].push_back(std::move(item));
  }
  return json;
}

nlohmann::ordered_json matrix_json(Matrix const& matrix, std::string const& machine) {
  auto json = heading_json(matrix.question, machine, matrix.mode);
  json["places"] = matrix.names;
  if (!matrix.whole()) json["stopped"] = {{"rows", matrix.cells.size()}, {"of", matrix.names.size()}};
  json["cells"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    for (std::size_t k = 0; k < matrix.cells[i].size(); ++k) {
      nlohmann::ordered_json item{{"from", matrix.names[i]}, {"to", matrix.names[k]}};
      add_cell(item, matrix.cells[i][k]);
      json["cells"].push_back(std::move(item));
    }
  }
  return json;
}

}  // namespace lanewise
