// lanewise explore: a page on this host that changes with what is tried.
#include "explore/exploration.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/design/brief.hpp"
#include "core/io/file_fence.hpp"
#include "core/io/interrupt.hpp"
#include "core/machine/setting_value.hpp"
#include "core/reference/file_kind.hpp"
#include "explore/server.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "pages/page.hpp"

namespace lanewise::cli {
namespace fs = std::filesystem;
namespace {

struct ExploreOptions {
  std::string input;
  std::vector<std::string> jobs;
  int port = 0;
};

bool is_brief(std::string const& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && file_kind(SourceText::load(file)) == FileKind::Design;
}

OpenedMachine opened_candidate(Catalogue& catalogue, DesignCandidate const& candidate) {
  auto opened = open_machine(catalogue, candidate.machine);
  opened.name = candidate.name;
  for (auto const& setting : candidate.settings) opened.settings.push_back(text_of(setting));
  return opened;
}

// Listens until Ctrl-C, which is how this command ends.
void run(Session& session, ExploreOptions const& options) {
  std::vector<OpenedMachine> opened;
  std::vector<DesignJob> jobs;
  for (auto const& job : options.jobs) jobs.push_back(job_named(job));
  if (is_brief(options.input)) {
    auto const brief = read_design_brief(SourceText::load(options.input));
    for (auto const& candidate : brief.candidates) {
      opened.push_back(opened_candidate(session.catalogue, candidate));
      auto& settings = opened.back().settings;
      settings.insert(settings.end(), session.settings.begin(), session.settings.end());
    }
    if (jobs.empty()) jobs = brief.jobs;
  } else if (!options.input.empty()) {
    opened.push_back(open_machine(session.catalogue, options.input));
    opened.back().settings = session.settings;
  } else if (!session.settings.empty()) {
    throw InputError("--set changes a machine; name one");
  }
  auto const folder = fs::current_path();
  Exploration exploration(session.catalogue, std::move(opened), std::move(jobs), folder);
  PageContent content{.title = "lanewise explore" + (options.input.empty() ? "" : " " + options.input),
                      .made_by = fmt::format("lanewise {}", LANEWISE_VERSION),
                      .result = exploration.start(),
                      .may_ask = true};
  html_page(content);  // says now where this program draws no pages
  auto const server =
      make_exploration_server({[&] {
                                 content.result = exploration.start();
                                 return html_page(content);
                               },
                               [&](Exploration::Json const& request) { return exploration.open(request); },
                               [&](Exploration::Json const& request) { return exploration.evaluate(request); },
                               [&](Exploration::Json const& request) { return exploration.save(request); }},
                              options.port);
  auto readable = topology_folders();
  readable.push_back(folder);
  FileFence const fence(readable);
  InterruptScope const interruptible;
  if (session.json)
    fmt::print("{}\n",
               nlohmann::ordered_json{{"lanewise", "explore_address/1"}, {"address", server->address()}}.dump(2));
  else
    fmt::print("{}\n", server->address());
  std::fflush(stdout);
  fmt::print(stderr, "open this address in a browser on this host; files are read and saved in {}; Ctrl-C ends it\n",
             folder.string());
  server->run();
}

}  // namespace

void add_explore(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "explore",
      "Try changes of a machine in a browser: settings, links, parts, failures, or its file; every pair, a route and "
      "jobs follow, as the planner estimates them\n"
      "Serves 127.0.0.1 only, and asks for the token in the address that it prints");
  auto const options = std::make_shared<ExploreOptions>();
  command
      ->add_option("machine", options->input,
                   "A machine or cluster, by file or name; or a design brief, whose candidates and jobs are there; "
                   "without it the page asks")
      ->type_name("MACHINE|BRIEF");
  command
      ->add_option("--job", options->jobs,
                   "Time this instead of collectives of the page's size: a scenario, by file or name, or "
                   "\"all_reduce:1 GiB\"; may be repeated")
      ->type_name("SCENARIO|COLLECTIVE:SIZE");
  command
      ->add_option("--set", session.settings, "Begin with this setting: acs=on, off@gpu3, link@gpu3=\"gen3 x8\", ...")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--port", options->port, "Port to listen at; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  session.add_json(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
