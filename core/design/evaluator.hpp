#pragma once
// Evaluations of machines by jobs, which several processes share and a store keeps.
//
//   auto const key = evaluator.add(subject, job, approach, detail, "first");
//   evaluator.run("evaluating candidates");
//   evaluator.evaluation(key).figures;
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/design/brief.hpp"
#include "core/design/evaluation.hpp"
#include "core/design/shared_work.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

// A machine that jobs are evaluated on.
struct Subject {
  std::shared_ptr<DesignCandidate const> candidate;  // its machine with its settings
  std::string fingerprint;                           // of that machine: evaluation_fingerprint()
  std::vector<Setting> failures = {};                // settings on top
  std::shared_ptr<Machine const> machine = {};       // absent: read anew where it is needed, which takes less memory
};

// What places of a machine can exchange.
struct PairFigures {
  std::string worst_pair;  // "gpu0 > gpu5"; empty: unknown
  std::optional<BytesPerSecond> worst_pair_rate;
  std::optional<BytesPerSecond> bisection;  // each way between two halves of the GPUs; absent: some pair has no way
};

// The machine's fingerprint, and the peak rates of its GPUs, of which that says nothing: the steps of a plan carry
// times, but those of a workload follow from the rates.
std::string evaluation_fingerprint(Machine const& machine);

class Evaluator {
 public:
  // The catalogue and the store must outlive it.
  Evaluator(Catalogue& catalogue, ResultStore& store, Workers workers)
      : catalogue_(catalogue), store_(store), workers_(workers) {}

  // The candidate's machine with its settings. Throws InputError.
  Machine machine(DesignCandidate const& candidate);

  // Each adds an evaluation for run(), and gives the key of its result. `job` must live until then. `detail_name` says
  // in a word what `detail` asks for.
  std::string add(Subject const& subject, DesignJob const& job, Approach const& approach,
                  EvaluationDetail const& detail, std::string_view detail_name);
  std::string add_pairs(Subject const& subject);
  // The time alone, by quick effort and the planner's estimate.
  std::string add_time(Subject const& subject, DesignJob const& job, std::optional<Library> const& library);

  // Does what was added and is not known yet. Throws as evaluate_missing().
  void run(std::string_view doing);

  // What run() found.
  [[nodiscard]] JobEvaluation evaluation(std::string const& key) const;
  [[nodiscard]] PairFigures pairs(std::string const& key) const;
  // Of add_time(): whether the machine can have these failures; not: it has not what should fail.
  [[nodiscard]] bool can_fail(std::string const& key) const;

 private:
  // The model of a subject, kept until that of another is asked for. Throws InputError.
  Model const& model(Subject const& subject);
  Model const& whole_model(Subject const& subject);
  std::string fingerprint_of(std::string const& machine);
  std::string key_of(std::string_view what, Subject const& subject, DesignJob const* job,
                     std::optional<Library> const& library, std::string_view detail);

  Catalogue& catalogue_;
  ResultStore& store_;
  Workers workers_;
  std::vector<WorkItem> items_;
  std::string model_of_, whole_model_of_;  // digests of what is kept
  std::unique_ptr<Model> model_, whole_model_;
  std::map<std::string, std::string> fingerprints_;  // of machines that steps are fitted to
};

}  // namespace lanewise
