#include "core/planner/collectives/trees/leg_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/resources/figures.hpp"
#include "core/planner/collective_limits.hpp"
#include "core/planner/direct_ways.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

constexpr Bytes kLarge{std::int64_t{1} << 30};  // a transfer of this size shows the rate of a way
constexpr Bytes kElement{16};                   // and one of this size what it takes to start

}  // namespace

LegTable::LegTable(Sites const& sites, Model const& model, PackingStyle const* style, double bytes, double part)
    : sites_(sites), model_(model), planner_(model), style_(style), bytes_(bytes), part_(part) {
  for (std::uint32_t from = 0; from < sites.places.size(); ++from)
    for (std::uint32_t to = 0; to < sites.places.size(); ++to)
      if (from != to && !(is_memory(from) && is_memory(to))) add_legs(from, to);
}

double LegTable::weight(std::size_t leg, std::size_t row) const {
  double weight = 0;
  for (auto const& coefficient : coefficients_[leg])
    if (coefficient.row == row) weight += coefficient.weight;
  return weight;
}

void LegTable::add_legs(std::uint32_t from, std::uint32_t to) {
  bool const through_host = is_memory(from) || is_memory(to);
  for (auto const op : {Op::Copy, Op::Write, Op::Read}) {
    // A kernel runs on the GPU at one end.
    if ((op == Op::Write && is_memory(from)) || (op == Op::Read && is_memory(to))) continue;
    if (style_ != nullptr && !suits_style(op, through_host)) continue;
    for (auto const& evaluated :
         direct_ways(planner_, {.from = sites_.places[from], .to = sites_.places[to], .bytes = kLarge, .op = op}))
      add_leg({from, to, evaluated.way, op}, evaluated.cost->rate);
  }
}

bool LegTable::suits_style(Op op, bool through_host) const {
  if (through_host) return style_->host_by_kernels != (op == Op::Copy);
  return !style_->by_kernels || op != Op::Copy;
}

// `rate`: of the leg alone.
void LegTable::add_leg(Leg leg, BytesPerSecond rate) {
  auto const& from = sites_.places[leg.from];
  auto const& to = sites_.places[leg.to];
  auto const demand = model_.lower(from, to, kLarge, leg.op, leg.way);
  for (auto const& use : demand.uses)
    leg.uses.push_back({static_cast<std::uint32_t>(row_of(use.resource)), use.weight.ratio()});
  for (auto const engine : demand.engines) leg.engines.push_back(static_cast<std::uint32_t>(row_of(engine)));
  leg.cap = demand.cap;
  auto const piece = style_ == nullptr ? kElement : std::max(kElement, Bytes(std::llround(bytes_of_piece())));
  leg.handover = model_.lower(from, to, piece, leg.op, leg.way).latency();
  // Another GPU wrote what is read from host memory; the reader waits for its event.
  if (is_memory(leg.from))
    if (auto const gpu = gpu_at(model_.machine(), to))
      leg.handover += figures::chunk_gap(model_.machine().part_of(*gpu)) * model_.assumed()(Parameter::EngineStart);
  coefficients_.push_back(coefficients_of(leg, rate));
  legs_.push_back(std::move(leg));
}

// In a plan, data go through host memory in pieces with a handover each, and kernels carry one flow per leg: a packing
// that counts on more is full of legs that cannot keep up. For a bound, engines count only where nothing else moves
// data faster: between GPUs, and at the model's own rates.
std::vector<LegTable::Coefficient> LegTable::coefficients_of(Leg const& leg, BytesPerSecond rate) {
  std::vector<Coefficient> coefficients;
  for (auto const& use : leg.uses) coefficients.push_back({use.resource, use.weight});
  auto time = 1 / (rate.value() * kGiga);
  bool const through_host = is_memory(leg.from) || is_memory(leg.to);
  if (style_ == nullptr && (through_host || !model_.machine().overrides.empty())) return coefficients;
  if (through_host) time += bytes_ / bytes_of_piece() * (leg.handover / seconds(1));
  for (auto const engine : leg.engines) coefficients.push_back({engine, time});
  if (!through_host || !leg.engines.empty()) return coefficients;
  coefficients.push_back({capacities_.size(), time});
  add_row("one flow", 1);
  return coefficients;
}

double LegTable::bytes_of_piece() const { return bytes_ * part_ / kCollectiveLimits.packing_assumed_pieces; }

double LegTable::min_start() {
  auto least = min_start_off_legs();
  for (std::size_t l = 0; l < legs_.size(); ++l) least = std::min(least, handover(l));
  return least;
}

double LegTable::min_start_off_legs() {
  if (min_start_off_legs_) return *min_start_off_legs_;
  auto least = std::numeric_limits<double>::infinity();
  for (auto const& from : sites_.places)
    for (auto const& to : sites_.places) {
      if (from == to || !gpu_at(model_.machine(), from) || !gpu_at(model_.machine(), to)) continue;
      for (auto const op : {Op::Copy, Op::Write, Op::Read})
        for (auto const& evaluated : planner_.choose({.from = from, .to = to, .bytes = kLarge, .op = op}).evaluated)
          if (evaluated.refused_by == nullptr && evaluated.cost && !is_direct(evaluated.way) &&
              evaluated.way.mechanism != Mechanism::BarCopy)
            least = std::min(least, model_.lower(from, to, kElement, op, evaluated.way).latency() / seconds(1));
    }
  min_start_off_legs_ = least;
  return least;
}

std::size_t LegTable::row_of(ResourceId resource) {
  auto const [entry, is_new] = resources_.try_emplace(resource, capacities_.size());
  if (is_new) add_row(model_.resources().at(resource).name, model_.capacity(resource)->value() * kGiga);
  return entry->second;
}

std::size_t LegTable::row_of(EngineId engine) {
  auto const [entry, is_new] = engines_.try_emplace(engine, capacities_.size());
  if (is_new) add_row(model_.resources().at(engine).name, model_.resources().at(engine).slots);
  return entry->second;
}

void LegTable::add_row(std::string name, double capacity) {
  names_.push_back(std::move(name));
  capacities_.push_back(capacity);
}

Packing LegTable::release() && {
  Packing packing{std::move(legs_), {}, std::move(capacities_)};
  for (auto const& [resource, row] : resources_) packing.capacities[row] /= kGiga;
  return packing;
}

}  // namespace lanewise
