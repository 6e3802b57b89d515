// The program: parses the command line, runs one subcommand, and turns errors into exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "cli/failure.hpp"
#include "cli/session.hpp"
#include "core/io/spelling.hpp"
#include "hw/hw_library.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace {

using lanewise::cli::ExitCode;

// Names a misspelt command. CLI11 would only say that a command is required.
void refuse_unknown_command(CLI::App const& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (auto const* command : app.get_subcommands([](CLI::App const*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  auto const hint = lanewise::did_you_mean(argv[1], names);
  throw lanewise::InputError(fmt::format("no command is called '{}'{} commands: {}", argv[1], hint.empty() ? ";" : hint,
                                         fmt::join(names, ", ")));
}

// The version, and a line an executor: what is built in, or why it is not.
std::string version_text() {
  return fmt::format("lanewise {}\nsim: {}\nhw:  {}\n", LANEWISE_VERSION, lanewise::sim::about(),
                     lanewise::hw::hardware().about());
}

// As it could be typed again to get the same result: without the page itself.
std::string command_line_of_page(int argc, char** argv) {
  std::vector<char const*> arguments;
  for (int i = 0; i < argc; ++i) {
    std::string_view const argument = argv[i];
    if (argument == "--html")
      ++i;
    else if (!argument.starts_with("--html="))
      arguments.push_back(argv[i]);
  }
  return lanewise::cli::command_line(static_cast<int>(arguments.size()), arguments.data());
}

int run(int argc, char** argv) {
  CLI::App app{
      "Plan GPU data transfers, and check the plans in simulation and on hardware.\nRates are decimal (GB/s = "
      "1e9 bytes/s), sizes binary (MiB, GiB).",
      "lanewise"};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Print the version, and which executors this build has");
  lanewise::cli::Session session;
  session.command_line = command_line_of_page(argc, argv);
  lanewise::cli::add_list(app, session);
  lanewise::cli::add_show(app, session);
  lanewise::cli::add_why(app, session);
  lanewise::cli::add_whatif(app, session);
  lanewise::cli::add_matrix(app, session);
  lanewise::cli::add_plan(app, session);
  lanewise::cli::add_run(app, session);
  lanewise::cli::add_check(app, session);
  lanewise::cli::add_workload(app, session);
  lanewise::cli::add_design(app, session);
  lanewise::cli::add_rank(app, session);
  lanewise::cli::add_explore(app, session);
  lanewise::cli::add_compare(app, session);
  lanewise::cli::add_diff(app, session);
  lanewise::cli::add_report(app, session);
  lanewise::cli::add_measure(app, session);
  lanewise::cli::add_accuracy(app, session);
  lanewise::cli::add_calibrate(app, session);
  lanewise::cli::add_judge(app, session);
  lanewise::cli::add_doctor(app, session);
  lanewise::cli::add_emulate(app, session);
  lanewise::cli::add_export(app, session);
  lanewise::cli::add_import(app, session);
  lanewise::cli::add_discover(app, session);
  refuse_unknown_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    auto const code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::BadInput);
  }
  return static_cast<int>(session.exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lanewise::cli;
  auto const command = command_line(argc, argv);
  report_on_terminate(command);
  reserve_memory_to_unwind();
  try {
    return run(argc, argv);
  } catch (...) {
    auto const failure = failure_of(std::current_exception(), command);
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", failure.message);
    return static_cast<int>(failure.code);
  }
}
