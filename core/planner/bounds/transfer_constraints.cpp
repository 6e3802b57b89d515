#include "core/planner/bounds/transfer_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/planner/bound_limits.hpp"
#include "core/planner/bounds/piece_time.hpp"
#include "core/planner/bounds/transfer_units.hpp"

namespace lanewise {
namespace {

std::optional<ResourceId> resource_that_binds(Cost const& cost, Demand const& demand) {
  auto const* resource = std::get_if<ResourceId>(&cost.binding);
  return resource != nullptr ? *resource : demand.cap_of;
}

// How long a megabyte holds an engine, in milliseconds. An engine is held from before the first byte. The larger a
// piece the less of that falls to a megabyte; in a plan better than the known one, no piece takes longer than that.
double least_time_of_megabyte(PieceTime const& time, BytesPerSecond rate, Bytes bytes, Seconds known) {
  if (bytes == Bytes(0)) return 1 / program_rate(rate);
  constexpr double kLeastPart = 1e-3;  // of the transfer: smaller pieces are counted as this
  auto const all = static_cast<double>(bytes.value());
  auto const piece = std::max(time.most_bytes_in(known), kLeastPart * all);
  return milliseconds(time.of(piece)) * kMegabyte / piece;
}

}  // namespace

TransferConstraints::TransferConstraints(std::vector<OpenTransfer> const& transfers, Model const& model,
                                         std::vector<double> const& head, std::vector<double> const& tail,
                                         Seconds known)
    : transfers_(transfers), model_(model), head_(head), tail_(tail) {
  of_resource_.assign(model.resources().count(), kNone);
  of_engine_.assign(model.resources().engine_count(), kNone);
  for (std::size_t i = 0; i < transfers.size(); ++i) add_transfer(i, known);
}

double TransferConstraints::megabytes(std::size_t transfer) const {
  return static_cast<double>(transfers_[transfer].bytes.value()) / kMegabyte;
}

double TransferConstraints::first_byte() const {
  auto first = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < transfers_.size(); ++i) first = std::min(first, first_byte(i));
  return first;
}

double TransferConstraints::first_byte(std::size_t i) const {
  return head_[i] + *std::min_element(min_latencies_[i].begin(), min_latencies_[i].end());
}

bool TransferConstraints::is_capped(Constraint const& way) const {
  return option_of(columns_[way.id]).demand.cap < kUnlimited;
}

// `position`: of the constraint; set if it is new. Every transfer that uses it may move its head and tail.
std::size_t TransferConstraints::find_or_add(std::size_t& position, Constraint const& constraint) {
  if (position == kNone) {
    position = constraints_.size();
    constraints_.push_back(constraint);
  }
  auto& found = constraints_[position];
  found.head = std::min(found.head, constraint.head);
  found.tail = std::min(found.tail, constraint.tail);
  return position;
}

void TransferConstraints::add_transfer(std::size_t i, Seconds known) {
  auto const& transfer = transfers_[i];
  std::vector<PieceTime> times;
  auto& latencies = min_latencies_.emplace_back();
  for (auto const& option : transfer.options) {
    times.emplace_back(model_, transfer, option);
    latencies.push_back(milliseconds(times.back().latency()));
  }
  auto const first = first_byte(i);
  for (std::size_t o = 0; o < transfer.options.size(); ++o) {
    auto const& option = transfer.options[o];
    Column column{i, o, {}};
    for (auto const& use : option.demand.uses) {
      auto const capacity = model_.capacity(use.resource);
      if (!capacity) continue;
      auto const at = find_or_add(of_resource_[index(use.resource)], {Constraint::Kind::Resource, index(use.resource),
                                                                      program_rate(*capacity), first, tail_[i]});
      column.coefficients.emplace_back(at, use.weight.ratio());
    }
    std::map<std::size_t, int> slots;
    for (auto const engine : option.demand.engines) {
      auto const count = static_cast<double>(model_.resources().at(engine).slots);
      ++slots[find_or_add(of_engine_[index(engine)],
                          {Constraint::Kind::Engine, index(engine), count, head_[i], tail_[i]})];
    }
    auto const held = least_time_of_megabyte(times[o], option.rate, transfer.bytes, known);
    for (auto const& [at, count] : slots) column.coefficients.emplace_back(at, count * held);
    std::size_t own = kNone;
    Constraint way{Constraint::Kind::Way, columns_.size(), program_rate(option.rate), first, tail_[i]};
    if (known < kUnknownTime)
      way.capacity = program_rate(times[o].throughput(Seconds((first - head_[i]) * kMillisecond), known));
    find_or_add(own, way);
    column.coefficients.emplace_back(own, 1.0);
    columns_.push_back(std::move(column));
  }
}

void TransferConstraints::add(Constraint const& constraint,
                              std::vector<std::pair<std::size_t, double>> const& coefficients) {
  for (auto const& [c, coefficient] : coefficients) {
    auto& of_column = columns_[c].coefficients;
    of_column.insert(of_column.end() - 1, {constraints_.size(), coefficient});  // the way's own stays the last
  }
  constraints_.push_back(constraint);
}

