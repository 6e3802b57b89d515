#include "core/planner/schedules/configuration_bound.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxPrograms = 400;
// What is worth so little more than what is known is not looked for.
constexpr double kHardlyMore = 0.002;

class BranchAndBound {
 public:
  BranchAndBound(std::span<PricedOption const> lanes, Model const& model, std::vector<double> const& capacities,
                 double known)
      : lanes_(lanes), model_(model), capacities_(capacities), known_(known) {
    for (auto const& lane : lanes) {
      for (auto const& use : lane.uses) resources_.emplace(use.resource, 0);
      for (auto const engine : lane.engines) engines_.emplace(engine, 0);
    }
  }

  double run() {
    std::vector<Branch> open{{std::vector<Choice>(lanes_.size(), Choice::Open), kInfinity}};
    auto most = known_ * (1 + kHardlyMore);
    for (std::size_t programs = 0; !open.empty(); ++programs) {
      auto const worst = std::max_element(open.begin(), open.end(), less_worth);
      if (programs == kMaxPrograms) return std::max(most, worst->worth);
      auto branch = std::move(*worst);
      open.erase(worst);
      if (branch.worth <= most) continue;
      auto const rates = relaxed(branch);
      if (!rates) continue;  // more chosen than engines hold
      if (branch.worth <= most) continue;
      auto const divided = most_divided(branch, *rates);
      if (!divided) {
        most = std::max(most, branch.worth);
        continue;
      }
      for (auto const choice : {Choice::In, Choice::Out}) {
        open.push_back(branch);
        open.back().choices[*divided] = choice;
      }
    }
    return most;
  }

 private:
  static constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  enum class Choice : std::uint8_t { Open, In, Out };
  struct Branch {
    std::vector<Choice> choices;  // of each lane
    double worth = 0;             // at most
  };
  static bool less_worth(Branch const& a, Branch const& b) { return a.worth < b.worth; }

  // The rates worth most where a lane not chosen yet holds its engines only for as much of the time as it moves at its
  // full rate. Sets what the branch is worth at most.
  std::optional<std::vector<double>> relaxed(Branch& branch) {
    LinearProgram program;
    for (auto& [resource, row] : resources_) row = program.add_row({.upper = capacities_[resource]});
    for (auto& [engine, row] : engines_) {
      auto left = static_cast<double>(model_.resources().at(engine).slots);
      for (std::size_t l = 0; l < lanes_.size(); ++l)
        if (branch.choices[l] == Choice::In)
          left -= static_cast<double>(std::count(lanes_[l].engines.begin(), lanes_[l].engines.end(), engine));
      if (left < 0) return std::nullopt;
      row = program.add_row({.upper = left});
    }
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      auto const& lane = lanes_[l];
      if (branch.choices[l] != Choice::Out) {
        for (auto const& use : lane.uses) program.entries.push_back({resources_.at(use.resource), use.weight});
        if (branch.choices[l] == Choice::Open) {
          std::map<int, double> held;
          for (auto const engine : lane.engines) held[engines_.at(engine)] += 1 / lane.rate;
          for (auto const& [row, of_rate] : held) program.entries.push_back({row, of_rate});
        }
        program.entries.push_back({program.add_row({.upper = lane.rate}), 1});
      }
      program.end_column(branch.choices[l] == Choice::Out ? 0 : -lane.price);
    }
    auto solution = solve(program);
    if (!solution) return std::vector<double>(lanes_.size(), 0);  // the branch stays worth what it was
    branch.worth = std::min(branch.worth, worth_at_most(branch, program, solution->duals));
    return std::move(solution->x);
  }
  // With any duals, none of the wrong sign, so that rounding in the solver cannot make it too little: what the rows
  // allow costs their duals, and a lane moves at its full rate if it is worth more than what it takes of them.
  [[nodiscard]] double worth_at_most(Branch const& branch, LinearProgram const& program,
                                     std::vector<double> const& duals) const {
    auto const cost_of = [&](int row) { return std::max(0.0, -duals[static_cast<std::size_t>(row)]); };
    double worth = 0;
    for (auto const& [resource, row] : resources_) worth += cost_of(row) * capacities_[resource];
    for (auto const& [engine, row] : engines_)
      worth += cost_of(row) * program.rows[static_cast<std::size_t>(row)].upper;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      if (branch.choices[l] == Choice::Out) continue;
      auto gain = lanes_[l].price;
      for (auto const& use : lanes_[l].uses) gain -= cost_of(resources_.at(use.resource)) * use.weight;
      if (branch.choices[l] == Choice::Open)
        for (auto const engine : lanes_[l].engines) gain -= cost_of(engines_.at(engine)) / lanes_[l].rate;
      worth += std::max(0.0, gain) * lanes_[l].rate;
    }
    return worth;
  }

  // The lane whose engines are furthest from being held all the time or not at all; none where all that move would find
  // their engines.
  [[nodiscard]] std::optional<std::size_t> most_divided(Branch const& branch, std::vector<double> const& rates) const {
    constexpr double kMoves = 1e-9;
    std::map<EngineId, int> held;
    for (std::size_t l = 0; l < lanes_.size(); ++l)
      if (branch.choices[l] == Choice::In || rates[l] > kMoves * lanes_[l].rate)
        for (auto const engine : lanes_[l].engines) ++held[engine];
    std::optional<std::size_t> most;
    double furthest = 0;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      if (branch.choices[l] != Choice::Open || rates[l] <= kMoves * lanes_[l].rate) continue;
      bool const too_many = std::any_of(lanes_[l].engines.begin(), lanes_[l].engines.end(), [&](EngineId engine) {
        return held[engine] > model_.resources().at(engine).slots;
      });
      auto const part = rates[l] / lanes_[l].rate;
      if (!too_many || std::min(part, 1 - part) < furthest) continue;
      furthest = std::min(part, 1 - part);
      most = l;
    }
    return most;
  }

  std::span<PricedOption const> lanes_;
  Model const& model_;
  std::vector<double> const& capacities_;
  double known_ = 0;
  std::map<std::uint32_t, int> resources_;  // in use, and their rows
  std::map<EngineId, int> engines_;
};

}  // namespace

double max_reduced_value(std::span<PricedOption const> lanes, Model const& model, std::vector<double> const& capacities,
                         double known) {
  if (!linear_solver()) return std::numeric_limits<double>::infinity();
  return BranchAndBound(lanes, model, capacities, known).run();
}

}  // namespace lanewise
