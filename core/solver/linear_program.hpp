#pragma once
// Linear programs, as few as the bound on a set of transfers needs. The solver (Clp) is a library of its own that is
// loaded when something is first solved: a build without it goes on with closed forms.
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace lanewise {

// The units of programs about bytes and times, so that their numbers lie around 1: megabytes and milliseconds make
// gigabytes a second.
inline constexpr double kMegabyte = 1e6;
inline constexpr double kMillisecond = 1e-3;
inline constexpr double kGigabyteASecond = kMegabyte / kMillisecond;

// Minimise cost x so that every row is within its limits and every x between 0 and what it may be at most. Column by
// column.
struct LinearProgram {
  struct Entry {
    int row = 0;
    double value = 0;
  };
  struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
  };
  std::vector<Bounds> rows;
  std::vector<double> cost;
  std::vector<double> upper;   // that each column may be
  std::vector<int> starts{0};  // where a column's entries begin, and behind the last where they end
  std::vector<Entry> entries;

  int add_row(Bounds bounds) {
    rows.push_back(bounds);
    return static_cast<int>(rows.size()) - 1;
  }
  // The next column; its entries were pushed before.
  void end_column(double objective, double upper_bound = std::numeric_limits<double>::infinity()) {
    cost.push_back(objective);
    upper.push_back(upper_bound);
    starts.push_back(static_cast<int>(entries.size()));
  }
};

// Where a column or row is in a solution: at a limit, or anywhere between, as many as there are rows.
enum class BasisStatus : std::uint8_t { Basic, AtLower, AtUpper };
struct Basis {
  std::vector<BasisStatus> columns;
  std::vector<BasisStatus> rows;
};

struct LinearSolution {
  std::vector<double> x;
  std::vector<double> duals;  // of the rows: what one more of its limit would add to the cost
  Basis basis;
};

// The optimum, or nullopt where there is no solver or no optimum. `from`: where to begin, of a program much like this
// one: the optimum is found sooner. It need not be a basis of this one: the solver makes up what is missing. One of
// other sizes counts as none.
std::optional<LinearSolution> solve(LinearProgram const& program, Basis const& from = {});
// Whether there is a solver, and its name.
std::optional<std::string_view> linear_solver();

}  // namespace lanewise

// What the solver's library offers.
extern "C" bool lanewise_lp_solve(lanewise::LinearProgram const* program, lanewise::Basis const* from,
                                  lanewise::LinearSolution* solution);
