// The program: parses the command line, runs one subcommand, turns errors into exit codes.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/io/error.hpp"

namespace {

using lanewise::cli::ExitCode;

int run(int argc, char** argv) {
  CLI::App app{"Plans GPU data transfers, and proves the plan right in simulation and on hardware.\nRates are decimal (GB/s = 1e9 bytes/s), sizes binary (MiB, GiB).", "lanewise"};
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return fmt::format("lanewise {}\n{}", LANEWISE_VERSION, lanewise::cli::executors_text()); }, "version, and which executors this build has");
  lanewise::cli::Session session;
  lanewise::cli::add_show(app, session);
  lanewise::cli::add_why(app, session);
  lanewise::cli::add_matrix(app, session);
  lanewise::cli::add_plan(app, session);
  lanewise::cli::add_run(app, session);
  lanewise::cli::add_check(app, session);
  lanewise::cli::add_compare(app, session);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    auto const code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::BadInput);
  }
  return static_cast<int>(session.exit_code);
}

int failed(std::exception const& error, ExitCode code) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", error.what());
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (lanewise::MissingError const& error) {
    return failed(error, ExitCode::Missing);
  } catch (std::exception const& error) {
    return failed(error, ExitCode::BadInput);
  }
}