double TransferConstraints::bound_of(std::vector<double> const& weights) const {
  double capacity = 0;
  double owed = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    capacity += weights[i] * constraints_[i].capacity;
    owed += weights[i] * (constraints_[i].capacity * constraints_[i].idle_time());
  }
  if (!(capacity > 0)) return 0;
  std::vector<double> cheapest(transfers_.size(), std::numeric_limits<double>::infinity());
  for (auto const& column : columns_) {
    double price = 0;
    for (auto const& [at, coefficient] : column.coefficients) price += weights[at] * coefficient;
    cheapest[column.transfer] = std::min(cheapest[column.transfer], price);
  }
  for (std::size_t i = 0; i < transfers_.size(); ++i)
    owed += cheapest[i] * static_cast<double>(transfers_[i].bytes.value()) / kMegabyte;
  return owed / capacity;
}

TransferConstraints::ColumnLists TransferConstraints::columns_of_transfers() const {
  ColumnLists columns_of(transfers_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) columns_of[columns_[c].transfer].push_back(c);
  return columns_of;
}

// The one whose least load, over the ways of all transfers, takes longest.
std::size_t TransferConstraints::best_single_constraint(ColumnLists const& columns_of) const {
  std::vector<double> load(constraints_.size(), 0);
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    std::map<std::size_t, std::pair<std::size_t, double>> uses;  // constraint: (number of ways, least coefficient)
    for (auto const c : columns_of[i])
      for (auto const& [at, coefficient] : columns_[c].coefficients) {
        auto& entry = uses[at];
        entry.second = entry.first == 0 ? coefficient : std::min(entry.second, coefficient);
        ++entry.first;
      }
    for (auto const& [at, entry] : uses)
      if (entry.first == columns_of[i].size())
        load[at] += entry.second * static_cast<double>(transfers_[i].bytes.value()) / kMegabyte;
  }
  auto const time = [&](std::size_t i) { return constraints_[i].idle_time() + load[i] / constraints_[i].capacity; };
  std::size_t best = 0;
  for (std::size_t i = 1; i < constraints_.size(); ++i)
    if (time(i) > time(best)) best = i;
  return best;
}

std::vector<double> TransferConstraints::best_closed_form() const {
  auto const columns_of = columns_of_transfers();
  std::vector<double> weights(constraints_.size(), 0);
  weights[best_single_constraint(columns_of)] = 1;
  auto bound = bound_of(weights);
  for (auto const& columns : columns_of) {
    if (transfers_.size() > 1 && columns_.size() > kBoundLimits.max_columns) break;
    std::vector<double> all_ways(constraints_.size(), 0);
    for (auto const c : columns) all_ways[own_constraint(c)] = 1;
    if (bound_by_ways_of(columns) <= bound) continue;
    bound = bound_by_ways_of(columns);
    weights = all_ways;
  }
  return weights;
}

// As bound_of(), with a weight of 1 on the rates of one transfer's ways.
double TransferConstraints::bound_by_ways_of(std::vector<std::size_t> const& columns) const {
  double capacity = 0;
  double owed = 0;
  for (auto const c : columns) {
    auto const& own = constraints_[own_constraint(c)];
    capacity += own.capacity;
    owed += own.capacity * own.idle_time();
  }
  return (owed + megabytes(columns_[columns.front()].transfer)) / capacity;
}

std::vector<LowerBound::Part> TransferConstraints::parts(std::vector<double> const& weights) const {
  double capacity = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) capacity += weights[i] * constraints_[i].capacity;
  std::map<std::string, double> shares;  // a way whose rate a resource limits counts as that resource
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    auto const share = capacity > 0 ? weights[i] * constraints_[i].capacity / capacity : 0;
    if (share > kBoundLimits.min_reported_share) shares[name_of(constraints_[i])] += share;
  }
  std::vector<LowerBound::Part> parts;
  for (auto const& [name, share] : shares) parts.push_back({name, share});
  sort_largest_first(parts);
  return parts;
}

std::string TransferConstraints::name_of(Constraint const& constraint) const {
  switch (constraint.kind) {
    case Constraint::Kind::Resource: return model_.resources().at(ResourceId(constraint.id)).name;
    case Constraint::Kind::Engine: return model_.resources().at(EngineId(constraint.id)).name;
    case Constraint::Kind::SharedEngines: return name_of(constraints_[constraint.id]) + " and engines held meanwhile";
    case Constraint::Kind::Way: break;
  }
  auto const& transfer = transfers_[columns_[constraint.id].transfer];
  auto const& option = option_of(columns_[constraint.id]);
  auto const cost = model_.cost(option.demand, transfer.bytes);
  if (auto const resource = cost ? resource_that_binds(*cost, option.demand) : std::nullopt)
    return model_.resources().at(*resource).name;
  return fmt::format("{} of {} by {}", cost ? model_.text_of_binding(*cost) : "?", transfer.id,
                     to_string(option.way.mechanism));
}

}  // namespace lanewise
