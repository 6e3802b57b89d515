#include "core/measurement/measurement_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/io/yaml_writer.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

struct WrittenUnit {
  std::string_view name;
  double scale;
};
// The usual unit, and one that represents every double exactly because its scale is a power of two.
struct Units {
  WrittenUnit usual, exact;
};
Units const& units_of(MeasuredQuantity quantity) {
  static Units const rates{{"GB/s", 1e9}, {"GiB/s", 1073741824.0}};
  static Units const times{{"us", 1e-6}, {"s", 1}};
  return quantity == MeasuredQuantity::Bandwidth ? rates : times;
}

// The number that the reader scales back to exactly `value`; nullopt if rounding allows none.
std::optional<double> scaled(double value, WrittenUnit const& unit) {
  double const guess = value / unit.scale;
  for (double const number :
       {std::round(guess * 1e6) / 1e6, guess, std::nextafter(guess, 0), std::nextafter(guess, HUGE_VAL)})
    if (number * unit.scale == value) return number;
  return std::nullopt;
}

WrittenUnit unit_for(MeasuredSeries const& series) {
  auto const& units = units_of(series.quantity);
  bool const usual = std::all_of(series.points.begin(), series.points.end(),
                                 [&](MeasuredPoint const& p) { return scaled(p.value, units.usual).has_value(); });
  return usual ? units.usual : units.exact;
}

void put(Tree& tree, char const* key, std::string const& text) {
  if (!text.empty()) tree[key] = text;
}
void put(Tree& tree, char const* key, bool value) {
  if (value) tree[key] = true;
}
void put(Tree& tree, char const* key, std::optional<Mechanism> const& mechanism) {
  if (mechanism) tree[key] = to_string(*mechanism);
}
void put(Tree& tree, char const* key, std::vector<Setting> const& settings) {
  for (auto const& setting : settings) tree[key][setting.key] = setting.value;
}

Tree written(Access const& access) {
  Tree tree = Tree::object();
  if (access.each > Bytes(0)) tree["each"] = exact_text(access.each);
  if (access.window > Bytes(0)) tree["window"] = exact_text(access.window);
  if (access.random) tree["pattern"] = "random";
  return tree;
}

Tree written(MeasuredProgram const& program) {
  MeasuredProgram const usual;
  Tree tree = Tree::object();
  if (program.issue != usual.issue) tree["issue"] = to_string(program.issue);
  if (program.stream != usual.stream) tree["stream"] = to_string(program.stream);
  if (program.waits != usual.waits) tree["waits"] = to_string(program.waits);
  if (program.timed != usual.timed) tree["timed"] = to_string(program.timed);
  if (program.rounds != usual.rounds || tree.empty()) tree["rounds"] = program.rounds;
  return tree;
}

class SeriesWriter {
 public:
  explicit SeriesWriter(MeasuredSeries const& series) : series_(series), unit_(unit_for(series)) {}

  Tree write() {
    tree_ = {{"series", series_.name}, {"quantity", to_string(series_.quantity)}, {"unit", unit_.name}};
    if (series_.op != Op::Copy) tree_["op"] = to_string(series_.op);
    put(tree_, "mechanism", series_.mechanism);
    if (series_.by_driver) tree_["staging"] = "driver";
    if (series_.access != Access{}) tree_["access"] = written(series_.access);
    put(tree_, "pageable", series_.pageable);
    if (series_.queue_pairs > 0) tree_["queue_pairs"] = series_.queue_pairs;
    if (series_.cores > 0) tree_["cores"] = series_.cores;
    put(tree_, "pulled", series_.pulled);
    put(tree_, "pipelined", series_.pipelined);
    put(tree_, "of_first", series_.of_first);
    if (series_.program) tree_["program"] = written(*series_.program);
    put(tree_, "settings", series_.settings);
    put(tree_, "doubtful", series_.doubtful);
    if (series_.collective)
      write_collective();
    else if (is_sweep())
      write_sweep();
    else
      write_points();
    return std::move(tree_);
  }

 private:
  [[nodiscard]] bool of_one_flow() const {
    if (series_.of_first || series_.program) return false;
    return std::all_of(series_.points.begin(), series_.points.end(), [](MeasuredPoint const& point) {
      return point.flows.size() == 1 && point.flows.front().bytes == Bytes(0);
    });
  }

  // One flow over sizes, or over the key that `access` leaves out.
  [[nodiscard]] bool is_sweep() const {
    bool swept = false;
    bool one_flow = of_one_flow();
    bool sized = true;
    for (auto const& point : series_.points) {
      if (point.noise && !point.spread) return false;  // a row has no noise without a spread before it
      swept = swept || point.access != series_.access;
      one_flow = one_flow && point.flows == series_.points.front().flows;
      sized = sized && point.bytes > Bytes(0);
    }
    if (swept && !one_flow)
      throw std::logic_error(fmt::format("series '{}': only a sweep of one flow varies its accesses", series_.name));
    return swept || (one_flow && sized && series_.points.size() > 1 && series_.access == Access{});
  }

  [[nodiscard]] double figure(MeasuredPoint const& point) const { return *scaled(point.value, unit_); }

