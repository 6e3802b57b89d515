#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_description.hpp"
#include "cli/evaluation_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/design/faults.hpp"
#include "core/explain/whatif.hpp"
#include "core/io/interrupt.hpp"
#include "core/text/percent.hpp"
#include "core/view/design_text.hpp"
#include "core/view/whatif_text.hpp"
#include "lanewise/explain/places.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct WhatifOptions {
  std::string bytes = "256 MiB";
  std::string op = "copy";
  std::vector<std::string> places;
  std::string faults;             // "each", "pairs"
  std::vector<std::string> jobs;  // of --faults
  EvaluationOptions evaluation;   // of --faults
};

// What each failure costs an all-reduce and an all-to-all of all GPUs, or the jobs of --job.
void run_faults(Session& session, WhatifOptions const& options) {
  auto const machine = session.machine();
  auto texts = options.jobs;
  if (texts.empty())
    for (auto const* op : {"all_reduce", "all_to_all"}) texts.push_back(fmt::format("{}:{}", op, options.bytes));
  std::vector<DesignJob> jobs;
  for (auto const& text : texts) jobs.push_back(job_named(text));
  auto const scope = argument(parse_fault_scope(options.faults));
  InterruptScope const interruptible;
  Evaluations evaluations(options.evaluation);
  std::optional<Progress> progress(std::in_place, "faults of " + machine.name);
  auto const listening = listen(progress);
  auto const report = evaluations.run([&] {
    Evaluator evaluator(session.catalogue, evaluations.store, evaluations.workers);
    DesignCandidate const candidate{.name = machine.name, .machine = machine.name, .settings = {}, .power = {}};
    Subject subject{.candidate = std::make_shared<DesignCandidate const>(candidate),
                    .fingerprint = evaluation_fingerprint(machine),
                    .machine = std::make_shared<Machine const>(machine)};
    FaultStudy const study(machine, std::move(subject), jobs, {}, scope, evaluator);
    evaluator.run("evaluating failures");
    return study.report();
  });
  progress.reset();
  if (evaluations.workers.rank > 0) return;  // the first process prints
  if (!report.why_none.empty())
    throw PlanError(fmt::format("nothing to lose on {}: {}", machine.name, report.why_none));
  put_result(
      session, {}, [&] { return faults_json(report, jobs); },
      [&] {
        return fmt::format(
            "{}: {} failures, {} at a time; of the speed of these jobs {} is left in the mean, {} at worst\n\n{}",
            machine.name, report.failures, scope == FaultScope::Pairs ? "two" : "one", percent_text(report.resilience),
            percent_text(report.worst_kept), faults_text(report, jobs));
      },
      &machine);
}

void run(Session& session, WhatifOptions const& options) {
  if (!options.faults.empty()) return run_faults(session, options);
  auto const& evaluation = options.evaluation;
  if (evaluation.processes > 0 || !evaluation.results.empty() || !evaluation.merged.empty())
    throw InputError("--processes, --results, --resume and --merge are for --faults");
  if (session.settings.empty())
    throw InputError("no change is given; add --set, such as --set acs=on, or --faults each");
  Model const before(session.machine_before_settings());
  Model const after(session.machine());
  WhatIfQuery const question{
      options.places.empty() ? all_endpoints(before.machine()) : places_named(before.machine(), options.places),
      argument(parse_bytes(options.bytes)), Bytes(16), argument(parse_op(options.op))};
  if (question.bytes == Bytes(0)) throw InputError("--bytes: a transfer must have more than 0 bytes");
  auto const before_executor = sim::make_executor_if_available(before);
  auto const after_executor = sim::make_executor_if_available(after);
  InterruptScope const interruptible;
  auto const found = [&] {
    Progress const progress("comparing pairs of " + before.machine().name);
    return what_if(before, after, question, before_executor.get(), after_executor.get());
  }();
  auto const& machine = before.machine();
  put_result(
      session, "",
      [&] { return whatif_json(found, what_if_matrices(before, after, question), machine.name, session.settings); },
      [&] { return whatif_text(found, machine.name, session.settings); }, &machine);
}

}  // namespace

void add_whatif(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("whatif", "Show what a change of settings does to every pair, worst first, and why");
  auto options = std::make_shared<WhatifOptions>();
  session.add_machine(*command);
  session.add_html(*command);
  command->add_option("--bytes", options->bytes, "Size of each transfer; latency is that of 16 B")
      ->capture_default_str();
  command->add_option("--op", options->op, "Kind of transfer: copy, write, read, load_store, atomic, prefetch or fault")
      ->check(one_of({"copy", "write", "read", "load_store", "atomic", "prefetch", "fault"}))
      ->capture_default_str();
  command->add_option("--places", options->places, "Ask only for these places: gpu0..gpu3,nic0,cpu0")->delimiter(',');
  auto* faults = command->add_option(
      "--faults", options->faults,
      "each: instead of a change, every component lost or halved, one at a time, and what that costs an "
      "all-reduce and an all-to-all of all GPUs; pairs: every two of them");
  faults->check(CLI::IsMember({"each", "pairs"}));
  add_evaluation(*command, options->evaluation);
  command
      ->add_option("--job", options->jobs,
                   "With --faults: other jobs, as `lanewise rank` takes them: a scenario, or all_gather:1 GiB")
      ->needs(faults)
      ->type_name("SCENARIO|COLLECTIVE:SIZE");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
