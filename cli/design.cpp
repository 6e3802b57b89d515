// lanewise design and lanewise rank: candidates compared by jobs, before anything is bought.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/evaluation_options.hpp"
#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/design/comparison.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/design_text.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

struct DesignOptions {
  std::string brief;
  std::vector<std::string> machines, jobs;  // of rank
  std::string library;
  std::string mode = "sim";
  std::string faults;
  std::string csv, output;
  bool sensitivity = false;
  bool bill = false;
  std::size_t draws = 200;
  std::uint64_t seed = 1;
  EvaluationOptions evaluation;
  std::string generated;  // a folder
};

// "a 1.000, b 0.752": the best of a ranking.
std::string ranking_words(DesignComparison const& first) {
  constexpr std::size_t kNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < first.candidates.size() && i < kNamed; ++i)
    text +=
        fmt::format("{}{} {:.3f}", i == 0 ? "" : ", ", first.candidates[i].candidate.name, first.candidates[i].score);
  return text;
}

// Writes the files of generated candidates that were evaluated in detail.
void write_generated(DesignComparison const& comparison, std::filesystem::path const& folder) {
  std::filesystem::create_directories(folder);
  for (auto const& result : comparison.candidates) {
    auto const& candidate = result.candidate;
    if (!result.is_final || candidate.source.empty()) continue;
    write_file(folder / (candidate.name + ".yaml"), candidate.source);
    // A cluster's nodes are looked for beside it.
    if (!candidate.node_source.empty()) write_file(folder / (candidate.node_name + ".yaml"), candidate.node_source);
  }
}

void compare(Session& session, DesignBrief const& brief, DesignOptions const& options) {
  InterruptScope const interruptible;
  std::optional<PriceList> prices;
  if (!brief.prices.empty()) prices = read_prices(SourceText::load(brief.prices));
  Evaluations evaluations(options.evaluation);
  std::optional<Progress> progress(std::in_place, "comparing " + brief.name);
  std::string first_ranking;  // told once the rest takes long enough to be waited for
  auto const begun = std::chrono::steady_clock::now();
  ProgressScope const listening([&](WorkProgress const& now) {
    if (!progress) return;
    if (!first_ranking.empty() && std::chrono::steady_clock::now() - begun > std::chrono::seconds(2))
      progress->say(std::exchange(first_ranking, ""));
    progress->at(now);
  });
  DesignContext context{.catalogue = session.catalogue,
                        .store = evaluations.store,
                        .prices = prices ? &*prices : nullptr,
                        .draws = options.draws,
                        .seed = options.seed,
                        .workers = evaluations.workers};
  if (options.mode == "sim") {
    context.make_executor = [](Model const& model) { return make_executor("sim", model, {}); };
    context.first_ranking = [&](DesignComparison const& first) {
      first_ranking = "estimated: " + ranking_words(first) + "; the best are simulated now";
    };
  }
  auto const comparison = evaluations.run([&] { return compare_candidates(brief, context); });
  progress.reset();
  if (evaluations.workers.rank > 0) return;  // the first process prints
  if (!options.generated.empty()) write_generated(comparison, options.generated);
  if (!options.csv.empty()) write_file(options.csv, design_csv(comparison));
  put_result(
      session, options.output, [&] { return design_json(comparison); },
      [&] { return design_text(comparison) + (options.bill ? bills_text(comparison) : ""); });
  bool const has_failure = std::any_of(comparison.candidates.begin(), comparison.candidates.end(),
                                       [](CandidateResult const& one) { return !one.failure.empty(); });
  if (has_failure)
    session.exit_code = ExitCode::BadInput;
  else if (!comparison.any_meets_limits())
    session.exit_code = ExitCode::ExpectationFailed;
}

void override_brief(DesignBrief& brief, DesignOptions const& options) {
  if (!options.library.empty()) brief.library = library_of(options.library);
  if (!options.faults.empty()) brief.faults = argument(parse_fault_scope(options.faults));
  brief.sensitivity = brief.sensitivity || options.sensitivity;
}

void design(Session& session, DesignOptions const& options) {
  auto brief = read_design_brief(SourceText::load(options.brief));
  override_brief(brief, options);
  compare(session, brief, options);
}

void rank(Session& session, DesignOptions const& options) {
  DesignBrief brief;
  brief.name = "rank";
  for (auto const& machine : options.machines)
    brief.candidates.push_back({.name = machine, .machine = machine, .settings = {}, .power = {}});
  for (auto const& job : options.jobs) brief.jobs.push_back(job_named(job));
  override_brief(brief, options);
  compare(session, brief, options);
}

void add_common(CLI::App& command, Session& session, DesignOptions& options) {
  command
      .add_option("--library", options.library,
                  "Rank by the collectives of nccl, nccl-VERSION (2.18 to 2.30) or rccl; best: as well as possible")
      ->type_name("LIBRARY");
  command
      .add_option("--mode", options.mode,
                  "sim: estimate all candidates, then simulate the ten best with full effort; estimate: without the "
                  "simulator")
      ->check(CLI::IsMember({"sim", "estimate"}))
      ->capture_default_str();
  command
      .add_option("--faults", options.faults,
                  "each: every component lost or halved, one at a time; pairs: every two of them; none")
      ->check(CLI::IsMember({"each", "pairs", "none"}));
  command.add_flag("--sensitivity", options.sensitivity,
                   "Move every ranged figure, one at a time and all together, and say how sure the ranking is");
  command.add_option("--draws", options.draws, "How often all ranged figures are drawn together")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of the draws: the same seed gives the same result")
      ->capture_default_str();
  command.add_flag("--bill", options.bill, "Also print the bill of materials: parts, cables, lanes, watts, prices");
  command.add_option("--csv", options.csv, "Also write a row for each candidate and job to this file")
      ->type_name("FILE");
  command.add_option("-o,--output", options.output, "Also write the result as JSON to this file")->type_name("FILE");
  add_evaluation(command, options.evaluation);
  session.add_json(command);
  session.add_html(command);
}

}  // namespace

void add_design(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("design",
                                     "Rank machines and clusters by jobs, with price, power, failures, and how sure "
                                     "the ranking is; the exit code is 1 "
                                     "when none meets the limits");
  auto const options = std::make_shared<DesignOptions>();
  command->add_option("brief", options->brief, "A design brief (docs/design.md)")->required()->type_name("BRIEF");
  command
      ->add_option("--write-generated", options->generated,
                   "Write the files of the best generated candidates to this folder")
      ->type_name("FOLDER");
  add_common(*command, session, *options);
  command->callback([&session, options] { design(session, *options); });
}

void add_rank(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("rank", "Rank machines and clusters by jobs: the short form of design");
  auto const options = std::make_shared<DesignOptions>();
  options->jobs = {"all_reduce:1 GiB"};
  command->add_option("machines", options->machines, "Machine or cluster files, or names of bundled ones")
      ->required()
      ->type_name("MACHINE");
  command
      ->add_option("--job", options->jobs,
                   "A scenario, by file or name, or a collective of all GPUs: \"all_reduce:1 GiB\"; may be repeated")
      ->type_name("SCENARIO|COLLECTIVE:SIZE");
  add_common(*command, session, *options);
  command->callback([&session, options] { rank(session, *options); });
}

}  // namespace lanewise::cli
