// Algorithms in which every unit does the same, run symbolically as one unit sees them: what each chunk holds is a set
// of contributions, each named by the displacement and the place of the participant that it comes from.
#include "core/planner/collectives/folding/symmetric_algorithms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace lanewise {
namespace {

struct Shape {
  std::vector<std::size_t> radices;
  std::size_t members = 1;
  bool mesh = false;  // members have links of their own to each other
  friend std::ostream& operator<<(std::ostream& out, Shape const& shape) {
    for (auto const radix : shape.radices) out << radix << '.';
    return out << shape.members << (shape.mesh ? ".mesh" : "");
  }
};

UnitGrid grid_of(Shape const& shape) {
  auto const units = std::accumulate(shape.radices.begin(), shape.radices.end(), std::size_t{1}, std::multiplies<>{});
  std::vector<std::vector<std::size_t>> participants(units);
  for (std::size_t i = 0; i < units * shape.members; ++i) participants[i / shape.members].push_back(i);
  return shape.mesh ? UnitGrid::of_meshes(std::move(participants), shape.radices)
                    : UnitGrid::of(std::move(participants), shape.radices);
}

Collective collective_on(Shape const& shape, CollectiveOp op) {
  Collective collective;
  collective.op = op;
  collective.among.resize(grid_of(shape).units() * shape.members, Place(PciId(0)));
  collective.bytes = Bytes(std::int64_t{45} << 22);  // all shapes divide it
  return collective;
}

// A participant seen from a unit, and which chunk of its data.
struct Contribution {
  std::size_t displacement = 0, member = 0;
  std::size_t chunk = 0;  // as the contributor numbers it
  friend auto operator<=>(Contribution const&, Contribution const&) = default;
};
using Contributions = std::vector<Contribution>;

class SymbolicRun {
 public:
  // `units_per_chunk(chunk, displacement)`: the number that the unit at a displacement gives to a chunk.
  template <class Seen>
  SymbolicRun(SymmetricSchedule const& schedule, UnitGrid const& grid, std::size_t chunks, Bytes bytes, Seen seen)
      : schedule_(schedule), grid_(grid), chunks_(chunks), bytes_(bytes) {
    for (std::size_t m = 0; m < grid.members(); ++m)
      for (std::size_t c = 0; c < chunks; ++c) data_[{m, c}] = {{0, m, c}};
    for (std::size_t id = 0; id < schedule.transfers().size(); ++id) run(id, seen);
  }

  [[nodiscard]] Contributions data(std::size_t member, std::size_t chunk) const {
    return sorted(data_.at({member, chunk}));
  }
  [[nodiscard]] Contributions output(std::size_t member, std::size_t chunk) const {
    auto const found = output_.find({member, chunk});
    return found == output_.end() ? Contributions{} : sorted(found->second);
  }

