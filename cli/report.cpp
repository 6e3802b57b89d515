#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/explain/library_report.hpp"
#include "core/explain/set_report.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/library_report_text.hpp"
#include "core/view/set_report_text.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

struct SetReportOptions {
  std::string bytes = "64 MiB";
  std::string effort = kFullEffort;
  std::string mode = "sim";
  bool markdown = false;
  std::string library = kBestPlan;
};

void run(Session& session, SetReportOptions const& options) {
  auto const bytes = argument(parse_bytes(options.bytes));
  auto const effort = argument(parse_effort(options.effort));
  auto const library = library_of(options.library);
  std::vector<SetResult> results;
  std::vector<LibraryRow> of_library;
  InterruptScope const interruptible;
  auto const add = [&](Machine const& machine) {
    if (library) {
      auto rows = evaluate_library(Model(machine), bytes, *library);
      of_library.insert(of_library.end(), rows.begin(), rows.end());
      return;
    }
    auto of_machine = evaluate_sets(Model(machine), bytes, effort,
                                    [&](Model const& model) { return make_executor(options.mode, model, {}); });
    results.insert(results.end(), of_machine.begin(), of_machine.end());
  };
  bool const one = !session.machine_name.empty();
  auto const names = one ? std::vector{session.machine_name} : session.catalogue.machine_names();
  std::size_t done = 0;
  try {
    Progress progress("machines", names.size());
    for (auto const& name : names) {
      progress.doing(name);
      auto machine = one ? session.machine() : session.catalogue.machine(name);
      if (!one) session.apply_settings(machine);
      add(machine);
      progress.done();
      ++done;
    }
  } catch (Interrupted const&) {
    if (results.empty() && of_library.empty()) throw;
  }
  if (library)
    put_result(
        session, "", [&] { return library_report_json(of_library); }, [&] { return library_report_text(of_library); });
  else
    put_result(
        session, "", [&] { return set_report_json(results); },
        [&] { return one && !options.markdown ? set_report_text(results) : set_report_markdown(results); });
  if (done < names.size()) stopped(session, done, names.size(), "machines");
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("report",
                         "Plan and simulate many transfers at once: all-to-all, all-gather, incast, "
                         "shifts, a permutation; beside the lower "
                         "bound, an unplanned start of all at once, and simple algorithms. With --library: what the "
                         "library does with collectives, beside the best plan");
  auto options = std::make_shared<SetReportOptions>();
  session.add_machine(*command, "machine", false);
  session.add_html(*command);
  command->add_option("--bytes", options->bytes, "Size of each transfer")->capture_default_str();
  add_effort(*command, options->effort);
  command
      ->add_option("--mode", options->mode, "sim: simulate; estimate: as the planner estimates, without the simulator")
      ->check(CLI::IsMember({"sim", kEstimateMode}))
      ->capture_default_str();
  add_library(*command, options->library);
  command->add_flag("--markdown", options->markdown, "Print the Markdown of docs/set-report.md: one row a machine");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
