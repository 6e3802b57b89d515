#pragma once
// What `check` writes, prints and ends with.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "core/verdict/baseline.hpp"
#include "core/verdict/both_modes.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise::cli {

struct CheckReport {
  std::vector<ScenarioVerdict> verdicts;
  std::optional<std::vector<BothModes>> both = {};
  std::optional<BaselineComparison> comparison = {};
};

class ReportOptions {
 public:
  void add_to(CLI::App& command);
  // Reads the baseline, and checks what must be right before anything runs. Throws InputError.
  void prepare();
  // Compares with the baseline where there is one, writes the files, prints, and sets the exit code.
  void report(Session& session, CheckReport report) const;
  // The user stopped the program after some of `count` scenarios: prints these. Files are written whole or not at all.
  void stop(Session& session, std::vector<ScenarioVerdict> const& verdicts, std::size_t count,
            std::string const& runs_file) const;
  // Warns of something at a place of a scenario.
  void warn(SourcePos const& pos, std::string const& message) const;

 private:
  std::string junit_, summary_, baseline_file_;
  std::string annotations_;  // whose form they have; empty: none
  std::string tolerance_ = "2%";
  std::vector<std::string> fail_on_{"slower", "mechanism"};
  BaselineOptions options_;
  std::optional<Baseline> baseline_;
};

}  // namespace lanewise::cli
