#include "core/planner/bounds/merged_transfers.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>

#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

// What two ways must have in common: the constraints that they obey but their own, and who drives them. What a megabyte
// takes of a resource or an engine depends on the size of the transfer.
struct CommonPart {
  std::vector<std::size_t> constraints;
  Op op = Op::Copy;
  Drive drive = Drive::Push;

  auto operator<=>(CommonPart const&) const = default;
};

CommonPart common_part(TransferConstraints const& constraints, TransferConstraints::Column const& column) {
  auto const& option = constraints.option_of(column);
  CommonPart common{{}, option.op, option.way.drive};
  for (auto const& [at, coefficient] : column.coefficients) common.constraints.push_back(at);
  common.constraints.pop_back();  // its own is the last
  return common;
}

}  // namespace

MergedTransfers::MergedTransfers(TransferConstraints const& constraints) : constraints_(constraints) {
  auto const& columns = constraints.columns();
  std::map<std::vector<CommonPart>, std::size_t> group_of;
  std::vector<TransferConstraints::ColumnLists> groups;  // columns of each transfer of each
  for (auto& of_transfer : constraints.columns_of_transfers()) {
    std::vector<CommonPart> common;
    for (auto const c : of_transfer) common.push_back(common_part(constraints, columns[c]));
    auto const [known, is_new] = group_of.try_emplace(std::move(common), groups.size());
    if (is_new) groups.emplace_back();
    groups[known->second].push_back(std::move(of_transfer));
  }
  for (std::size_t group = 0; group < groups.size(); ++group) add_columns(group, groups[group]);
}

void MergedTransfers::add_columns(std::size_t group, TransferConstraints::ColumnLists const& columns_of_members) {
  auto& megabytes = megabytes_.emplace_back(0);
  std::vector<double> parts;  // of the group's bytes
  for (auto const& of_transfer : columns_of_members) {
    parts.push_back(constraints_.megabytes(constraints_.columns()[of_transfer.front()].transfer));
    megabytes += parts.back();
  }
  for (auto& part : parts) part = megabytes > 0 ? part / megabytes : 1 / static_cast<double>(parts.size());
  auto& positions = columns_of_.emplace_back();
  for (std::size_t o = 0; o < columns_of_members.front().size(); ++o) {
    Column merged{group, {}, {}};
    for (std::size_t k = 0; k < columns_of_members.size(); ++k) {
      auto const c = columns_of_members[k][o];
      auto const& coefficients = constraints_.columns()[c].coefficients;
      merged.members.push_back(c);
      for (std::size_t i = 0; i + 1 < coefficients.size(); ++i) {
        if (k == 0) merged.coefficients.emplace_back(coefficients[i].first, 0);
        merged.coefficients[i].second += parts[k] * coefficients[i].second;
      }
    }
    positions.push_back(columns_.size());
    columns_.push_back(std::move(merged));
  }
}

std::vector<double> MergedTransfers::bytes_of(std::vector<double> const& megabytes) const {
  constexpr double kRounding = 1e-9;  // of the group's bytes: less on a way is a rest of the solver's
  auto const& columns = constraints_.columns();
  std::vector<double> bytes(columns.size(), 0);
  for (std::size_t group = 0; group < columns_of_.size(); ++group) {
    auto const least = kRounding * megabytes_[group];
    auto way = columns_of_[group].begin();
    auto on_way = megabytes[*way];  // that no transfer has taken yet
    auto const transfers = columns_[*way].members.size();
    for (std::size_t k = 0; k < transfers; ++k) {
      auto left = constraints_.megabytes(columns[columns_[*way].members[k]].transfer);
      for (; left > on_way + least && std::next(way) != columns_of_[group].end(); on_way = megabytes[*++way]) {
        if (on_way <= least) continue;
        bytes[columns_[*way].members[k]] = on_way * kMegabyte;
        left -= on_way;
      }
      bytes[columns_[*way].members[k]] = left * kMegabyte;
      on_way -= left;
    }
  }
  return bytes;
}

}  // namespace lanewise