  void write_sweep() {
    auto const& flow = series_.points.front().flows.front();
    auto rows = Tree::array();
    for (auto const& point : series_.points) {
      auto const size = series_.access == Access{}       ? point.bytes
                        : series_.access.each > Bytes(0) ? point.access.window
                                                         : point.access.each;
      Tree row{exact_text(size), figure(point)};
      if (point.spread) row.push_back(*point.spread);
      if (point.noise) row.push_back(*point.noise);
      rows.push_back(std::move(row));
    }
    tree_["sweep"] = written_flow(flow);
    tree_["sweep"]["rows"] = std::move(rows);
  }

  void write_collective() {
    auto const& collective = *series_.collective;
    Tree tree{
        {"op", to_string(collective.op)}, {"among", collective.among}, {"library", to_string(collective.library)}};
    if (collective.root > 0) tree["root"] = collective.among[collective.root];
    if (collective.cleared > 0) tree["cleared"] = collective.cleared;
    if (collective.figure == CollectiveFigure::AlgorithmBandwidth) tree["figure"] = to_string(collective.figure);
    auto& rows = tree["rows"] = Tree::array();
    for (auto const& point : series_.points) rows.push_back(Tree{exact_text(point.bytes), figure(point)});
    tree_["collective"] = std::move(tree);
  }

  void write_points() {
    auto const& points = series_.points;
    auto const common = points.empty() ? Bytes(0) : points.front().bytes;
    bool const same = std::all_of(points.begin(), points.end(), [&](auto const& p) { return p.bytes == common; });
    if (same && common > Bytes(0)) tree_["bytes"] = exact_text(common);
    bool const values = of_one_flow();
    auto& list = tree_[values ? "values" : "together"] = Tree::array();
    for (auto const& point : points) {
      Tree item;
      if (values)
        item = written_flow(point.flows.front());
      else
        item = {{"flows", flows(point)}};
      item["value"] = figure(point);
      if (!same && point.bytes > Bytes(0)) item["bytes"] = exact_text(point.bytes);
      if (point.spread) item["spread"] = *point.spread;
      if (point.noise) item["noise"] = *point.noise;
      list.push_back(std::move(item));
    }
  }

  static Tree written_flow(MeasuredFlow const& flow) {
    Tree tree{{"from", flow.from}, {"to", flow.to}};
    if (flow.bytes > Bytes(0)) tree["bytes"] = exact_text(flow.bytes);
    if (!flow.nics.empty()) tree["nics"] = flow.nics;
    return tree;
  }

  static Tree flows(MeasuredPoint const& point) {
    auto list = Tree::array();
    for (auto const& flow : point.flows) {
      if (flow.bytes == Bytes(0) && flow.nics.empty())
        list.push_back(Tree::array({flow.from, flow.to}));
      else
        list.push_back(written_flow(flow));
    }
    return list;
  }

  MeasuredSeries const& series_;
  WrittenUnit unit_;
  Tree tree_;
};

Tree written(SessionNoise const& noise) {
  Tree tree{{"from", noise.flow.from}, {"to", noise.flow.to}};
  if (noise.flow.bytes > Bytes(0)) tree["bytes"] = exact_text(noise.flow.bytes);
  tree["samples"] = noise.samples;
  tree["spread"] = noise.spread;
  return tree;
}

Tree written(MeasuredFact const& fact) {
  Tree tree{{"from", fact.flow.from}, {"to", fact.flow.to}};
  if (fact.op != Op::Copy) tree["op"] = to_string(fact.op);
  tree["bytes"] = exact_text(fact.bytes);
  put(tree, "mechanism", fact.mechanism);
  if (fact.mechanism) tree["legal"] = fact.legal;
  put(tree, "chosen", fact.chosen);
  put(tree, "faster", fact.faster);
  put(tree, "slower", fact.slower);
  if (fact.by_driver) tree["staging"] = "driver";
  put(tree, "settings", fact.settings);
  put(tree, "doubtful", fact.doubtful);
  return tree;
}

}  // namespace

nlohmann::ordered_json to_json(Measurement const& measurement) {
  Tree tree{{"lanewise", "measurement/1"}, {"measurement", measurement.name}};
  put(tree, "title", measurement.title);
  tree["machine"] = measurement.machine;
  tree["source"] = measurement.source;
  put(tree, "date", measurement.date);
  tree["method"] = measurement.method;
  put(tree, "grade", measurement.grade);
  if (!measurement.notes.empty()) tree["notes"] = measurement.notes;
  put(tree, "doubtful", measurement.doubtful);
  for (auto const& [key, value] : measurement.environment) tree["environment"][key] = value;
  for (auto const& noise : measurement.noise) tree["noise"].push_back(written(noise));
  for (auto const& w : measurement.withheld)
    tree["withhold"].push_back(fmt::format("{}.{}{}{}", w.part, w.key, w.instead.empty() ? "" : "=", w.instead));
  put(tree, "settings", measurement.settings);
  for (auto const& series : measurement.series) tree["series"].push_back(SeriesWriter(series).write());
  for (auto const& fact : measurement.facts) tree["facts"].push_back(written(fact));
  return tree;
}

std::string write_measurement(Measurement const& measurement) { return yaml_text(to_json(measurement)); }

}  // namespace lanewise
