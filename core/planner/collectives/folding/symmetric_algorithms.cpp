#include "core/planner/collectives/folding/symmetric_algorithms.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
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

// An all_reduce, reduce_scatter or all_gather: within units, then recursively between the members with the same number,
// the nearest digit first, then within units again; each where the op needs it. A member collects a chunk for each
// unit.
class RecursiveExchange {
 public:
  RecursiveExchange(Collective const& collective, UnitGrid const& grid, std::size_t slices,
                    IntraGroupPattern within = IntraGroupPattern::InTurn)
      : op_(collective.op),
        within_(within),
        grid_(grid),
        units_(grid.units()),
        members_(grid.members()),
        slices_(slices),
        schedule_(members_, collective.bytes, units_ * members_ * slices) {
    auto block = units_;
    std::size_t step = 1;
    for (auto radix = grid_.radices().rbegin(); radix != grid_.radices().rend(); ++radix) {
      block /= *radix;
      digits_.push_back({*radix, block, step});
      step *= *radix;
    }
  }

  // How many transfers a unit makes within itself in a reduce_scatter or all_gather.
  [[nodiscard]] static std::size_t transfers_within(UnitGrid const& grid, std::size_t slices) {
    return grid.members() * (grid.members() - 1) * grid.units() * slices;
  }

  SymmetricSchedule build() {
    if (has_reduce_scatter(op_)) reduce_within();
    if (has_reduce_scatter(op_) && slices_ > 1) schedule_.serialise_per_link(0);
    std::vector<std::size_t> begins;
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      begins.push_back(schedule_.transfers().size());
      for (std::size_t m = 0; has_reduce_scatter(op_) && m < members_; ++m) reduce_between(slice, m);
      for (std::size_t m = 0; has_all_gather(op_) && m < members_; ++m) gather_between(slice, m);
      constexpr auto kConcurrent = kCollectiveLimits.slices_between_groups;
      if (slice >= kConcurrent)
        schedule_.chain_after(begins[slice], begins[slice - kConcurrent], begins[slice - kConcurrent + 1]);
    }
    for (std::size_t slice = 0; has_all_gather(op_) && slice < slices_; ++slice)
      for (std::size_t round = 1; round < members_; ++round) gather_within(slice, round);
    return std::move(schedule_);
  }

 private:
  struct Digit {
    std::size_t radix = 2;
    std::size_t block = 1;  // chunks of a column with this digit and those nearer fixed
    std::size_t step = 1;   // the displacement of one more
  };

  // The displacement of the unit that a chunk of a column is for: they are numbered by unit with the nearest digit
  // first, so what is exchanged in a round has neighbouring numbers.
  [[nodiscard]] std::size_t displacement_of(std::size_t number) const {
    std::size_t displacement = 0;
    for (auto const& digit : digits_) displacement += number / digit.block % digit.radix * digit.step;
    return displacement;
  }
  // Chunks of the column that a member collects. Of an all_reduce, where any order will do, they are neighbours.
  [[nodiscard]] std::vector<Run> runs_of(std::size_t slice, std::size_t member, std::size_t first,
                                         std::size_t count) const {
    if (op_ == CollectiveOp::AllReduce) return {{(slice * members_ + member) * units_ + first, count}};
    std::vector<Run> runs;
    for (auto number = first; number < first + count; ++number)
      runs.push_back({(displacement_of(number) * members_ + member) * slices_ + slice, 1});
    return runs;
  }
  void send(std::size_t from, std::size_t to, std::size_t displacement, std::vector<Run> const& reads,
            std::vector<Run> const& writes, bool reduces) {
    // Those with the highest numbers are the first to leave the unit.
    for (auto k = reads.size(); k-- > 0;) schedule_.send(from, to, displacement, reads[k], writes[k], reduces);
  }

  // All at once: as mesh_reduce_scatter() does it, a slice for each partner at a time.
  void reduce_within() {
    auto const partners = members_ - 1;
    auto const at_once = within_ == IntraGroupPattern::AllAtOnce ? partners : 1;
    for (std::size_t first = 0; first < slices_; first += at_once)
      for (std::size_t round = 0; round < partners; ++round)
        for (auto slice = first; slice < std::min(first + at_once, slices_); ++slice)
          for (std::size_t from = 0; from < members_; ++from) {
            auto const to = (from + 1 + (slice - first + round) % partners) % members_;
            auto const column = runs_of(slice, to, 0, units_);
            send(from, to, 0, column, column, true);
          }
  }
  void gather_within(std::size_t slice, std::size_t round) {
    for (std::size_t from = 0; from < members_; ++from) {
      auto const column = runs_of(slice, from, 0, units_);
      send(from, (from + round) % members_, 0, column, column, false);
    }
  }
  void reduce_between(std::size_t slice, std::size_t member) {
    for (auto const& [radix, block, step] : digits_)
      for (std::size_t digit = 1; digit < radix; ++digit)
        send(member, member, digit * step, runs_of(slice, member, digit * block, block),
             runs_of(slice, member, 0, block), true);
  }
  void gather_between(std::size_t slice, std::size_t member) {
    for (auto at = digits_.rbegin(); at != digits_.rend(); ++at)
      for (std::size_t digit = 1; digit < at->radix; ++digit)
        send(member, member, digit * at->step, runs_of(slice, member, 0, at->block),
             runs_of(slice, member, (at->radix - digit) * at->block, at->block), false);
  }

  CollectiveOp op_;
  IntraGroupPattern within_;
  UnitGrid const& grid_;
  std::size_t units_, members_, slices_;
  std::vector<Digit> digits_;  // the nearest first
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

// In how many slices a recursive exchange is tried whose largest message, in one slice, has so many bytes.
std::vector<std::size_t> slice_counts(std::int64_t largest) {
  std::vector<std::size_t> counts{1};
  for (auto const slices : kCollectiveLimits.slices)
    if (largest / static_cast<std::int64_t>(slices) >= kCollectiveLimits.min_slice_chunk.value())
      counts.push_back(slices);
  return counts;
}

std::vector<SymmetricSchedule> all_reduces(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  for (auto const slices : slice_counts(collective.bytes.value() / static_cast<std::int64_t>(grid.members())))
    all.push_back(RecursiveExchange(collective, grid, slices).build());
  return all;
}

// On a mesh the reduce_scatters from all members at once too. An all_reduce gains nothing by that: of 1 GiB among 32
// servers of MI300X it takes 6.8 ms so, 6.3 where the first slice is through early.
std::vector<SymmetricSchedule> recursive_halves(Collective const& collective, UnitGrid const& grid) {
  std::vector<SymmetricSchedule> all;
  auto const add = [&](std::size_t slices, IntraGroupPattern within) {
    if (RecursiveExchange::transfers_within(grid, slices) <= kCollectiveLimits.max_refined_steps)
      all.push_back(RecursiveExchange(collective, grid, slices, within).build());
  };
  auto const counts = slice_counts(collective.bytes.value() / static_cast<std::int64_t>(grid.members() * grid.units()));
  for (auto const slices : counts) add(slices, IntraGroupPattern::InTurn);
  if (!grid.units_are_meshes() || collective.op != CollectiveOp::ReduceScatter) return all;
  for (auto const slices : counts)
    if (slices > 1) add(slices_at_once(slices, grid.members()), IntraGroupPattern::AllAtOnce);
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
  for (auto& schedule : recursive_halves(collective, grid)) all.push_back(std::move(schedule));
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
