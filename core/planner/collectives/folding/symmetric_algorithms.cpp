#include "core/planner/collectives/folding/symmetric_algorithms.hpp"

#include <bit>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/group_exchange.hpp"

namespace lanewise {
namespace {

using Run = SymmetricSchedule::Run;

// An all_reduce. Chunks by slice, then by the member that collects them, then by unit with the nearest digit first: so
// what is exchanged in a round is one run.
class RecursiveAllReduce {
 public:
  RecursiveAllReduce(Collective const& collective, UnitGrid const& grid, std::size_t slices)
      : grid_(grid),
        units_(grid.units()),
        members_(grid.members()),
        slices_(slices),
        schedule_(members_, collective.bytes, units_ * members_ * slices) {}

  SymmetricSchedule build() {
    for (std::size_t slice = 0; slice < slices_; ++slice) reduce_within(slice);
    if (slices_ > 1) schedule_.serialise_per_link(0);
    std::vector<std::size_t> begins;
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      begins.push_back(schedule_.transfers().size());
      for (std::size_t m = 0; m < members_; ++m) reduce_between(slice, m);
      for (std::size_t m = 0; m < members_; ++m) gather_between(slice, m);
      constexpr auto kConcurrent = kCollectiveLimits.slices_between_groups;
      if (slice >= kConcurrent)
        schedule_.chain_after(begins[slice], begins[slice - kConcurrent], begins[slice - kConcurrent + 1]);
    }
    for (std::size_t slice = 0; slice < slices_; ++slice) gather_within(slice);
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] Run column(std::size_t slice, std::size_t member) const {
    return {(slice * members_ + member) * units_, units_};
  }
  void reduce_within(std::size_t slice) {
    for (std::size_t round = 1; round < members_; ++round)
      for (std::size_t m = 0; m < members_; ++m) {
        auto const to = (m + round) % members_;
        schedule_.send(m, to, 0, column(slice, to), column(slice, to), true);
      }
  }
  void gather_within(std::size_t slice) {
    for (std::size_t round = 1; round < members_; ++round)
      for (std::size_t m = 0; m < members_; ++m)
        schedule_.send(m, (m + round) % members_, 0, column(slice, m), column(slice, m), false);
  }
  // Calls visit(radix, chunks of a block whose digit is fixed, displacement of a step of the digit), the nearest digit
  // first.
  template <class Visit>
  void for_each_digit(Visit visit) const {
    auto block = units_;
    std::size_t step = 1;
    for (auto radix = grid_.radices().rbegin(); radix != grid_.radices().rend(); ++radix) {
      block /= *radix;
      visit(*radix, block, step);
      step *= *radix;
    }
  }
  void reduce_between(std::size_t slice, std::size_t member) {
    auto const base = column(slice, member).first;
    for_each_digit([&](std::size_t radix, std::size_t block, std::size_t step) {
      for (std::size_t digit = 1; digit < radix; ++digit)
        schedule_.send(member, member, digit * step, {base + digit * block, block}, {base, block}, true);
    });
  }
  void gather_between(std::size_t slice, std::size_t member) {
    struct Digit {
      std::size_t radix, block, step;
    };
    auto const base = column(slice, member).first;
    std::vector<Digit> digits;
    for_each_digit([&](std::size_t radix, std::size_t block, std::size_t step) {
      digits.push_back({radix, block, step});
    });
    for (auto at = digits.rbegin(); at != digits.rend(); ++at)
      for (std::size_t digit = 1; digit < at->radix; ++digit)
        schedule_.send(member, member, digit * at->step, {base, at->block},
                       {base + (at->radix - digit) * at->block, at->block}, false);
  }

  UnitGrid const& grid_;
  std::size_t units_, members_, slices_;
  SymmetricSchedule schedule_;
};

// An all_gather or reduce_scatter: each run of a unit's chunks goes to every other unit (or is added up for it) through
// one member of each, and members take turns. Chunks by unit, then by member, then by run.
class WholeUnitExchange {
 public:
  WholeUnitExchange(Collective const& collective, UnitGrid const& grid, std::size_t runs)
      : grid_(grid),
        members_(grid.members()),
        runs_(runs),
        reduces_(collective.op == CollectiveOp::ReduceScatter),
        schedule_(members_, collective.bytes, grid.units() * members_ * runs) {}

