// lanewise doctor: examines the nodes of a cluster from processes on them, and says what is wrong with which.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/difference_options.hpp"
#include "cli/executor_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/diagnosis/cluster_health.hpp"
#include "core/diagnosis/grading.hpp"
#include "core/estimate/plan_parameters.hpp"
#include "core/interop/exports/junit.hpp"
#include "core/io/interrupt.hpp"
#include "core/measurement/measuring.hpp"
#include "core/measurement/new_measurement.hpp"
#include "core/view/health_text.hpp"
#include "hw/hw_library.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/model/interval.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

constexpr Bytes kCollectiveBytes{std::int64_t{16} << 20};

struct DoctorOptions {
  HardwareOptions hardware;
  std::string junit;
  bool no_measure = false;
};

// What a process found on its node, for the first one. A node that cannot be described says why.
std::string described_node(Session& session) {
  nlohmann::json json;
  try {
    auto const found = hw::hardware().discover({}, session.catalogue);
    json["machine"] = write_machine(found.machine);
    json["notes"] = found.machine.notes;
    json["nvml"] = found.facts.nvml.probe.found;
    json["cuda"] = found.facts.cuda.probe.found;
    json["findings"] = nlohmann::json::array();
    for (auto const& finding : found.findings)
      for (auto const& subject : finding.subjects)
        json["findings"].push_back(fmt::format("{}: {}", subject, finding.text));
  } catch (Error const& error) {
    json["error"] = error.what();
  }
  return json.dump();
}

// Whether a note of a discovery is of something that could not be read.
bool says_unread(std::string_view note) {
  constexpr std::array<std::string_view, 4> kUnread{"missing:", "could not be read", "cannot be read",
                                                    "cannot be known"};
  return std::any_of(kUnread.begin(), kUnread.end(),
                     [&](std::string_view words) { return note.find(words) != std::string_view::npos; });
}

NodeReport report_from(std::string const& text, std::string const& host, Session& session) {
  auto const json = nlohmann::json::parse(text);
  if (json.contains("error"))
    throw MissingError(fmt::format("{} cannot be described: {}", host, json["error"].get<std::string>()));
  NodeReport report;
  report.host = host;
  report.machine = session.catalogue.machine_from(SourceText::from_memory(host, json.at("machine").get<std::string>()));
  report.disagreements = json.at("findings").get<std::vector<std::string>>();
  for (auto const& note : json.at("notes").get<std::vector<std::string>>())
    if (says_unread(note)) report.unread.push_back(note);
  report.unsaid = differences_unsaid(json.at("nvml").get<bool>(), json.at("cuda").get<bool>());
  return report;
}

ClusterHealth examined(Session& session, Machine const& cluster, hw::Nodes& nodes,
                       std::vector<std::string> const& described) {
  std::vector<NodeReport> reports;
  for (auto const process : nodes.first_of_nodes(cluster.hosts.size())) {
    auto const at = static_cast<std::size_t>(process);
    reports.push_back(report_from(described[at], nodes.hosts()[at], session));
  }
  return examine_nodes(cluster, reports);
}

// Nodes that share a host have its memory for a network.
std::string shared_host(hw::Nodes const& nodes, std::size_t count) {
  std::set<std::string> hosts;
  for (auto const process : nodes.first_of_nodes(count)) hosts.insert(nodes.hosts()[static_cast<std::size_t>(process)]);
  if (hosts.size() == count) return {};
  return fmt::format("{} nodes share {}, so times say nothing of their network", count,
                     hosts.size() == 1 ? *hosts.begin() : fmt::format("{} hosts", hosts.size()));
}

// An all-reduce of one memory of each node, of its first GPU where all have one: every byte is checked, and its time is
// graded as a measured figure is.
void run_collective(Model const& model, ClusterHealth& health, DoctorOptions const& options) {
  auto const& machine = model.machine();
  std::vector<Place> memories(machine.hosts.size());
  std::vector<Place> gpus;
  for (std::size_t i = machine.numa_nodes.size(); i-- > 0;)
    memories[index(machine.at(machine.numa_nodes[i].socket).host)] = NumaId(i);
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (index(machine.host_of(gpu)) == gpus.size()) gpus.emplace_back(gpu);
  Collective collective;
  collective.op = CollectiveOp::AllReduce;
  collective.bytes = kCollectiveBytes;
  collective.among = gpus.size() == memories.size() ? gpus : memories;
  auto const plan = plan_collective(model, collective, Detail::EveryStep, Effort::Quick);
  auto const trace = make_executor("hw", model, options.hardware)->run(plan);
  PointResult result;
  result.series = "all-reduce";
  result.quantity = MeasuredQuantity::Makespan;
  result.what = fmt::format("all-reduce of {} nodes", machine.hosts.size());
  result.bytes = collective.bytes;
  result.measured = trace.makespan.value();
  auto const figure = [&](Model const& of) { return estimate(of, plan.steps).makespan.value(); };
  result.predicted = figure(model);
  result.interval = Intervals(model).of(figure, parameters_of(plan, model));
  auto const point = graded(std::move(result));
  for (auto const& step : trace.steps)
    if (step.verified && !*step.verified)
      return add_finding(health, kEveryNode,
                         {Grade::Fail, FindingOf::Measurement, point.result.what, "wrong bytes: " + step.mismatch, {}});
  if (!health.not_measured.empty()) {
    health.not_measured += "; an all-reduce between them arrived whole";
    return;
  }
  ++health.figures;
  if (is_slow(point))
    add_finding(health, kEveryNode,
                {point.grade,
                 FindingOf::Measurement,
                 point.result.what,
                 fmt::format("{:.2g} times as fast as predicted", point.speed),
                 {}});
}

