#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_description.hpp"
#include "cli/executor_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/matrix_text.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/explain/places.hpp"

namespace lanewise::cli {
namespace {

struct MatrixOptions {
  std::string bytes;
  std::string metric = "bandwidth";
  std::string op = "copy";
  std::string mode;
  std::vector<std::string> places;
  bool bidirectional = false;
};

void run(Session& session, MatrixOptions const& options) {
  Model const model(session.machine());
  MatrixQuery question;
  question.metric = argument(parse_metric(options.metric));
  auto const usual = question.metric == Metric::Latency ? "16 B" : "256 MiB";
  question.bytes = argument(parse_bytes(options.bytes.empty() ? usual : options.bytes));
  question.op = argument(parse_op(options.op));
  question.bidirectional = options.bidirectional;
  auto const& machine = model.machine();
  for (auto const& name : options.places.empty() ? all_gpus(machine) : places_named(machine, options.places))
    question.places.push_back(machine.place(name));
  auto const mode = options.mode.empty() ? (options.bidirectional ? "sim" : "model") : options.mode;
  auto const executor = mode == "model" ? nullptr : make_executor(mode, model, {});
  InterruptScope const interruptible;
  if (question.places.size() > kMaxPlacesOfMatrix) {
    auto const by_class = make_matrix_by_class(model, question, executor.get());
    put_result(
        session, "", [&] { return matrix_json(by_class, machine.name); }, [&] { return matrix_text(by_class); },
        &machine);
    return;
  }
  auto const pairs = question.places.size() * question.places.size();
  auto const matrix = [&] {
    Progress progress("pairs", pairs);
    return make_matrix(model, question, executor.get(), [&] { progress.done(); });
  }();
  put_result(
      session, "", [&] { return matrix_json(matrix, machine.name); }, [&] { return matrix_text(matrix); }, &machine);
  if (!matrix.whole()) stopped(session, matrix.cells.size(), matrix.names.size(), "rows");
}

}  // namespace

void add_matrix(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("matrix", "Show one figure for every pair of GPUs");
  auto options = std::make_shared<MatrixOptions>();
  session.add_machine(*command);
  session.add_html(*command);
  command
      ->add_option("--metric", options->metric,
                   "Figure to show: bandwidth, latency, mechanism or class (PIX, PXB, ...)")
      ->check(one_of({"bandwidth", "latency", "mechanism", "class"}))
      ->capture_default_str();
  command->add_option("--bytes", options->bytes, "Size of each transfer; default: 256 MiB, for latency 16 B");
  command->add_option("--op", options->op, "Kind of transfer: copy, write, read, load_store, atomic, prefetch or fault")
      ->check(one_of({"copy", "write", "read", "load_store", "atomic", "prefetch", "fault"}))
      ->capture_default_str();
  command
      ->add_option("--mode", options->mode,
                   "model: compute each pair alone on an idle machine; sim: simulate it; estimate: as the planner "
                   "estimates it, without the simulator")
      ->check(CLI::IsMember({"model", "sim", kEstimateMode}));
  command->add_option("--places", options->places, "Ask for these places instead of all GPUs: gpu0..gpu3,cpu0,nic0")
      ->delimiter(',');
  command->add_flag("--bidirectional", options->bidirectional,
                    "Run both directions of each pair at once and show their sum (simulates)");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
