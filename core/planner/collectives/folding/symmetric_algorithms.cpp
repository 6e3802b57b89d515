#include "core/planner/collectives/folding/symmetric_algorithms.hpp"

#include <bit>
#include <optional>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/group_exchange.hpp"

namespace lanewise {
namespace {

using Run = SymmetricSchedule::Run;

// Every member of a unit sends run_of(from, to) to every other one.
template <class RunOf>
void exchange_within(SymmetricSchedule& schedule, std::size_t members, bool reduces, RunOf run_of) {
  for (std::size_t round = 1; round < members; ++round)
    for (std::size_t from = 0; from < members; ++from) {
      auto const to = (from + round) % members;
      Run const run = run_of(from, to);
      schedule.send(from, to, 0, run, run, reduces);
    }
}

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
    exchange_within(schedule_, members_, true, [&](std::size_t, std::size_t to) { return column(slice, to); });
  }
  void gather_within(std::size_t slice) {
    exchange_within(schedule_, members_, false, [&](std::size_t from, std::size_t) { return column(slice, from); });
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

// How the data of whole units is exchanged.
struct WholeUnits {
  std::size_t runs = 1;         // into which a unit's data is cut: each goes through another member
  std::size_t pieces = 1;       // of a run, which follow one another: what is added up waits for what was added before
  std::size_t outstanding = 1;  // transfers of a member at a time, within its unit and outside
};

// An all_gather or reduce_scatter: each run of a unit's chunks goes to every other unit (or is added up for it) through
// one member of each, and members take turns. Chunks by unit, run and piece.
class WholeUnitExchange {
 public:
  WholeUnitExchange(Collective const& collective, UnitGrid const& grid, WholeUnits const& how)
      : grid_(grid),
        members_(grid.members()),
        how_(how),
        reduces_(collective.op == CollectiveOp::ReduceScatter),
        schedule_(members_, collective.bytes, grid.units() * members_ * how.runs * how.pieces) {}

  SymmetricSchedule build() {
    if (!reduces_) exchange_own();
    std::size_t turn = 0;
    for (std::size_t displacement = 1; displacement < grid_.units(); ++displacement)
      for (std::size_t run = 0; run < how_.runs; ++run, ++turn)
        for (std::size_t piece = 0; piece < how_.pieces; ++piece)
          reduces_ ? add_up_for(displacement, run * how_.pieces + piece, turn % members_)
                   : hand_to(displacement, run * how_.pieces + piece, turn % members_);
    if (reduces_) exchange_own();
    schedule_.limit_outstanding(how_.outstanding);
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] Run piece_of(std::size_t unit, std::size_t piece) const {
    return {(unit * how_.runs * how_.pieces + piece) * members_, members_};
  }
  void exchange_own() {
    auto const each = how_.runs * how_.pieces;
    exchange_within(schedule_, members_, reduces_, [&](std::size_t from, std::size_t to) {
      return Run{(reduces_ ? to : from) * each, each};
    });
  }
  void add_up_for(std::size_t displacement, std::size_t piece, std::size_t carrier) {
    auto const chunks = piece_of(displacement, piece);
    for (std::size_t other = 1; other < members_; ++other)
      schedule_.send((carrier + other) % members_, carrier, 0, chunks, chunks, true);
    schedule_.send(carrier, carrier, displacement, chunks, piece_of(0, piece), true);
  }
  void hand_to(std::size_t displacement, std::size_t piece, std::size_t carrier) {
    auto const chunks = piece_of(grid_.negative(displacement), piece);
    schedule_.send(carrier, carrier, displacement, piece_of(0, piece), chunks, false);
    for (std::size_t other = 1; other < members_; ++other)
      schedule_.send(carrier, (carrier + other) % members_, 0, chunks, chunks, false);
  }

  UnitGrid const& grid_;
  std::size_t members_;
  WholeUnits how_;
  bool reduces_;
  SymmetricSchedule schedule_;
};

// An all_gather or reduce_scatter in few rounds. The farthest digits of a displacement, as many as have one value for
// each member, say which member carries a unit's data; the others are exchanged recursively. A reduce_scatter adds up
// within units what each member carries, then among units that differ in the nearer digits, the farthest of them first,
// so that what is exchanged is one run; then each member has, of one unit, the sum of all that are as far from it as
// its own unit, and sends it there, where the members add up what they got. An all_gather is the reverse. Chunks by
// unit, then by member.
class BlockExchange {
 public:
  BlockExchange(Collective const& collective, UnitGrid const& grid, std::size_t far_digits)
      : grid_(grid),
        members_(grid.members()),
        far_(grid.units() / members_),
        schedule_(members_, collective.bytes, grid.units() * members_) {
    auto block = far_;
    for (auto digit = far_digits; digit < grid.radices().size(); ++digit) {
      auto const radix = grid.radices()[digit];
      block /= radix;
      digits_.push_back({radix, block});
    }
  }

  SymmetricSchedule reduce_scatter() {
    exchange_blocks(true);
    for (std::size_t m = 0; m < members_; ++m)
      for (auto const& [radix, block] : digits_)
        for (std::size_t digit = 1; digit < radix; ++digit)
          send(m, digit * block, {m * far_ + digit * block, block}, {m * far_, block}, true);
    for (std::size_t m = 1; m < members_; ++m) send(m, m * far_, {m * far_, 1}, {0, 1}, false);
    exchange_own(true);
    return std::move(schedule_);
  }
  SymmetricSchedule all_gather() {
    exchange_own(false);
    for (std::size_t m = 1; m < members_; ++m) send(m, grid_.negative(m * far_), {0, 1}, {m * far_, 1}, false);
    for (std::size_t m = 0; m < members_; ++m)
      for (auto at = digits_.rbegin(); at != digits_.rend(); ++at)
        for (std::size_t digit = 1; digit < at->radix; ++digit)
          send(m, digit * at->block, {m * far_, at->block}, {m * far_ + (at->radix - digit) * at->block, at->block},
               false);
    exchange_blocks(false);
    return std::move(schedule_);
  }

 private:
  struct Digit {
    std::size_t radix = 2;
    std::size_t block = 1;  // units with this digit and those before it fixed
  };
  struct Block {
    std::size_t first = 0, units = 1;
  };

  [[nodiscard]] Run run_of(Block const& block) const { return {block.first * members_, block.units * members_}; }
  void send(std::size_t member, std::size_t displacement, Block const& reads, Block const& writes, bool reduces) {
    schedule_.send(member, member, displacement, run_of(reads), run_of(writes), reduces);
  }
  // The blocks that members carry.
  void exchange_blocks(bool reduces) {
    exchange_within(schedule_, members_, reduces, [&](std::size_t from, std::size_t to) {
      return run_of({(reduces ? to : from) * far_, far_});
    });
  }
  // The parts of the unit's own members.
  void exchange_own(bool reduces) {
    exchange_within(schedule_, members_, reduces, [&](std::size_t from, std::size_t to) {
      return Run{reduces ? to : from, 1};
    });
  }

  UnitGrid const& grid_;
  std::size_t members_;
  std::size_t far_;  // units that one member carries
  std::vector<Digit> digits_;
  SymmetricSchedule schedule_;
};

// How many of the farthest digits have together one value for each member. Nullopt if none do.
std::optional<std::size_t> digits_of_members(UnitGrid const& grid) {
  std::size_t values = 1;
  for (std::size_t digits = 0; digits <= grid.radices().size(); ++digits) {
    if (values == grid.members()) return digits;
    if (digits < grid.radices().size()) values *= grid.radices()[digits];
  }
  return std::nullopt;
}

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

std::vector<SymmetricSchedule> gathers_or_scatters(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  bool const reduces = collective.op == CollectiveOp::ReduceScatter;
  if (auto const runs = runs_per_group(collective, grid.units(), grid.members()))
    for (auto const at_once : kCollectiveLimits.whole_units_outstanding) {
      // What is only moved need not wait for what came before, so pieces gain nothing.
      WholeUnits const how{*runs, reduces ? at_once : 1, reduces ? at_once * grid.members() : at_once};
      if (reduces &&
          collective.bytes <
              kCollectiveLimits.min_slice_chunk * static_cast<std::int64_t>(grid.units() * how.runs * how.pieces) &&
          how.pieces > 1)
        break;
      all.push_back(WholeUnitExchange(collective, grid, how).build());
    }
  if (auto const digits = digits_of_members(grid)) {
    BlockExchange exchange(collective, grid, *digits);
    all.push_back(reduces ? exchange.reduce_scatter() : exchange.all_gather());
  }
  return all;
}

}  // namespace

std::vector<SymmetricSchedule> symmetric_schedules(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  switch (collective.op) {
    case CollectiveOp::AllReduce: return all_reduces(collective, grid);
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter: return gathers_or_scatters(collective, grid);
    case CollectiveOp::AllToAll: all.push_back(all_to_all(collective, grid)); return all;
    default: return all;
  }
}

}  // namespace lanewise