void measure_nodes(Session& session, Machine const& cluster, ClusterHealth& health, DoctorOptions const& options) {
  Model const model(cluster);
  health.not_measured = shared_host(*options.hardware.nodes, cluster.hosts.size());
  if (!health.not_measured.empty()) return run_collective(model, health, options);
  auto const meter = hw::hardware().make_meter(model, options.hardware.settings(), *options.hardware.nodes);
  auto const series = series_to_measure(model, {.quick = true});
  auto measurement = new_measurement(cluster, {.name = "doctor",
                                               .machine = session.machine_name,
                                               .version = LANEWISE_VERSION,
                                               .date = "",
                                               .repeat = options.hardware.repetition.repeat});
  std::optional<Progress> progress(std::in_place, "figures", std::size_t{1});
  MeasuringObserver watch;
  watch.progress = [&](MeasuringProgress const& now) { progress->at(now.done, now.all, now.what, now.left); };
  watch.skipped = [&](std::string const& why) { progress->say("left out: " + why); };
  watch.save = [&](Measurement const& so_far) { measurement = so_far; };
  std::exception_ptr failed;  // what was measured until then counts
  try {
    measurement = measure(model, *meter, series, Measurement(measurement), watch);
  } catch (Error const&) {
    failed = std::current_exception();
  }
  progress.reset();
  AccuracyContext const context{.machine = [&](Measurement const&) { return cluster; },
                                .executor = sim::make_executor_if_available,
                                .catalogue = session.catalogue};
  if (!measurement.series.empty()) add_figures(diagnose(measurement, context), measurement, health);
  if (failed) std::rethrow_exception(failed);
  run_collective(model, health, options);
}

// The node that an error of a run names first, by its host.
std::string node_in(std::string_view error, ClusterHealth const& health) {
  for (auto const& node : health.nodes)
    if (!node.host.empty() && error.starts_with(node.host + ":")) return node.node;
  return kEveryNode;
}

void run(Session& session, DoctorOptions& options) {
  options.hardware.start();
  auto& nodes = *options.hardware.nodes;
  auto const described = nodes.gather(described_node(session));
  if (!nodes.is_first()) return nodes.serve();
  InterruptScope const interruptible;
  auto const cluster = session.machine();
  if (cluster.hosts.size() < 2)
    throw InputError(fmt::format("'{}' is one machine: `lanewise discover --against {}` compares this one with it",
                                 cluster.name, session.machine_name));
  auto health = examined(session, cluster, nodes, described);
  bool impossible = false;
  try {
    if (options.no_measure)
      health.not_measured = "--no-measure";
    else
      measure_nodes(session, cluster, health, options);
  } catch (Interrupted const&) {
    throw;
  } catch (DeviceError const& error) {
    health.not_measured = "a transfer failed";
    add_finding(health, node_in(error.what(), health),
                {Grade::Fail, FindingOf::Measurement, "a transfer", error.what(), {}});
  } catch (Error const& error) {  // something is not here, or no plan can be made: what was found counts
    health.not_measured = error.what();
    impossible = true;
  }
  put_result(
      session, "", [&] { return health_json(health); }, [&] { return health_text(health); }, &cluster);
  if (!options.junit.empty()) write_file(options.junit, junit_xml(health));
  if (!health.is_well())
    session.exit_code = ExitCode::ExpectationFailed;
  else if (impossible)
    session.exit_code = ExitCode::Missing;
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "doctor",
      "Examine the nodes of a cluster, started by mpirun on them: what differs, what is slow, and on which node; the "
      "exit code is 1 when something is");
  auto options = std::make_shared<DoctorOptions>();
  session.add_machine(*command, "--on", true);
  session.add_html(*command);
  command->add_option("--junit", options->junit, "Also write the findings as JUnit XML, a test for each node")
      ->type_name("FILE");
  command->add_flag("--no-measure", options->no_measure, "Only compare what the nodes are; move nothing between them");
  add_hardware_options(*command, options->hardware);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
