#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/planner/transfer_options.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// A constraint that every plan obeys which is no slower than a known one: the sum over ways of coefficient x bytes is
// at most capacity x (T - idle time). Megabytes, milliseconds and so GB/s.
struct Constraint {
  enum class Kind : std::uint8_t {
    Resource,
    Engine,
    Way,            // the rate of a way
    SharedEngines,  // engines that are held longer by flows that share a resource
  } kind = Kind::Resource;
  std::size_t id = 0;  // of the resource or engine; of a way, its column; of shared engines, the resource's constraint
  double capacity = 0;
  double head = 0;  // before this nothing moves there
  double tail = 0;  // the set lasts at least this long after the last byte there
  [[nodiscard]] double idle_time() const { return head + tail; }
};

// The constraints on a set of transfers, and each way of a transfer as a column of coefficients. `head` and `tail` say
// how long before a transfer, and after it, the set lasts at least (in milliseconds). `known`: the time of a plan of
// the set, if one is known; only better plans obey the constraints. All arguments must outlive it.
class TransferConstraints {
 public:
  struct Column {
    std::size_t transfer = 0;
    std::size_t option = 0;
    std::vector<std::pair<std::size_t, double>> coefficients;  // (constraint, coefficient); the way's own is the last
  };
  using ColumnLists = std::vector<std::vector<std::size_t>>;

  TransferConstraints(std::vector<OpenTransfer> const& transfers, Model const& model, std::vector<double> const& head,
                      std::vector<double> const& tail, Seconds known = kUnknownTime);

  [[nodiscard]] std::vector<OpenTransfer> const& transfers() const { return transfers_; }
  [[nodiscard]] Model const& model() const { return model_; }
  [[nodiscard]] std::vector<Constraint> const& all() const { return constraints_; }
  [[nodiscard]] std::vector<Column> const& columns() const { return columns_; }
  [[nodiscard]] ColumnLists columns_of_transfers() const;
  // That of the rate of a column's way.
  [[nodiscard]] std::size_t own_constraint(std::size_t column) const {
    return columns_[column].coefficients.back().first;
  }
  [[nodiscard]] TransferOption const& option_of(Column const& column) const {
    return transfers_[column.transfer].options[column.option];
  }
  // Of a transfer, in megabytes.
  [[nodiscard]] double megabytes(std::size_t transfer) const;
  // The earliest time at which any byte moves.
  [[nodiscard]] double first_byte() const;
  // Whether a way is slower alone than everything it passes. The own constraint of any other is left out of the
  // program.
  [[nodiscard]] bool is_capped(Constraint const& way) const;

  // The bound that follows from any nonnegative weights of the constraints (weak duality): with prices on capacity,
  // every byte pays at least its cheapest way. So rounding in the solver cannot make a bound wrong.
  [[nodiscard]] double bound_of(std::vector<double> const& weights) const;
  // The weights of the best bound in closed form: by one resource or engine alone, or by all ways of one transfer.
  [[nodiscard]] std::vector<double> best_closed_form() const;
  // What binds at these weights, largest share first.
  [[nodiscard]] std::vector<LowerBound::Part> parts(std::vector<double> const& weights) const;

  // Adds a constraint with its (column, coefficient) pairs.
  void add(Constraint const& constraint, std::vector<std::pair<std::size_t, double>> const& coefficients);

 private:
  static constexpr auto kNone = static_cast<std::size_t>(-1);

  void add_transfer(std::size_t i, Seconds known);
  [[nodiscard]] double first_byte(std::size_t i) const;
  std::size_t find_or_add(std::size_t& position, Constraint const& constraint);
  [[nodiscard]] std::size_t best_single_constraint(ColumnLists const& columns_of) const;
  [[nodiscard]] double bound_by_ways_of(std::vector<std::size_t> const& columns) const;
  [[nodiscard]] std::string name_of(Constraint const& constraint) const;

  std::vector<OpenTransfer> const& transfers_;
  Model const& model_;
  std::vector<double> const& head_;
  std::vector<double> const& tail_;
  std::vector<std::vector<double>> min_latencies_;  // of each option of each transfer
  std::vector<Constraint> constraints_;
  std::vector<std::size_t> of_resource_;  // its constraint
  std::vector<std::size_t> of_engine_;    // its constraint
  std::vector<Column> columns_;
};

}  // namespace lanewise
