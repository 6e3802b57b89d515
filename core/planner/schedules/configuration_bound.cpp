#include "core/planner/schedules/configuration_bound.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/planner/bound_limits.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

class BranchAndBound {
 public:
  BranchAndBound(std::span<PricedOption const> options, Model const& model, std::vector<double> const& capacities,
                 double known)
      : options_(options), model_(model), capacities_(capacities), known_(known) {
    for (auto const& option : options) {
      for (auto const& use : option.uses) resources_.emplace(use.resource, 0);
      for (auto const engine : option.engines) engines_.emplace(engine, 0);
    }
  }

  double run() {
    std::vector<Branch> open{{std::vector<Choice>(options_.size(), Choice::Open), kInfinity}};
    auto best = known_ * (1 + kBoundLimits.worth_tolerance);
    for (std::size_t programs = 0; !open.empty(); ++programs) {
      auto const highest = std::max_element(open.begin(), open.end(), less_worth);
      if (programs == kBoundLimits.max_programs) return std::max(best, highest->worth);
      auto branch = std::move(*highest);
      open.erase(highest);
      if (branch.worth <= best) continue;
      auto const rates = solve_relaxation(branch);
      if (!rates) continue;  // the chosen options need too many engines
      if (branch.worth <= best) continue;
      auto const fractional = most_fractional(branch, *rates);
      if (!fractional) {
        best = std::max(best, branch.worth);
        continue;
      }
      for (auto const choice : {Choice::In, Choice::Out}) {
        open.push_back(branch);
        open.back().choices[*fractional] = choice;
      }
    }
    return best;
  }

 private:
  static constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  enum class Choice : std::uint8_t { Open, In, Out };
  struct Branch {
    std::vector<Choice> choices;  // of each option
    double worth = 0;             // an upper bound
  };
  static bool less_worth(Branch const& a, Branch const& b) { return a.worth < b.worth; }

  // The rates worth most if an undecided option holds its engines only for the fraction of the time in which it would
  // move as much at its full rate. Lowers the branch's worth to that. Nullopt if the branch is infeasible.
  std::optional<std::vector<double>> solve_relaxation(Branch& branch) {
    LinearProgram program;
    for (auto& [resource, row] : resources_) row = program.add_row({.upper = capacities_[resource]});
    for (auto& [engine, row] : engines_) {
      auto left = static_cast<double>(model_.resources().at(engine).slots);
      for (std::size_t l = 0; l < options_.size(); ++l)
        if (branch.choices[l] == Choice::In)
          left -= static_cast<double>(std::count(options_[l].engines.begin(), options_[l].engines.end(), engine));
      if (left < 0) return std::nullopt;
      row = program.add_row({.upper = left});
    }
    for (std::size_t l = 0; l < options_.size(); ++l) {
      auto const& option = options_[l];
      if (branch.choices[l] != Choice::Out) {
        for (auto const& use : option.uses) program.entries.push_back({resources_.at(use.resource), use.weight});
        if (branch.choices[l] == Choice::Open) {
          std::map<int, double> held;
          for (auto const engine : option.engines) held[engines_.at(engine)] += 1 / option.rate;
          for (auto const& [row, of_rate] : held) program.entries.push_back({row, of_rate});
        }
        program.entries.push_back({program.add_row({.upper = option.rate}), 1});
      }
      program.end_column(branch.choices[l] == Choice::Out ? 0 : -option.price);
    }
    auto solution = solve(program);
    if (!solution) return std::vector<double>(options_.size(), 0);  // the branch keeps its worth
    branch.worth = std::min(branch.worth, worth_at_most(branch, program, solution->duals));
    return std::move(solution->x);
  }
  // By weak duality at any nonnegative duals, so that rounding in the solver cannot make it too small: what the rows
  // allow, at their duals, plus the full rate of every option that is worth more than what it uses.
  [[nodiscard]] double worth_at_most(Branch const& branch, LinearProgram const& program,
                                     std::vector<double> const& duals) const {
    auto const cost_of = [&](int row) { return std::max(0.0, -duals[static_cast<std::size_t>(row)]); };
    double worth = 0;
    for (auto const& [resource, row] : resources_) worth += cost_of(row) * capacities_[resource];
    for (auto const& [engine, row] : engines_)
      worth += cost_of(row) * program.rows[static_cast<std::size_t>(row)].upper;
    for (std::size_t l = 0; l < options_.size(); ++l) {
      if (branch.choices[l] == Choice::Out) continue;
      auto gain = options_[l].price;
      for (auto const& use : options_[l].uses) gain -= cost_of(resources_.at(use.resource)) * use.weight;
      if (branch.choices[l] == Choice::Open)
        for (auto const engine : options_[l].engines) gain -= cost_of(engines_.at(engine)) / options_[l].rate;
      worth += std::max(0.0, gain) * options_[l].rate;
    }
    return worth;
  }

  // The undecided option whose use of an overcommitted engine is furthest from none or all of the time; nullopt if
  // there are enough engines for all options that move.
  [[nodiscard]] std::optional<std::size_t> most_fractional(Branch const& branch,
                                                           std::vector<double> const& rates) const {
    constexpr double kMinRate = 1e-9;
    std::map<EngineId, int> held;
    for (std::size_t l = 0; l < options_.size(); ++l)
      if (branch.choices[l] == Choice::In || rates[l] > kMinRate * options_[l].rate)
        for (auto const engine : options_[l].engines) ++held[engine];
    std::optional<std::size_t> most;
    double furthest = 0;
    for (std::size_t l = 0; l < options_.size(); ++l) {
      if (branch.choices[l] != Choice::Open || rates[l] <= kMinRate * options_[l].rate) continue;
      bool const too_many = std::any_of(options_[l].engines.begin(), options_[l].engines.end(), [&](EngineId engine) {
        return held[engine] > model_.resources().at(engine).slots;
      });
      auto const part = rates[l] / options_[l].rate;
      if (!too_many || std::min(part, 1 - part) < furthest) continue;
      furthest = std::min(part, 1 - part);
      most = l;
    }
    return most;
  }

  std::span<PricedOption const> options_;
  Model const& model_;
  std::vector<double> const& capacities_;
  double known_ = 0;
  std::map<std::uint32_t, int> resources_;  // in use, with their rows
  std::map<EngineId, int> engines_;
};

}  // namespace

double max_reduced_value(std::span<PricedOption const> options, Model const& model,
                         std::vector<double> const& capacities, double known) {
  if (!linear_solver()) return std::numeric_limits<double>::infinity();
  return BranchAndBound(options, model, capacities, known).run();
}

}  // namespace lanewise
