// lanewise diff: what differs between two machine or cluster files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/difference_options.hpp"
#include "cli/session.hpp"
#include "core/view/machine/difference_text.hpp"

namespace lanewise::cli {
namespace {

struct DiffOptions {
  std::string first, second;
  DifferenceArguments arguments;
};

void run(Session& session, DiffOptions const& options) {
  auto const expected = options.arguments.parsed();
  auto comparison =
      compare_machines(session.catalogue.machine(options.first), session.catalogue.machine(options.second));
  mark_expected(comparison, expected);
  put_result(
      session, {}, [&] { return difference_json(comparison); }, [&] { return difference_text(comparison); });
  if (comparison.result() == ComparisonResult::Different) session.exit_code = ExitCode::ExpectationFailed;
}

}  // namespace

void add_diff(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("diff", "Show what differs between two machines or clusters");
  auto const options = std::make_shared<DiffOptions>();
  command->add_option("first", options->first, "A machine or cluster: a bundled name or a file")
      ->required()
      ->type_name("MACHINE");
  command->add_option("second", options->second, "The one to compare it with")->required()->type_name("MACHINE");
  options->arguments.add_to(*command);
  session.add_json(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
