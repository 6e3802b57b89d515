#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command_description.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/spelling.hpp"
#include "core/view/why_run_text.hpp"
#include "core/view/why_text.hpp"
#include "lanewise/explain/choice_explanation.hpp"
#include "lanewise/explain/run_explanation.hpp"
#include "lanewise/io/bundled.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct WhyOptions {
  PlanningOptions input;
  std::string from, to;
  std::string bytes = "256 MiB";
  std::string op = "copy";
};

void print_choice_explanation(Session& session, WhyOptions const& options) {
  if (!session.machine_name.empty())
    throw InputError("--on is for scenarios; write the machine first: why MACHINE FROM TO");
  if (options.to.empty()) throw InputError("the destination is missing: why MACHINE FROM TO");
  session.machine_name = options.input.file;
  auto const pair = explain_pair(session.machine(), options.from, options.to, argument(parse_bytes(options.bytes)),
                                 argument(parse_op(options.op)));
  put_result(
      session, "", [&] { return why_json(pair.choice, pair.machine); },
      [&] { return why_text(pair.choice, pair.machine); }, &pair.machine);
}

void print_run_explanation(Session& session, WhyOptions const& options) {
  InterruptScope const interruptible;
  std::optional<Progress> progress(std::in_place, "planning and explaining " + options.input.file);
  auto const listening = listen(progress);
  auto const [model, plan, best, replan] = prepare(session, options.input);
  auto const trace = sim::make_executor(model)->run(plan);
  auto const explanation = explain_run(plan, trace, model, Replanner{replan, sim::make_executor});
  progress.reset();
  auto const& machine = model.machine();
  put_result(
      session, "", [&] { return why_run_json(explanation, machine); },
      [&] { return why_run_text(explanation, machine); }, &machine);
}

void run(Session& session, WhyOptions const& options) {
  if (!options.from.empty()) return print_choice_explanation(session, options);
  std::error_code error;
  auto const& input = options.input.file;
  bool const is_file = std::filesystem::exists(input, error) && !std::filesystem::is_directory(input, error);
  if (!is_file && !bundled_scenario(input))
    throw InputError(fmt::format("'{}' is no scenario{} for a machine, name two places: why MACHINE FROM TO", input,
                                 did_you_mean_first(input, bundled_scenario_names())));
  print_run_explanation(session, options);
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("why",
                         "Explain a transfer or a scenario\n"
                         "MACHINE FROM TO: which way a transfer takes, and what refuses or slows the others\n"
                         "SCENARIO [--on MACHINE]: why it takes so long: critical path, what is busiest "
                         "when, what would help");
  auto options = std::make_shared<WhyOptions>();
  command
      ->add_option("input", options->input.file,
                   "A machine or cluster; a scenario file, the name of a bundled one, or a plan")
      ->required()
      ->type_name("MACHINE|SCENARIO");
  command
      ->add_option("from", options->from,
                   "Place the data comes from: gpu0, nic0, nvme0, cpu0 or numa0 (host memory), node1/gpu0")
      ->type_name("PLACE");
  command->add_option("to", options->to, "Place the data goes to")->type_name("PLACE");
  session.add_machine(*command, "--on", false);
  session.add_html(*command);
  command->add_option("--bytes", options->bytes, "Size of the transfer")->capture_default_str();
  command->add_option("--op", options->op, "Kind of transfer: copy, write, read, load_store, atomic, prefetch or fault")
      ->check(one_of({"copy", "write", "read", "load_store", "atomic", "prefetch", "fault"}))
      ->capture_default_str();
  add_planning(*command, options->input);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
