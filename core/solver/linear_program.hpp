#pragma once
// Linear programs as values. The solver (Clp) is a library of its own that is loaded when a program is first solved; a
// build without it goes on with closed forms.
//
//   LinearProgram program;                      // minimise x + 2 y
//   auto const row = program.add_row({.lower = 3});  // with x + y >= 3
//   program.entries.push_back({row, 1});
//   program.end_column(1);                      // x
//   program.entries.push_back({row, 1});
//   program.end_column(2);                      // y
//   solve(program)->x;                          // {3, 0}
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace lanewise {

// The units of programs about bytes and times, so that their numbers are around 1: megabytes and milliseconds, hence
// gigabytes a second.
inline constexpr double kMegabyte = 1e6;
inline constexpr double kMillisecond = 1e-3;
inline constexpr double kGigabyteASecond = kMegabyte / kMillisecond;

// Minimises cost * x such that every row is within its bounds and every column x between 0 and its upper bound. Entries
// are stored column by column (compressed sparse columns).
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
  std::vector<double> cost;    // of each column
  std::vector<double> upper;   // bound of each column
  std::vector<int> starts{0};  // of each column's entries; one more for the end of the last
  std::vector<Entry> entries;

  // Returns the number of the row.
  int add_row(Bounds bounds) {
    rows.push_back(bounds);
    return static_cast<int>(rows.size()) - 1;
  }
  // Ends a column whose entries have been pushed.
  void end_column(double cost_of_column, double upper_bound = std::numeric_limits<double>::infinity()) {
    cost.push_back(cost_of_column);
    upper.push_back(upper_bound);
    starts.push_back(static_cast<int>(entries.size()));
  }
};

// Where a column or row is in a solution of the simplex method: basic, or at one of its bounds. As many are basic as
// there are rows.
enum class BasisStatus : std::uint8_t { Basic, AtLower, AtUpper };
struct Basis {
  std::vector<BasisStatus> columns;
  std::vector<BasisStatus> rows;
};

struct LinearSolution {
  std::vector<double> x;
  std::vector<double> duals;  // of the rows: by how much the cost rises for each unit of the row's bound
  Basis basis;
};

// The optimum, or nullopt without a solver or an optimum. `from`: the basis of a similar program, from which the
// optimum is found sooner. It need not be a valid basis of this program, the solver repairs it; one of another size is
// ignored.
std::optional<LinearSolution> solve(LinearProgram const& program, Basis const& from = {});
// The name of the solver, or nullopt without one.
std::optional<std::string_view> linear_solver();

}  // namespace lanewise

// The function that the solver's library exports.
extern "C" bool lanewise_lp_solve(lanewise::LinearProgram const* program, lanewise::Basis const* from,
                                  lanewise::LinearSolution* solution);
