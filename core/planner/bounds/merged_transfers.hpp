#pragma once
// Transfers whose ways obey the same constraints, as one in a linear program: those between the same two places. Their
// bytes add up, and what a byte takes of resources and engines is averaged. 500 transfers between 8 GPUs are 56.
#include <cstddef>
#include <utility>
#include <vector>

#include "core/planner/bounds/transfer_constraints.hpp"

namespace lanewise {

class MergedTransfers {
 public:
  // One way of all transfers of a group.
  struct Column {
    std::size_t group = 0;
    std::vector<std::size_t> members;                          // columns of the constraints, one for each transfer
    std::vector<std::pair<std::size_t, double>> coefficients;  // (constraint, coefficient), without the ways' own
  };

  // `constraints` must outlive it and stay as they are.
  explicit MergedTransfers(TransferConstraints const& constraints);

  // Megabytes of each group.
  [[nodiscard]] std::vector<double> const& megabytes() const { return megabytes_; }
  [[nodiscard]] std::vector<Column> const& columns() const { return columns_; }

  // The bytes of each column of the constraints, for the megabytes of each merged column. Of a group, as many transfers
  // as can be keep to one way.
  [[nodiscard]] std::vector<double> bytes_of(std::vector<double> const& megabytes) const;

 private:
  void add_columns(std::size_t group, TransferConstraints::ColumnLists const& columns_of_members);

  TransferConstraints const& constraints_;
  std::vector<double> megabytes_;
  std::vector<Column> columns_;
  TransferConstraints::ColumnLists columns_of_;  // of each group, by position in columns_
};

}  // namespace lanewise
