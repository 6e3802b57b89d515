// Verdicts for people and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/io/json.hpp"
#include "core/text/table.hpp"
#include "core/units/text.hpp"
#include "core/verdict/scenario_check.hpp"
#include "core/verdict/transfer_run.hpp"
#include "core/view/optimality.hpp"

namespace lanewise {
namespace {

bool belongs(ExpectationResult const& result, VariantRun const& run) {
  return result.machine == run.machine && result.variant == run.variant;
}

double worst_regret(VariantRun const& run) {
  double worst = 0;
  for (auto const& regret : run.regrets) worst = std::max(worst, regret.share());
  return worst;
}

std::vector<std::string> row_of(ScenarioVerdict const& verdict, VariantRun const& run) {
  int passed = 0;
  int all = 0;
  for (auto const& result : verdict.results) {
    if (!belongs(result, run) || !result.judged()) continue;
    ++all;
    passed += result.passed ? 1 : 0;
  }
  auto const ran = run.ran();
  auto const timed = ran && run.untimed.empty();
  bool const fine = (run.failure.empty() || run.failure_expected) && passed == all;
  return {verdict.scenario,
          run.machine,
          run.variant.empty() ? "" : run.variant,
          ran ? rounded_text(run.trace.makespan) : "",
          ran && run.bound ? rounded_text(run.bound->makespan) : "",
          timed && run.bound ? fmt::format("{:.1f} %", run.bound->gap(run.trace.makespan) * 100) : "",
          timed ? fmt::format("{:.1f} %", worst_regret(run) * 100) : "",
          fmt::format("{}/{}", passed, all),
          !fine                 ? "FAIL"
          : run.skipped.empty() ? "pass"
                                : "skip"};
}

std::string variant_of(std::string const& name) { return name.empty() ? "" : " (" + name + ")"; }

// What the nodes of a run were, where they were started for it; empty otherwise.
std::string nodes_of(VariantRun const& run) {
  auto const found = run.trace.environment.find(kNodesKey);
  return found == run.trace.environment.end() ? "" : found->second;
}

std::string where_in_file(SourcePos const& pos) {
  return pos.line > 0 ? fmt::format("{}:{}:{}", pos.file, pos.line, pos.column) : pos.file;
}

}  // namespace

std::string verdict_text(std::vector<ScenarioVerdict> const& verdicts) {
  // In both modes each scenario is there twice.
  bool const modes = std::any_of(verdicts.begin(), verdicts.end(),
                                 [&](ScenarioVerdict const& verdict) { return verdict.mode != verdicts.front().mode; });
  std::vector<std::string> header{"scenario", "machine", "variant",      "makespan", "at least",
                                  "gap",      "regret",  "expectations", "verdict"};
  if (modes) header.insert(header.begin(), "mode");
  Table table(header);
  std::string failures;
  std::string skipped;
  std::string reported;
  std::size_t failed = 0;
  std::size_t expectations = 0;
  std::set<std::string> nodes;
  std::map<std::string, std::size_t> untimed;  // reasons, and how many figures each keeps from being judged
  for (auto const& verdict : verdicts) {
    for (auto const& run : verdict.runs) {
      auto row = row_of(verdict, run);
      if (modes) row.insert(row.begin(), verdict.mode);
      table.add(std::move(row));
      if (auto const where = nodes_of(run); !where.empty()) nodes.insert(run.machine + ": " + where);
      if (!run.skipped.empty())
        skipped +=
            fmt::format("skip {} on {}{}: {}\n", verdict.scenario, run.machine, variant_of(run.variant), run.skipped);
      if (!run.failure.empty() && !run.failure_expected)
        failures +=
            fmt::format("FAIL {} on {}{}: {}\n", verdict.scenario, run.machine, variant_of(run.variant), run.failure);
    }
    for (auto const& result : verdict.results) {
      if (!result.judged()) {
        ++untimed[result.untimed];
        reported += fmt::format("time {} on {}{}: {}; found {}\n", verdict.scenario, result.machine,
                                variant_of(result.variant), result.what, result.found);
        continue;
      }
      ++expectations;
      if (result.passed) continue;
      failures += fmt::format("FAIL {}: {} on {}{}: expected {}; found {}\n", where_in_file(result.pos),
                              verdict.scenario, result.machine, variant_of(result.variant), result.what, result.found);
    }
    failed += verdict.passed() ? 0 : 1;
  }
  auto text = table.text();
  if (!failures.empty() || !skipped.empty() || !reported.empty()) text += "\n" + failures + skipped + reported;
  text += fmt::format("\n{} of {} scenarios pass, {} expectations checked\n", verdicts.size() - failed, verdicts.size(),
                      expectations);
  for (auto const& line : nodes) text += line + "\n";
  for (auto const& [why, count] : untimed)
    text += fmt::format("{} figures of time are reported and not judged ({})\n", count, why);
  return text;
}

nlohmann::ordered_json verdict_json(std::vector<ScenarioVerdict> const& verdicts) {
  nlohmann::ordered_json json{{"lanewise", "verdict/1"}};
  json["passed"] = std::all_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return verdict.passed(); });
  json["scenarios"] = nlohmann::ordered_json::array();
  for (auto const& verdict : verdicts) {
    nlohmann::ordered_json item{
        {"scenario", verdict.scenario}, {"title", verdict.title}, {"mode", verdict.mode}, {"passed", verdict.passed()}};
    for (auto const& run : verdict.runs) {
      nlohmann::ordered_json entry{{"machine", run.machine}, {"variant", run.variant}};
      if (!run.failure.empty())
        entry["failure"] = run.failure;
      else if (!run.skipped.empty())
        entry["skipped"] = run.skipped;
      else
        add_optimality(entry, run.trace.makespan, run.bound);
      if (auto const where = nodes_of(run); !where.empty()) entry["nodes"] = where;
      if (run.ran()) add_collective(entry, run.plan, run.trace.makespan);
      for (std::size_t i = 0; run.ran() && i < run.plan.decisions.size(); ++i) {
        auto const& decision = run.plan.decisions[i];
        auto const& chosen = decision.candidates[decision.chosen];
        auto const step = run_of(decision, run.trace);
        entry["decisions"].push_back({{"transfer", decision.transfer},
                                      {"mechanism", to_string(chosen.way.mechanism)},
                                      {"route", chosen.route},
                                      {"time_us", microseconds(step.duration())},
                                      {"bandwidth_GBps", gigabytes_per_second(step.rate())},
                                      {"alternatives", run.regrets[i].alternatives},
                                      {"not_run", run.regrets[i].not_run},
                                      {"best", run.regrets[i].best},
                                      {"regret", run.regrets[i].share()}});
      }
      item["runs"].push_back(std::move(entry));
    }
    item["results"] = nlohmann::ordered_json::array();
    for (auto const& result : verdict.results) {
      nlohmann::ordered_json entry{{"machine", result.machine}, {"variant", result.variant}, {"expected", result.what}};
      entry["passed"] = result.judged() ? nlohmann::ordered_json(result.passed) : nlohmann::ordered_json(nullptr);
      if (!result.judged()) entry["not_judged"] = result.untimed;
      entry["found"] = result.found;
      entry["at"] = where_in_file(result.pos);
      item["results"].push_back(std::move(entry));
    }
    json["scenarios"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