  SymmetricSchedule build() {
    if (!reduces_) exchange_own();
    std::size_t turn = 0;
    for (std::size_t displacement = 1; displacement < grid_.units(); ++displacement)
      for (std::size_t run = 0; run < runs_; ++run, ++turn)
        reduces_ ? add_up_for(displacement, run, turn % members_) : hand_to(displacement, run, turn % members_);
    if (reduces_) exchange_own();
    schedule_.limit_outstanding(1);
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] Run run_of(std::size_t unit, std::size_t run) const {
    return {(unit * runs_ + run) * members_, members_};
  }
  [[nodiscard]] Run own_of(std::size_t member) const { return {member * runs_, runs_}; }
  void exchange_own() {
    for (std::size_t round = 1; round < members_; ++round)
      for (std::size_t m = 0; m < members_; ++m) {
        auto const to = (m + round) % members_;
        auto const chunks = own_of(reduces_ ? to : m);
        schedule_.send(m, to, 0, chunks, chunks, reduces_);
      }
  }
  void add_up_for(std::size_t displacement, std::size_t run, std::size_t carrier) {
    auto const chunks = run_of(displacement, run);
    for (std::size_t other = 1; other < members_; ++other)
      schedule_.send((carrier + other) % members_, carrier, 0, chunks, chunks, true);
    schedule_.send(carrier, carrier, displacement, chunks, run_of(0, run), true);
  }
  void hand_to(std::size_t displacement, std::size_t run, std::size_t carrier) {
    auto const chunks = run_of(grid_.negative(displacement), run);
    schedule_.send(carrier, carrier, displacement, run_of(0, run), chunks, false);
    for (std::size_t other = 1; other < members_; ++other)
      schedule_.send(carrier, (carrier + other) % members_, 0, chunks, chunks, false);
  }

  UnitGrid const& grid_;
  std::size_t members_, runs_;
  bool reduces_;
  SymmetricSchedule schedule_;
};

// As PairingSchedule pairs them.
SymmetricSchedule all_to_all(Collective const& collective, UnitGrid const& grid) {
  auto const members = grid.members();
  SymmetricSchedule schedule(members, collective.bytes, grid.units() * members);
  for (std::size_t displacement = 0; displacement < grid.units(); ++displacement)
    for (std::size_t round = 0; round < members; ++round)
      for (std::size_t m = 0; m < members; ++m) {
        auto const to = std::has_single_bit(members) ? m ^ round : (m + round) % members;
        schedule.send_to_output(m, to, displacement, {displacement * members + to},
                                {grid.negative(displacement) * members + m});
      }
  schedule.limit_outstanding(kCollectiveLimits.max_outstanding);
  return schedule;
}

std::vector<SymmetricSchedule> all_reduces(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  all.push_back(RecursiveAllReduce(collective, grid, 1).build());
  auto const largest = collective.bytes.value() / static_cast<std::int64_t>(grid.members());  // between two units
  for (auto const slices : kCollectiveLimits.slices)
    if (largest / static_cast<std::int64_t>(slices) >= kCollectiveLimits.min_slice_chunk.value())
      all.push_back(RecursiveAllReduce(collective, grid, slices).build());
  return all;
}

}  // namespace

std::vector<SymmetricSchedule> symmetric_schedules(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  switch (collective.op) {
    case CollectiveOp::AllReduce: return all_reduces(collective, grid);
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
      if (auto const runs = runs_per_group(collective, grid.units(), grid.members()))
        all.push_back(WholeUnitExchange(collective, grid, *runs).build());
      return all;
    case CollectiveOp::AllToAll: all.push_back(all_to_all(collective, grid)); return all;
    default: return all;
  }
}

}  // namespace lanewise