 private:
  static Contributions sorted(Contributions all) {
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::size_t chunk_at(Bytes offset) const {
    return static_cast<std::size_t>(offset.value()) * chunks_ / static_cast<std::size_t>(bytes_.value());
  }
  template <class Seen>
  void run(std::size_t id, Seen seen) {
    auto const& transfer = schedule_.transfers()[id];
    for (auto const& dependency : transfer.after) ASSERT_LT(dependency.before, id);
    auto const count = chunk_at(transfer.bytes);
    auto const back = grid_.negative(transfer.displacement);
    std::vector<Contributions> sent;
    for (std::size_t k = 0; k < count; ++k) {
      auto const from = chunk_at(transfer.read_at) + k;
      auto const to = chunk_at(transfer.write_at) + k;
      if (transfer.writes == SymmetricSchedule::BufferRole::Data) {
        EXPECT_EQ(seen(from, transfer.displacement), to) << "transfer " << id;
      }
      auto contributions = data_.at({transfer.from, from});
      for (auto& one : contributions) one.displacement = grid_.plus(one.displacement, back);
      sent.push_back(std::move(contributions));
    }
    for (std::size_t k = 0; k < count; ++k) {
      auto const to = chunk_at(transfer.write_at) + k;
      auto& held = (transfer.writes == SymmetricSchedule::BufferRole::Data ? data_ : output_)[{transfer.to, to}];
      if (transfer.reduces)
        held.insert(held.end(), sent[k].begin(), sent[k].end());
      else
        held = std::move(sent[k]);
    }
  }

  SymmetricSchedule const& schedule_;
  UnitGrid const& grid_;
  std::size_t chunks_;
  Bytes bytes_;
  std::map<std::pair<std::size_t, std::size_t>, Contributions> data_, output_;  // by member and chunk
};

// The displacement that the number of a unit stands for where the nearest digit comes first, and back.
std::size_t displacement_of(UnitGrid const& grid, std::size_t number) {
  std::vector<std::size_t> digits;  // nearest first
  auto block = grid.units();
  for (auto radix = grid.radices().rbegin(); radix != grid.radices().rend(); ++radix) {
    block /= *radix;
    digits.push_back(number / block % *radix);
  }
  std::size_t displacement = 0;
  std::size_t step = 1;
  auto digit = digits.begin();
  for (auto radix = grid.radices().rbegin(); radix != grid.radices().rend(); ++radix) {
    displacement += *digit++ * step;
    step *= *radix;
  }
  return displacement;
}
std::size_t number_of(UnitGrid const& grid, std::size_t displacement) {
  for (std::size_t number = 0; number < grid.units(); ++number)
    if (displacement_of(grid, number) == displacement) return number;
  return grid.units();
}

class SymmetricAlgorithms : public testing::TestWithParam<Shape> {};

TEST_P(SymmetricAlgorithms, AllReduceSumsEverythingOnce) {
  auto const grid = grid_of(GetParam());
  auto const collective = collective_on(GetParam(), CollectiveOp::AllReduce);
  std::size_t slices = 1;
  for (auto const& schedule : symmetric_schedules(collective, grid)) {
    auto const chunks = grid.units() * grid.members() * slices;
    auto const seen = [&](std::size_t chunk, std::size_t displacement) {
      auto const column = chunk / grid.units() * grid.units();
      return column +
             number_of(grid, grid.plus(displacement_of(grid, chunk % grid.units()), grid.negative(displacement)));
    };
    SymbolicRun const run(schedule, grid, chunks, collective.bytes, seen);
    for (std::size_t m = 0; m < grid.members(); ++m)
      for (std::size_t c = 0; c < chunks; ++c) {
        Contributions all;
        for (std::size_t d = 0; d < grid.units(); ++d)
          for (std::size_t other = 0; other < grid.members(); ++other) all.push_back({d, other, seen(c, d)});
        ASSERT_EQ(run.data(m, c), all) << "member " << m << ", chunk " << c << " of " << slices << " slices";
      }
    slices *= 2;
  }
  EXPECT_GT(slices, 2U);
}

TEST_P(SymmetricAlgorithms, AllGatherAndReduceScatterReachEveryone) {
  auto const grid = grid_of(GetParam());
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter}) {
    auto const collective = collective_on(GetParam(), op);
    for (auto const& schedule : symmetric_schedules(collective, grid)) {
      // As many as any algorithm cuts the data into; those of one part have the same contributions.
      auto const pieces = 64 * (GetParam().mesh ? grid.members() - 1 : 1);
      auto const chunks = grid.units() * grid.members() * pieces;
      auto const per_unit = chunks / grid.units();
      auto const seen = [&](std::size_t chunk, std::size_t displacement) {
        return grid.plus(chunk / per_unit, grid.negative(displacement)) * per_unit + chunk % per_unit;
      };
      SymbolicRun const run(schedule, grid, chunks, collective.bytes, seen);
      for (std::size_t m = 0; m < grid.members(); ++m)
        for (std::size_t c = 0; c < chunks; ++c) {
          auto const owner = c % per_unit / (per_unit / grid.members());
          if (op == CollectiveOp::AllGather) {
            Contributions const of_owner{{c / per_unit, owner, seen(c, c / per_unit)}};
            ASSERT_EQ(run.data(m, c), of_owner);
          } else if (c / per_unit == 0 && owner == m) {
            Contributions all;
            for (std::size_t d = 0; d < grid.units(); ++d)
              for (std::size_t other = 0; other < grid.members(); ++other) all.push_back({d, other, seen(c, d)});
            ASSERT_EQ(run.data(m, c), all);
          }
        }
    }
  }
}

TEST_P(SymmetricAlgorithms, AllToAllSendsEveryPartStraight) {
  auto const grid = grid_of(GetParam());
  auto const collective = collective_on(GetParam(), CollectiveOp::AllToAll);
  auto const schedules = symmetric_schedules(collective, grid);
  ASSERT_EQ(schedules.size(), 1U);
  auto const parts = grid.units() * grid.members();
  EXPECT_EQ(schedules.front().transfers().size(), parts * grid.members());
  SymbolicRun const run(schedules.front(), grid, parts, collective.bytes, [](auto, auto) { return 0; });
  for (std::size_t m = 0; m < grid.members(); ++m)
    for (std::size_t d = 0; d < grid.units(); ++d)
      for (std::size_t other = 0; other < grid.members(); ++other) {
        // The part that the other sees as this unit's.
        Contributions const part{{d, other, grid.negative(d) * grid.members() + m}};
        ASSERT_EQ(run.output(m, d * grid.members() + other), part);
      }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SymmetricAlgorithms,
                         testing::Values(Shape{{2}, 1}, Shape{{2}, 2}, Shape{{3}, 2}, Shape{{2, 2}, 4},
                                         Shape{{2, 3}, 2}, Shape{{3, 2}, 3}, Shape{{2, 2, 2}, 8}, Shape{{5, 2}, 4},
                                         Shape{{2, 2, 3, 2}, 4}, Shape{{2, 2, 2, 2}, 2}, Shape{{2, 2}, 4, true},
                                         Shape{{3}, 6, true}));

TEST(UnitGrid, AddsDigitByDigit) {
  auto const grid = grid_of({{2, 3}, 1});  // positions 0 to 5: three below each of two switches
  EXPECT_EQ(grid.plus(2, 1), 0U);          // the next below the same switch
  EXPECT_EQ(grid.plus(2, 4), 3U);
  for (std::size_t d = 0; d < grid.units(); ++d) EXPECT_EQ(grid.plus(d, grid.negative(d)), 0U);
}

}  // namespace
}  // namespace lanewise
