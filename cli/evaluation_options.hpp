#pragma once
// The options of commands that evaluate many machines: how many processes share the work, and where results are kept.
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/design/shared_work.hpp"
#include "process/temporary_folder.hpp"

namespace lanewise::cli {

struct EvaluationOptions {
  int processes = 0;                // 0: as many as cores; of a launcher's processes each does it alone
  std::string results;              // a folder; empty: nothing is kept
  bool resume = false;              // use what is in it
  std::vector<std::string> merged;  // folders with more
};

// Where evaluations are kept while a command runs, and who shares them.
struct Evaluations {
  // Throws InputError for a folder that holds results without --resume, and where a launcher's processes have no folder
  // to share.
  explicit Evaluations(EvaluationOptions const& options);

  std::optional<TemporaryFolder> temporary;
  ResultStore store;
  Workers workers;

  // Runs the work. Where it is interrupted and results are kept, says how many are there.
  template <class Work>
  auto run(Work const& work) {
    try {
      return work();
    } catch (Interrupted const& stopped) {
      throw Interrupted(interrupted_words(stopped.what()));
    }
  }

 private:
  [[nodiscard]] std::string interrupted_words(std::string const& why) const;
};

// Adds --processes, --results, --resume and --merge.
void add_evaluation(CLI::App& command, EvaluationOptions& options);

}  // namespace lanewise::cli
