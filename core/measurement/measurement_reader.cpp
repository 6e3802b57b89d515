#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "core/machine/setting_list.hpp"
#include "core/measurement/measurement.hpp"
#include "core/scenario/transfer_fields.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

class MeasurementReader {
 public:
  explicit MeasurementReader(SourceText const& source) : source_(source) {}

  Measurement read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "measurement/1", source_);
    MapReader top(root, measurement_spec(), source_, diagnostics_);
    result_.name = top.text("measurement").value_or("");
    result_.title = top.text("title").value_or("");
    result_.machine = top.text("machine").value_or("");
    result_.source = top.text("source").value_or("");
    result_.date = top.text("date").value_or("");
    result_.method = top.text("method").value_or("");
    result_.grade = top.text("grade").value_or("");
    result_.doubtful = top.text("doubtful").value_or("");
    result_.notes = top.texts("notes");
    result_.settings = read_settings(top);
    read_environment(top);
    auto const* named = top.node("machine");
    result_.pos = {source_.name(), named != nullptr ? named->line : 1, named != nullptr ? named->column : 1};
    for (auto const* item : top.items("withhold")) read_withheld(top, *item);
    for (auto& reader : top.maps("noise")) read_noise(reader);
    for (auto& reader : top.maps("series")) read_series(reader);
    for (auto& reader : top.maps("facts")) read_fact(reader);
    if (result_.series.empty() && result_.facts.empty() && diagnostics_.empty())
      top.fail_at_key("series", "a measurement has series, facts, or both");
    diagnostics_.throw_if_any();
    return std::move(result_);
  }

 private:
  [[nodiscard]] SourcePos pos(YamlNode const& node) const { return {source_.name(), node.line, node.column}; }

  void read_environment(MapReader& top) {
    auto const* node = top.custom("environment");
    if (node == nullptr) return;
    if (node->kind != YamlKind::Map)
      return top.fail(*node, "'environment': expected a mapping, such as {driver: 580.95.05}");
    for (auto const& [key, line, column, value] : node->entries) {
      if (value.kind != YamlKind::Scalar)
        top.fail(value, fmt::format("'{}': expected a single value", key));
      else
        result_.environment.emplace(key, value.text);
    }
  }

  void read_withheld(MapReader const& reader, YamlNode const& node) {
    auto const equals = std::min(node.text.find('='), node.text.size());
    auto const name = node.text.substr(0, equals);
    auto const dot = name.rfind('.');
    if (node.kind != YamlKind::Scalar || dot == std::string::npos || dot == 0)
      return reader.fail(node,
                         "'withhold': expected PART.KEY or PART.KEY=VALUE, such as nvlink-3.copy_efficiency=0.91");
    auto const instead = equals < node.text.size() ? node.text.substr(equals + 1) : std::string();
    result_.withheld.push_back({name.substr(0, dot), name.substr(dot + 1), instead, pos(node)});
  }

  void read_noise(MapReader& reader) {
    SessionNoise noise{{reader.text("from").value_or(""), reader.text("to").value_or("")}};
    noise.flow.bytes = reader.size("bytes").value_or(Bytes(0));
    noise.samples = reader.count("samples").value_or(0);
    noise.spread = reader.ratio("spread").value_or(0);
    noise.pos = pos(reader.self());
    result_.noise.push_back(std::move(noise));
  }

  std::optional<Mechanism> mechanism(MapReader& reader, std::string_view key) {
    auto const name = reader.text(key);
    return name ? mechanism_at(reader, *reader.node(key), *name) : std::nullopt;
  }

  // ----------------------------------------------------------------------------------------------------------- series

  void read_series(MapReader& reader) {
    series_ = {};
    series_.pos = pos(reader.self());
    series_.name = reader.text("series").value_or("");
    for (auto const& other : result_.series)
      if (reader.has("series") && other.name == series_.name)
        reader.fail(*reader.node("series"), fmt::format("a series '{}' is already there", series_.name));
    if (auto const quantity = reader.text("quantity"))
      series_.quantity = parse_measured_quantity(*quantity).value.value_or(MeasuredQuantity::Bandwidth);
    unit_ = reader.text("unit").value_or("");
    if (auto const op = reader.text("op")) series_.op = parse_op(*op).value.value_or(Op::Copy);
    bytes_ = reader.size("bytes");
    series_.mechanism = mechanism(reader, "mechanism");
    series_.by_driver = read_staging(reader, series_.mechanism == Mechanism::HostStaged);
    read_cuts(reader);
    series_.pageable = reader.flag("pageable").value_or(false);
    series_.queue_pairs = reader.count("queue_pairs").value_or(0);
    series_.cores = reader.count("cores").value_or(0);
    series_.pulled = reader.flag("pulled").value_or(false);
    series_.pipelined = reader.flag("pipelined").value_or(false);
    series_.of_first = reader.flag("of_first").value_or(false);
    if (auto program = reader.map("program")) read_program(*program);
    both_ways_ = reader.flag("both_ways").value_or(false);
    series_.settings = read_settings(reader);
    series_.doubtful = reader.text("doubtful").value_or("");
    int forms = 0;
    for (auto const* key : {"matrix", "values", "sweep", "together", "collective"}) forms += reader.has(key) ? 1 : 0;
    if (forms != 1)
      reader.fail(reader.self(), "a series has exactly one of: matrix, values, sweep, together, collective");
    lacks_bytes_ = false;
    if (auto matrix = reader.map("matrix")) read_matrix(*matrix);
    for (auto& value : reader.maps("values")) read_value(value);
    if (auto sweep = reader.map("sweep")) read_sweep(*sweep);
    for (auto& together : reader.maps("together")) read_together(together);
    if (auto collective = reader.map("collective")) read_collective(*collective);
    if (lacks_bytes_ && diagnostics_.empty())
      reader.fail(reader.self(), "'bytes' is missing: how much each transfer moved");
    if (series_.pipelined && (series_.quantity == MeasuredQuantity::Makespan || both_ways_ || reader.has("together")))
      reader.fail(*reader.node("pipelined"), "'pipelined' is of the bandwidth or the latency of single transfers");
    if (series_.of_first && (series_.quantity != MeasuredQuantity::Bandwidth || !reader.has("together")))
      reader.fail(*reader.node("of_first"), "'of_first' is of bandwidths of several transfers 'together'");
    if (series_.collective && (series_.program || series_.of_first || series_.mechanism || both_ways_))
      reader.fail(reader.self(),
                  "a collective goes as its library decides: no mechanism, program, of_first, both_ways");
    if (series_.program && (series_.of_first || !(reader.has("together") || both_ways_)))
      reader.fail(*reader.node("program"), "'program' is of several transfers at once, and of their total");
    if (reader.has("bytes") && bytes_ == Bytes(0))
      reader.fail(*reader.node("bytes"), "'bytes': nothing cannot be measured");
    if (series_.points.empty() && diagnostics_.empty()) reader.fail(reader.self(), "this series has no figure");
    result_.series.push_back(std::move(series_));
  }

  void read_program(MapReader& reader) {
    auto& program = series_.program.emplace();
    if (auto const issue = reader.text("issue"))
      program.issue = parse_issue_order(*issue).value.value_or(IssueOrder::Listed);
    if (auto const stream = reader.text("stream"))
      program.stream = parse_copy_stream(*stream).value.value_or(CopyStream::Own);
    if (auto const waits = reader.text("waits"))
      program.waits = parse_copy_waits(*waits).value.value_or(CopyWaits::Nothing);
    if (auto const timed = reader.text("timed")) program.timed = parse_timed_by(*timed).value.value_or(TimedBy::All);
    program.rounds = reader.count("rounds").value_or(1);
    if (program.rounds < 1 || program.rounds > kMaxProgramRounds)
      reader.fail(*reader.node("rounds"), fmt::format("'rounds': expected 1 to {}", kMaxProgramRounds));
    if (program.timed != TimedBy::All && series_.quantity != MeasuredQuantity::Bandwidth)
      reader.fail(*reader.node("timed"), "'timed' is of bandwidths; a makespan is of all");
  }

  void read_cuts(MapReader& reader) {
    auto const access = read_access(reader);
    if (!access) return;
    series_.access = *access;
    auto const& node = *reader.node("access");
    bool const whole = access->each > Bytes(0) && access->window > Bytes(0);
    if (!whole && !reader.has("sweep"))
      reader.fail(node, "'access' needs 'each' and 'window': only a sweep leaves one out");
    if (access->each == Bytes(0) && access->window == Bytes(0))
      reader.fail(node, "a sweep varies one of 'each' and 'window'; give the other");
    if (!bytes_) bytes_ = access->each;
  }

  // The figure in bytes per second or seconds; nullopt if it was not measured or is invalid.
  std::optional<double> figure(MapReader const& reader, YamlNode const& node) {
    if (node.kind == YamlKind::Null || unit_.empty()) return std::nullopt;  // a wrong unit is reported once
    if (node.kind != YamlKind::Scalar) {
      reader.fail(node, "expected a number, or null where nothing was measured");
      return std::nullopt;
    }
    std::string problem;
    auto const with_unit = node.text + " " + unit_;
    if (series_.quantity == MeasuredQuantity::Bandwidth) {
      auto const rate = parse_rate(with_unit);
      if (rate.value) return rate.value->value();
      problem = rate.problem;
    } else {
      auto const time = parse_seconds(with_unit);
      if (time.value && *time.value > Seconds(0)) return time.value->value();
      problem = time.value ? fmt::format("a {} is more than nothing", to_string(series_.quantity)) : time.problem;
    }
    reader.fail(node, problem);
    return std::nullopt;
  }

  // Adds a point unless nothing was measured. Its position is that of the figure.
  void add(MeasuredPoint point, std::optional<double> value, YamlNode const& node) {
    if (!value) return;
    for (auto const& flow : point.flows) lacks_bytes_ = lacks_bytes_ || point.bytes_of(flow) == Bytes(0);
    if (both_ways_) {
      auto const there = point.flows;
      for (auto const& flow : there)
        point.flows.push_back({flow.to, flow.from, flow.bytes, {flow.nics.rbegin(), flow.nics.rend()}});
    }
    point.value = *value;
    point.pos = pos(node);
    series_.points.push_back(std::move(point));
  }

  // A point of this flow with the size and access pattern of the series.
  [[nodiscard]] MeasuredPoint point_of(MeasuredFlow flow) const {
    return {{std::move(flow)}, bytes_.value_or(Bytes(0)), series_.access, 0, {}, {}};
  }

  static MeasuredFlow flow_of(MapReader& reader) {
    return {reader.text("from").value_or(""), reader.text("to").value_or(""), Bytes(0), read_nics(reader)};
  }

  // The entry's own size, and the spread of its repetitions.
  static void read_own(MapReader& reader, MeasuredPoint& point) {
    if (auto const own = reader.size("bytes")) {
      point.bytes = *own;
      if (*own == Bytes(0)) reader.fail(*reader.node("bytes"), "'bytes': nothing cannot be measured");
    }
    point.spread = reader.ratio("spread");
    point.noise = reader.ratio("noise");
  }

  std::vector<std::string> places(MapReader const& reader, YamlNode const& at, std::vector<std::string> const& texts) {
    std::vector<std::string> names;
    try {
      for (auto const& one : texts)
        for (auto& name : expand_range(one)) names.push_back(std::move(name));
    } catch (InputError const& error) {
      reader.fail(at, error.what());
    }
    return names;
  }

  void read_matrix(MapReader& reader) {
    auto const names = places(reader, reader.self(), reader.texts("places"));
    auto const* rows = reader.custom("rows");
    if (rows == nullptr) return;
    if (rows->kind != YamlKind::Sequence || rows->items.size() != names.size())
      return reader.fail(*rows, fmt::format("'rows': expected {} rows, one for each place", names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto const& row = rows->items[i];
      if (row.kind != YamlKind::Sequence || row.items.size() != names.size()) {
        reader.fail(row, fmt::format("expected a row of {} figures", names.size()));
        continue;
      }
      for (std::size_t k = 0; k < names.size(); ++k)
        add(point_of({names[i], names[k]}), figure(reader, row.items[k]), row.items[k]);
    }
  }

  void read_value(MapReader& reader) {
    auto const* node = reader.custom("value");
    if (node == nullptr) return;
    auto point = point_of(flow_of(reader));
    read_own(reader, point);
    add(std::move(point), figure(reader, *node), *node);
  }

  void read_sweep(MapReader& reader) {
    auto const flow = flow_of(reader);
    auto const* rows = reader.custom("rows");
    if (rows == nullptr) return;
    if (rows->kind != YamlKind::Sequence) return reader.fail(*rows, "'rows': expected [[size, figure], ...]");
    for (auto const& row : rows->items) {
      if (row.kind != YamlKind::Sequence || row.items.size() < 2 || row.items.size() > 4) {
        reader.fail(row, "expected [size, figure], [size, figure, spread] or [size, figure, spread, noise]");
        continue;
      }
      auto const size = parse_bytes(row.items[0].text);
      if (!size.value)
        reader.fail(row.items[0], size.problem);
      else if (*size.value == Bytes(0))
        reader.fail(row.items[0], "nothing cannot be measured");
      else
        add_swept(reader, flow, *size.value, row);
    }
  }

  void read_collective(MapReader& reader) {
    auto& collective = series_.collective.emplace();
    if (auto const op = reader.text("op")) collective.op = parse_collective_op(*op).value.value_or(collective.op);
    collective.among = places(reader, reader.self(), reader.texts("among"));
    if (auto const name = reader.text("library")) {
      auto const library = parse_library(*name);
      if (!library.value) reader.fail(*reader.node("library"), library.problem);
      collective.library = library.value.value_or(Library{});
    }
    if (auto const root = reader.text("root")) {
      auto const found = std::find(collective.among.begin(), collective.among.end(), *root);
      if (!has_root(collective.op))
        reader.fail(*reader.node("root"), "'root' belongs to broadcast, reduce, scatter and gather");
      else if (found == collective.among.end())
        reader.fail(*reader.node("root"), fmt::format("the root '{}' does not take part", *root));
      else
        collective.root = static_cast<std::size_t>(found - collective.among.begin());
    }
    collective.cleared = reader.count("cleared").value_or(0);
    bool const is_time = series_.quantity == MeasuredQuantity::Makespan;
    if (series_.quantity == MeasuredQuantity::Latency)
      reader.fail(reader.self(), "the time of a collective is a makespan");
    collective.figure = is_time ? CollectiveFigure::Time : CollectiveFigure::BusBandwidth;
    if (auto const figure = reader.text("figure")) {
      collective.figure = parse_collective_figure(*figure).value.value_or(collective.figure);
      if ((collective.figure == CollectiveFigure::Time) != is_time)
        reader.fail(*reader.node("figure"), "'time' is a makespan, the others are bandwidths");
    }
    auto const* rows = reader.custom("rows");
    if (rows == nullptr) return;
    if (rows->kind != YamlKind::Sequence) return reader.fail(*rows, "'rows': expected [[size, figure], ...]");
    for (auto const& row : rows->items) {
      if (row.kind != YamlKind::Sequence || row.items.size() != 2) {
        reader.fail(row, "expected [size, figure]");
        continue;
      }
      auto const size = parse_bytes(row.items[0].text);
      if (!size.value || *size.value == Bytes(0))
        reader.fail(row.items[0], size.value ? "nothing cannot be measured" : size.problem);
      else
        add({{}, *size.value, {}, 0, {}, {}}, figure(reader, row.items[1]), row.items[1]);
    }
  }

  // The first number of a row is the size of the transfer, or the key that `access` leaves out.
  void add_swept(MapReader const& reader, MeasuredFlow const& flow, Bytes size, YamlNode const& row) {
    auto point = point_of(flow);
    auto& access = point.access;
    bool const cut_up = access.each > Bytes(0) || access.window > Bytes(0);
    if (cut_up) (access.each > Bytes(0) ? access.window : access.each) = size;
    point.bytes = cut_up ? access.each : size;
    point.spread = ratio_at(reader, row, 2);
    point.noise = ratio_at(reader, row, 3);
    add(std::move(point), figure(reader, row.items[1]), row.items[1]);
  }

  static std::optional<double> ratio_at(MapReader const& reader, YamlNode const& row, std::size_t i) {
    if (row.items.size() <= i) return std::nullopt;
    auto const ratio = parse_ratio(row.items[i].text);
    if (!ratio.value) reader.fail(row.items[i], ratio.problem);
    return ratio.value;
  }

  void read_together(MapReader& reader) {
    auto const* node = reader.custom("flows");
    auto const* value = reader.custom("value");
    if (node == nullptr || value == nullptr) return;
    auto point = point_of({});
    point.flows.clear();
    if (node->kind == YamlKind::Map) {
      MapReader all(*node, all_flows_spec(), reader.source(), reader.diagnostics());
      auto const names = places(all, *node, all.texts("all_to_all"));
      for (auto const& from : names)
        for (auto const& to : names)
          if (from != to) point.flows.push_back({from, to});
    }
    for (auto const& item : node->items)
      if (auto flow = read_flow(reader, item)) point.flows.push_back(std::move(*flow));
    read_own(reader, point);
    if (point.flows.empty())
      return reader.fail(*node, "'flows': expected [[from, to], ...] or {all_to_all: [PLACE, ...]}");
    add(std::move(point), figure(reader, *value), *value);
  }

  static std::optional<MeasuredFlow> read_flow(MapReader const& outer, YamlNode const& item) {
    if (item.kind == YamlKind::Map) {
      MapReader reader(item, measured_flow_spec(), outer.source(), outer.diagnostics());
      auto const bytes = reader.size("bytes");
      if (bytes == Bytes(0)) reader.fail(*reader.node("bytes"), "'bytes': nothing cannot be measured");
      auto flow = flow_of(reader);
      flow.bytes = bytes.value_or(Bytes(0));
      return flow;
    }
    if (item.kind == YamlKind::Sequence && item.items.size() == 2)
      return MeasuredFlow{item.items[0].text, item.items[1].text};
    outer.fail(item, "expected [from, to] or {from, to, bytes, nics}");
    return std::nullopt;
  }

  // ------------------------------------------------------------------------------------------------------------ facts

  void read_fact(MapReader& reader) {
    MeasuredFact fact;
    fact.flow = {reader.text("from").value_or(""), reader.text("to").value_or("")};
    fact.bytes = reader.size("bytes").value_or(Bytes(256 << 20));
    if (auto const op = reader.text("op")) fact.op = parse_op(*op).value.value_or(Op::Copy);
    fact.mechanism = mechanism(reader, "mechanism");
    fact.legal = reader.flag("legal").value_or(true);
    fact.chosen = mechanism(reader, "chosen");
    fact.faster = mechanism(reader, "faster");
    fact.slower = mechanism(reader, "slower");
    fact.by_driver = read_staging(reader, fact.mechanism == Mechanism::HostStaged || reader.has("faster"));
    fact.settings = read_settings(reader);
    static_cast<void>(reader.text("source"));
    fact.doubtful = reader.text("doubtful").value_or("");
    fact.pos = pos(reader.self());
    bool const speed = fact.faster && fact.slower;
    int const said = (fact.mechanism ? 1 : 0) + (fact.chosen ? 1 : 0) + (speed ? 1 : 0);
    if (said != 1 || fact.mechanism.has_value() != reader.has("legal"))
      reader.fail(reader.self(), "a fact says one of: mechanism with legal, chosen, faster with slower");
    result_.facts.push_back(std::move(fact));
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
  Measurement result_;
  MeasuredSeries series_;  // the one being read
  std::string unit_;
  std::optional<Bytes> bytes_;
  bool lacks_bytes_ = false;
  bool both_ways_ = false;
};

}  // namespace

Measurement read_measurement(SourceText const& source) { return MeasurementReader(source).read(); }

}  // namespace lanewise
